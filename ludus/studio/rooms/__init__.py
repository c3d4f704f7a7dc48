"""Rooms: where games are watched and played. One kind of room serves all games, agents and people."""

from __future__ import annotations

import itertools
import secrets
import string
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ludus.studio.rooms import keeping
from ludus.studio.rooms.players import Shelf
from ludus.studio.rooms.room import Listener, Room
from ludus.studio.rooms.table import Table
from ludus.types import LudusError

MOST_ROOMS = 100
LETTERS_OF_A_NAME = 10
NUMBERS = 2**16


class Rooms:
    """All rooms of one studio: those that are open, and those that can be found again on disk."""

    def __init__(self, out: Path, shelf: Shelf) -> None:
        self.folder, self.shelf = out / ".studio" / "rooms", shelf
        self._open: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()

    def create(self, game: str, seats: Sequence[str], seed: int | None = None, cars: int = 1) -> Room:
        """A new room; its game opens in its own thread, as compiling may take a while."""
        table = Table(game, seats, secrets.randbelow(2**31) if seed is None else seed, cars, self.shelf)
        identity = "".join(secrets.choice(string.ascii_lowercase) for _ in range(LETTERS_OF_A_NAME))
        if self.folder.is_dir():
            keeping.prune(self.folder)
        # At once: the room may have to go, or the studio may be closed, before its game is open.
        blank = keeping.Kept(table.asked, list(table.seats), table.seed, table.cars, [], [], [], 0, [])
        with suppress(LudusError, OSError):  # on a full disk one can still play; the room's own tries tell of it
            keeping.write(keeping.path_of(self.folder, identity), blank)
        return self._enter(identity, table, None)

    def get(self, identity: str) -> Room:
        """The room of this name, also if another server opened it; it may take a moment, so not in an event loop."""
        if identity in self._open:
            return self._open[identity]
        kept = keeping.read(keeping.path_of(self.folder, identity))
        return self._enter(identity, Table(kept.game, kept.seats, kept.seed, kept.cars, self.shelf), kept)

    def _enter(self, identity: str, table: Table, kept: keeping.Kept | None) -> Room:
        """The new room, or the one of this name that somebody else has just opened."""
        with self._lock:
            if identity not in self._open:
                self._make_place()
                path = keeping.path_of(self.folder, identity)
                self._open[identity] = Room(identity, self._number(), table, path, kept)
                self._open[identity].start()
            return self._open[identity]

    def _make_place(self) -> None:
        """The room that nobody has watched for longest goes, if there are too many."""
        while len(self._open) >= MOST_ROOMS:
            unwatched = [room for room in self._open.values() if not room.watched]
            if not unwatched:
                raise LudusError(f"there are {MOST_ROOMS} rooms and all are watched; leave one of them first")
            oldest = min(unwatched, key=lambda room: room.unwatched_since)
            del self._open[oldest.id]
            # Not here: it may be deep in thought, and everybody else would wait for it.
            threading.Thread(target=oldest.close, name=f"close-{oldest.id}", daemon=True).start()

    def _number(self) -> int:
        """A number that no open room has."""
        taken = {room.number for room in self._open.values()}
        return next(number for one in self._numbers if (number := one % NUMBERS) not in taken)

    def close(self) -> None:
        """End all rooms; what was played in them stays on disk."""
        with self._lock:
            rooms = list(self._open.values())
            self._open.clear()
        for room in rooms:
            room.close()


__all__ = ["Listener", "Room", "Rooms"]
