"""Rooms on disk: a game as its seed and its actions, in one small file for each room; read as a stranger's."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

from ludus.pictures import write_whole
from ludus.studio.rooms.table import MOST_STEPS
from ludus.types import LudusError

FORMAT = 1
IDENTITY = re.compile(r"[a-z]{10}", re.ASCII)
LARGEST, KEPT = 4 * 2**20, 200
"""bytes of a file that is read, and files that are kept"""


class Kept(NamedTuple):
    """What is written down of a room."""

    game: str
    seats: list[str]
    seed: int
    cars: int
    actions: list[Any]
    persons: list[int]
    history: list[float | None]
    games: int
    scores: list[float]


def path_of(folder: Path, identity: str) -> Path:
    """Where a room is kept; its name is looked at before it becomes part of a path."""
    if not IDENTITY.fullmatch(identity):
        raise LudusError(f"there is no room {identity[:40]!r}; open a new one")
    return folder / f"{identity}.json"


def write(path: Path, kept: Kept) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"format": FORMAT, **kept._asdict()}, allow_nan=False).encode())


def read(path: Path) -> Kept:
    """What was kept, or a sentence."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError
        facts = json.loads(path.read_bytes())
        if not isinstance(facts, dict) or facts.pop("format", None) != FORMAT or set(facts) != set(Kept._fields):
            raise ValueError
    except FileNotFoundError:
        raise LudusError(f"there is no room {path.stem!r}; open a new one") from None
    except (OSError, ValueError, RecursionError):
        raise LudusError(f'the room "{path.stem}" was kept in a file that is damaged; open a new one') from None
    return _checked(Kept(**facts), path)


def _checked(kept: Kept, path: Path) -> Kept:
    """The same, if all of it is what it should be; the rules of the game are asked when it is played again."""
    moves = len(kept.actions) if isinstance(kept.actions, list) else -1
    fine = (
        isinstance(kept.game, str), _list_of(kept.seats, str), type(kept.seed) is int, type(kept.cars) is int,
        0 <= moves <= MOST_STEPS, _list_of(kept.persons, int), _list_of(kept.scores, float, int),
        _list_of(kept.history, float, int, type(None)), type(kept.games) is int and kept.games >= 0,
    )  # fmt: skip
    if not all(fine) or not all(_is_action(one) for one in kept.actions) or len(kept.history) > MOST_STEPS:
        raise LudusError(f'the room "{path.stem}" was kept in a file that is damaged; open a new one')
    return kept


def _list_of(value: Any, *kinds: type) -> bool:
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        return False
    return all(type(one) in kinds and (type(one) is not float or math.isfinite(one)) for one in value)


def _is_action(value: Any) -> bool:
    return (type(value) is int and 0 <= value < 2**31) or (_list_of(value, int) and len(value) <= 64)


def prune(folder: Path) -> None:
    """Let the oldest files go."""
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in files[KEPT:]:
        old.unlink(missing_ok=True)
