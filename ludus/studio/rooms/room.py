"""A room: a table that people watch and play at, in a thread of its own. Its methods may be called from any thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import TypeVar

from ludus.evaluation import replays
from ludus.studio.rooms.audience import Audience, Listener
from ludus.studio.rooms.commands import COMMANDS
from ludus.studio.rooms.persistence import RoomFile, SavedRoom
from ludus.studio.rooms.players import PERSON
from ludus.studio.rooms.runner import Runner
from ludus.studio.rooms.schema import checked
from ludus.studio.rooms.stage import Stage
from ludus.studio.rooms.table import Table
from ludus.studio.rooms.worker import RoomThread
from ludus.types import Array, JsonObject, LudusError

MOST_WAITING, PATIENCE = 1000, 600.0
"""maximum number of waiting commands, and seconds to wait for a game to be compiled"""
Result = TypeVar("Result")
LOG = logging.getLogger(__name__)


class Room:
    """One table with its runner, its thread and its listeners."""

    def __init__(self, identity: str, number: int, table: Table, path: Path | None = None,
                 saved: SavedRoom | None = None) -> None:  # fmt: skip
        self.id, self.number, self.table, self.audience = identity, number, table, Audience()
        self.runner = Runner(identity, number, table, self.audience, RoomFile(path), saved)
        self._thread = RoomThread(self.runner, f"room-{identity}")

    def start(self) -> None:
        """Open the game, in the room's thread."""
        self._thread.start()

    def attach(self, listener: Listener) -> None:
        """Add a listener, which is sent the present state and frame at once, also if it listens already."""
        self.audience.add(listener)
        self._thread.wake()

    def detach(self, listener: Listener) -> None:
        """Remove a listener; if it had control of the game, the agent takes over."""
        self.audience.remove(listener)
        self._thread.submit(lambda: self._release(listener))

    @property
    def watched(self) -> bool:
        return self.audience.watched

    def command(self, message: JsonObject, listener: Listener | None = None) -> Future[None]:
        """Execute a command in the room's thread; a malformed one raises at once, other errors are in the future."""
        fields = checked(message)
        do = fields.pop("do")
        if self._thread.waiting() > MOST_WAITING:
            raise LudusError("the room is busy thinking; wait a moment")
        return self._thread.submit(lambda: self._execute(do, fields, listener))

    def state(self) -> JsonObject:
        """The state that was last sent; it has no picture."""
        return self.audience.state

    def frame(self, whole: bool = True) -> bytes:
        """The newest frame as it is sent; before the game is open, one without shapes."""
        frame = self.audience.frame or Stage(self.number).empty()
        return frame.whole if whole else frame.change

    def shapes(self) -> Array:
        """The newest picture: shapes, or the pixels of a game of another library."""
        stage = self.runner.stage
        drawn = self.runner.opened and len(stage.shapes)  # the first picture follows a moment after the opening
        return stage.shapes if drawn else self._in_thread(lambda: stage.shapes)

    def replay(self) -> replays.Replay:
        """A replay of the game so far."""
        takeover = self.runner.takeover
        return self._in_thread(lambda: self.table.draft(PERSON if takeover.used else None))()

    def close(self) -> None:
        """End the room; its file stays."""
        self._thread.submit(self.runner.save)
        self._thread.submit(self._thread.close)
        self._thread.join()
        self.table.close()

    def _in_thread(self, work: Callable[[], Result]) -> Result:
        """The result of work in the room's thread, after the game is open."""

        def opened() -> Result:
            self.runner.require_open()
            return work()

        try:
            return self._thread.submit(opened).result(timeout=PATIENCE)
        except (CancelledError, TimeoutError):
            raise LudusError("the room is closed or still busy; try again in a moment") from None

    def _execute(self, do: str, fields: JsonObject, listener: Listener | None) -> None:
        self.runner.require_open()
        try:
            COMMANDS[do](self.runner, listener, **fields)
        except LudusError:
            raise
        except Exception:
            LOG.exception("the room %s failed at %s", self.id, do)
            raise LudusError("the command failed because of a bug in ludus; start a new game") from None

    def _release(self, listener: Listener) -> None:
        if self.runner.takeover.release(listener):
            self.runner.send_state(urgent=True)
