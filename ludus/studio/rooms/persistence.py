"""Rooms on disk: a game as its seed and its actions, in one small file per room, checked like any other input."""

from __future__ import annotations

import json
import logging
import math
import re
import time
from pathlib import Path
from typing import NamedTuple

from ludus.files import write_atomically
from ludus.studio.rooms.table import MOST_STEPS, Action
from ludus.types import LudusError

FORMAT = 2
IDENTITY = re.compile(r"[a-z]{10}", re.ASCII)
LARGEST, KEPT = 4 * 2**20, 200
"""maximum bytes of a file that is read, and number of files that are kept"""
INTERVAL = 1.0
"""seconds between two writes of a room that moves fast"""
DAMAGED = 'the file of the room "{}" is damaged or from another version of ludus; open a new room'
LOG = logging.getLogger(__name__)


class SavedRoom(NamedTuple):
    """The saved state of a room."""

    game: str
    seats: list[str]
    seed: int
    swarm: int
    actions: list[Action]
    persons: list[int]
    history: list[float | None]
    games: int
    scores: list[float]


class RoomFile:
    """The file of one room, and when it is to be written; a room without a path is not saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.due: float | None = None
        """when to write, by `time.monotonic`"""

    def schedule(self, fast: bool) -> None:
        """Schedule a write: at once, or after an interval in a fast room."""
        if self._path:
            self.due = self.due or time.monotonic() + (INTERVAL if fast else 0.0)

    def save(self, saved: SavedRoom) -> None:
        """Write now; on an error, such as a full disk, log it and continue."""
        self.due = None
        if not self._path:
            return
        try:
            write(self._path, saved)
        except (LudusError, OSError) as error:
            LOG.warning("cannot save the room %s: %s", self._path.stem, error)


def path_of(folder: Path, identity: str) -> Path:
    """The file of a room; its name is checked before it becomes part of a path."""
    if not IDENTITY.fullmatch(identity):
        raise LudusError(f"there is no room {identity[:40]!r}; open a new one")
    return folder / f"{identity}.json"


def write(path: Path, saved: SavedRoom) -> None:
    """Write the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps({"format": FORMAT, **saved._asdict()}, allow_nan=False).encode())


def read(path: Path) -> SavedRoom:
    """The saved room; an error if the file is missing, damaged or of another format."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError
        facts = json.loads(path.read_bytes())
        if not isinstance(facts, dict) or facts.pop("format", None) != FORMAT or set(facts) != set(SavedRoom._fields):
            raise ValueError
    except FileNotFoundError:
        raise LudusError(f"there is no room {path.stem!r}; open a new one") from None
    except (OSError, ValueError, RecursionError):
        raise LudusError(DAMAGED.format(path.stem)) from None
    return _checked(SavedRoom(**facts), path)


def _checked(saved: SavedRoom, path: Path) -> SavedRoom:
    """The same room, if all fields have the right types; its actions are checked when they are played again."""
    moves = len(saved.actions) if isinstance(saved.actions, list) else -1
    fine = (
        isinstance(saved.game, str), _list_of(saved.seats, str), type(saved.seed) is int, type(saved.swarm) is int,
        0 <= moves <= MOST_STEPS, _list_of(saved.persons, int), _list_of(saved.scores, float, int),
        _list_of(saved.history, float, int, type(None)), type(saved.games) is int and saved.games >= 0,
    )  # fmt: skip
    if not all(fine) or not all(_is_action(one) for one in saved.actions) or len(saved.history) > MOST_STEPS:
        raise LudusError(DAMAGED.format(path.stem))
    return saved


def _list_of(value: object, *kinds: type) -> bool:
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        return False
    return all(type(one) in kinds and (type(one) is not float or math.isfinite(one)) for one in value)


def _is_action(value: object) -> bool:
    return (type(value) is int and 0 <= value < 2**31) or (
        isinstance(value, list) and len(value) <= 64 and _list_of(value, int)
    )


def prune(folder: Path) -> None:
    """Delete the oldest files."""
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in files[KEPT:]:
        old.unlink(missing_ok=True)
