"""Rooms, where games are watched and played. One kind of room serves all games, agents and people."""

from __future__ import annotations

import itertools
import secrets
import string
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ludus.studio.rooms import persistence
from ludus.studio.rooms.audience import Listener
from ludus.studio.rooms.players import Shelf
from ludus.studio.rooms.room import Room
from ludus.studio.rooms.table import Table
from ludus.types import LudusError

MOST_ROOMS = 100
LETTERS_OF_A_NAME = 10
NUMBERS = 2**16


class Rooms:
    """All rooms of one studio: those that are open, and those saved on disk."""

    def __init__(self, out: Path, shelf: Shelf) -> None:
        self.folder, self.shelf = out / ".studio" / "rooms", shelf
        self._open: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()

    def create(self, game: str, seats: Sequence[str], seed: int | None = None, swarm: int = 1) -> Room:
        """A new room; its game is opened in the room's thread, as compiling may take a while."""
        table = Table(game, seats, secrets.randbelow(2**31) if seed is None else seed, swarm, self.shelf)
        identity = "".join(secrets.choice(string.ascii_lowercase) for _ in range(LETTERS_OF_A_NAME))
        if self.folder.is_dir():
            persistence.prune(self.folder)
        # Saved at once: the room or the studio may be closed before its game is open.
        blank = persistence.SavedRoom(table.full_name, list(table.seats), table.seed, table.swarm, [], [], [], 0, [])
        with suppress(LudusError, OSError):  # on a full disk one can still play; the room logs it
            persistence.write(persistence.path_of(self.folder, identity), blank)
        return self._enter(identity, table, None)

    def get(self, identity: str) -> Room:
        """The room of this name, restored from its file if need be; this may block, so not in an event loop."""
        if identity in self._open:
            return self._open[identity]
        saved = persistence.read(persistence.path_of(self.folder, identity))
        return self._enter(identity, Table(saved.game, saved.seats, saved.seed, saved.swarm, self.shelf), saved)

    def _enter(self, identity: str, table: Table, saved: persistence.SavedRoom | None) -> Room:
        """The new room, or the one of this name that another thread has just opened."""
        with self._lock:
            if identity not in self._open:
                self._make_place()
                path = persistence.path_of(self.folder, identity)
                self._open[identity] = Room(identity, self._number(), table, path, saved)
                self._open[identity].start()
            return self._open[identity]

    def _make_place(self) -> None:
        """If there are too many rooms, close the one that has been unwatched for longest."""
        while len(self._open) >= MOST_ROOMS:
            unwatched = [room for room in self._open.values() if not room.watched]
            if not unwatched:
                raise LudusError(f"there are {MOST_ROOMS} rooms and all are watched; leave one of them first")
            oldest = min(unwatched, key=lambda room: room.audience.unwatched_since)
            del self._open[oldest.id]
            # In another thread, because its agent may think for long and all others would wait.
            threading.Thread(target=oldest.close, name=f"close-{oldest.id}", daemon=True).start()

    def _number(self) -> int:
        """A number that no open room has."""
        taken = {room.number for room in self._open.values()}
        return next(number for one in self._numbers if (number := one % NUMBERS) not in taken)

    def close(self) -> None:
        """Close all rooms; their files stay."""
        with self._lock:
            rooms = list(self._open.values())
            self._open.clear()
        for room in rooms:
            room.close()


__all__ = ["Listener", "Room", "Rooms"]
