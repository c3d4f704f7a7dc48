"""A room: a table that people watch and play at, in a thread of its own.

Commands are done in that thread; who listens is told there too, so a listener must hand things on and never wait.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ludus import replays
from ludus.studio.rooms import doing, keeping, telling, thinking
from ludus.studio.rooms.commands import checked
from ludus.studio.rooms.pace import Pace
from ludus.studio.rooms.players import PERSON, is_run
from ludus.studio.rooms.stage import Frame, Stage
from ludus.studio.rooms.table import Decided, Table
from ludus.studio.thoughts import Thoughts
from ludus.types import Array, Continuous, LudusError

DEFAULT_PACE, AFTERWARDS = 1.5, 1.0
"""moves a second; seconds between two games that agents play"""
TELLING, SHOWING, SAVING, LOOKING = 0.25, 1 / 60, 1.0, 1.0
"""seconds between two states of a live room, two frames, two files, two looks for a newer agent"""
SLOW, LATE = 0.05, 0.1
"""seconds of thinking that people are told of; seconds that a clock may be behind and still catch up"""
KEPT_SCORES, MOST_ASKED, PATIENCE = 20, 1000, 600.0
"""returns that are told, commands that wait at most, and seconds that others wait for a game to be compiled"""
LOG = logging.getLogger(__name__)


class Listener(Protocol):
    """Who watches a room; called in the room's thread."""

    def told(self, message: dict[str, Any]) -> None:
        """The state of the room, or an error in it."""

    def shown(self, frame: Frame) -> None:
        """The next picture."""


class Room:
    """One table with its clock, its picture and those who watch."""

    def __init__(self, identity: str, number: int, table: Table, path: Path | None = None,
                 kept: keeping.Kept | None = None) -> None:  # fmt: skip
        self.id, self.number, self.table, self._path, self._kept = identity, number, table, path, kept
        self.speed, self.paused, self.ghost, self.imagine = 1.0, False, False, False
        self.wheel, self.driven = "agent", False
        self.take_seats()
        self.holder: Listener | None = None
        self.games, self.scores = 0, deque[float](maxlen=KEPT_SCORES)
        self.opened, self.thinking, self.tick = False, True, 0
        self.failed: str | None = None
        self.result: str | None = None
        self.thoughts: Thoughts | None = None
        self.hint: dict[str, Any] | None = None
        self.unwatched_since = time.monotonic()
        self.plan: Decided | None = None
        self._pondered, self.slow, self._looked = False, True, dict[str, Any]()
        self.next_move = self._ended = self._last_told = self._last_shown = self._last_looked = 0.0
        self._tell_at: float | None = None
        self._save_at: float | None = None
        self._lock, self._listeners = threading.Lock(), list[Listener]()
        self.stage = Stage(number)
        self._told = telling.state_of(self)
        self._frame: Frame | None = None
        self._pace = Pace(self, f"room-{identity}")

    def start(self) -> None:
        """Open the game, in the room's own thread."""
        self._pace.start()

    # What others call, from any thread.

    def attach(self, listener: Listener) -> None:
        """Let somebody watch: the present state and picture come at once; who watches already gets them again."""
        with self._lock:
            if listener not in self._listeners:
                self._listeners.append(listener)
            listener.told(self._told)
            if self._frame:
                listener.shown(self._frame)
        self._pace.wake()

    def detach(self, listener: Listener) -> None:
        """Somebody left; the wheel is handed back if it was theirs."""
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)
            self.unwatched_since = time.monotonic()
        self._pace.ask(lambda: self._let_go(listener))

    @property
    def watched(self) -> bool:
        return bool(self._listeners)

    def command(self, message: dict[str, Any], who: Listener | None = None) -> Future[None]:
        """Have a command done; a sentence at once if it is malformed, and in the future if it cannot be done."""
        wanted = checked(message)
        do = wanted.pop("do")
        if self._pace.waiting() > MOST_ASKED:
            raise LudusError("the room is busy thinking; wait a moment")
        return self._pace.ask(lambda: self._do(do, wanted, who))

    def state(self) -> dict[str, Any]:
        """Everything but the picture, as it was last told."""
        return self._told

    def frame(self, whole: bool = True) -> bytes:
        """The newest picture as it is sent; before the game is open, one without shapes."""
        frame = self._frame or Stage(self.number).empty()
        return frame.whole if whole else frame.change

    def shapes(self) -> Array:
        """The newest picture as it is drawn: shapes, or the pixels of a foreign game."""
        return self.stage.shapes if self.opened else self._asked(lambda: self.stage.shapes)

    def replay(self) -> replays.Replay:
        """The game so far, as it can be kept."""
        return self._asked(lambda: self.table.draft(PERSON if self.driven else None))()

    def close(self) -> None:
        """End the room; what was played stays on disk."""
        self._pace.ask(self._save)
        self._pace.ask(self._pace.close)
        self._pace.join()
        self.table.close()

    def _asked(self, work: Callable[[], Any]) -> Any:
        def opened() -> Any:
            self._open_first()
            return work()

        try:
            return self._pace.ask(opened).result(timeout=PATIENCE)
        except (CancelledError, TimeoutError):
            raise LudusError("the room is closed or still busy; try again in a moment") from None

    # The room's own thread: the clock.

    def due(self) -> float | None:
        """When something is to be done next."""
        if not self.opened:
            return None if self.failed else 0.0
        times = [self._move_at(), self._tell_at, self._save_at]
        return min((at for at in times if at is not None), default=None)

    def _move_at(self) -> float | None:
        if self.failed or not self.watched:
            return None
        if self.table.over:
            alone = PERSON not in self.table.seats and not self.paused
            return self._ended + (AFTERWARDS if self.table.cars == 1 else 0) if alone else None
        if not self._pondered and not self.table.continuous:
            return 0.0
        return None if self.paused or self.table.waiting_for() is not None else self.next_move

    def turn(self) -> None:
        """Do what is due; whatever goes wrong ends the game here and is told in a sentence."""
        try:
            if self.opened:
                self._work(time.monotonic())
            else:
                self._open()
        except LudusError as error:
            self._fail(str(error))
        except Exception:
            LOG.exception("the room %s broke down", self.id)
            self._fail("this room broke down, which is a mistake in ludus or in the game; open another one")

    def _work(self, now: float) -> None:
        move_at = self._move_at()
        if move_at is not None and move_at <= now:
            self._move(now)
        if self._tell_at is not None and self._tell_at <= now:
            self.tell(urgent=True)
        if self._save_at is not None and self._save_at <= now:
            self._save()

    def _move(self, now: float) -> None:
        """Open the next game, think, or play."""
        self._look_for_newer(now)
        if self.table.over:
            self.open_next()
        elif self.table.continuous:
            self.drive()
        elif self.plan:
            self.play(self.plan)
        else:
            self.ponder()

    def _fail(self, sentence: str) -> None:
        self.failed, self.opened, self.thinking = sentence, False, False
        self._send({"kind": "error", "sentence": sentence, "room": self.id})
        self.tell(urgent=True)

    # The game.

    def _open(self) -> None:
        self.table.open()
        if self._kept and not self.table.continuous:
            self.table.restore(self._kept.actions, self._kept.persons, self._kept.history)
        if self._kept:
            self.games = self._kept.games
            self.scores.extend(self._kept.scores)
        self.opened, self.thinking = True, False
        if self.table.over:
            self.result = telling.result(self.table)
        self.settle(urgent=True)

    def open_next(self) -> None:
        """The next game on the same track."""
        self.table.open_next()
        self.begin()

    def begin(self) -> None:
        """A new game stands open."""
        self.result, self.driven = None, self.wheel == "person"
        self.stage.new_game()
        self.next_move = time.monotonic() + self.period()
        self.settle(urgent=True)

    def period(self) -> float:
        """Seconds between two steps."""
        return 1 / (float(getattr(self.table.game.rules, "PACE", DEFAULT_PACE)) * self.speed)

    def settle(self, urgent: bool = False) -> None:
        """After every change of the position: draw it, think of it if that is quick, and tell."""
        self.plan, self._pondered, self.thoughts, self.hint = None, False, None, None
        self._show(urgent)
        quick = self.watched and not self.slow and not self.table.continuous and not self.table.over
        if quick:
            self.ponder()
        else:
            self.tell(urgent)
        if self._path and not (self.table.continuous and self.table.moves):
            self._save_at = self._save_at or time.monotonic() + (SAVING if self.period() < SAVING / 4 else 0.0)

    def refresh(self) -> None:
        """After a change of anything but the position: what was thought of it still holds."""
        self._show(force=True)
        self.tell(urgent=True)

    def ponder(self) -> None:
        """Think of the position: of what is about to be played, and of what that is worth."""
        self._say_thinking()
        start = time.monotonic()
        self.thoughts = thinking.of(self.table)
        if self.table.waiting_for() is None:
            found = self.thoughts.action if self.thoughts else None
            self.plan = self.table.decide({} if found is None else {self.table.acting()[0]: found})
        if self.thoughts and self.thoughts.values:
            self.table.judge(self.thoughts.values[0])
        self._pondered, self.slow, self.thinking = True, time.monotonic() - start > SLOW, False
        self.tell()

    def _say_thinking(self) -> None:
        if self.slow:
            self.thinking = True
            self.tell(urgent=True)

    def drive(self) -> None:
        """One step of a continuous game: the agent acts in all rows, and in row 0 whoever has the wheel."""
        self._say_thinking()
        start = time.monotonic()
        decided = self.table.decide(wheel=self.steering if self.wheel == PERSON else None)
        self.slow, self.thinking = False, False
        if time.monotonic() - start > LATE:
            self.next_move = time.monotonic()
        self.play(decided)

    def play(self, decided: Decided) -> None:
        table = self.table
        table.play(decided.actions)
        self.tick += 1
        if table.continuous:
            value = np.asarray(decided.decisions[0].value)[0, 0] if 0 in decided.decisions else math.nan
            self.stage.measure(table, float(value), decided.actions[0])
        self.stage.notice(table, self.imagine)
        self.next_move = max(self.next_move + self.period(), time.monotonic() - LATE)
        if table.over:
            self._end()
        self.settle(urgent=table.over)

    def _end(self) -> None:
        table = self.table
        self.result, self._ended = telling.result(table), time.monotonic()
        self.games += 1
        self.scores.append(float(table.returns[(telling.persons(table) or [0])[0]]))
        if table.spec.zero_sum:
            table.judge(float(table.returns[0]))

    def _look_for_newer(self, now: float) -> None:
        """A run that goes on learning plays by its newest checkpoint."""
        if now < self._last_looked + LOOKING:
            return
        self._last_looked = now
        for name in filter(is_run, set(self.table.agent_names())):
            try:
                token = self.table.shelf.newer(name)
                if self._looked.setdefault(name, token) != token:
                    self._looked[name] = token
                    self.table.renew(name)
                    self.slow = True
            except LudusError:
                continue  # the run was deleted, or its checkpoint is just being replaced: the old agent plays on

    def _do(self, do: str, wanted: dict[str, Any], who: Listener | None) -> None:
        self._open_first()
        try:
            doing.DOING[do](self, who, **wanted)
        except LudusError:
            raise
        except Exception:
            LOG.exception("the room %s could not do %s", self.id, do)
            raise LudusError("that went wrong inside the room, which is a mistake in ludus; begin again") from None

    def _open_first(self) -> None:
        """Whatever is asked of a room before its game is open waits for that."""
        if not self.opened and not self.failed:
            self.turn()
        if self.failed:
            raise LudusError(self.failed)

    def take_seats(self) -> None:
        """In a game that is steered, a person in the seat has the wheel."""
        self.wheel = "person" if self.table.continuous and PERSON in self.table.seats else "agent"
        self.steering, self.holder = self.neutral(), None

    def neutral(self) -> Array:
        actions = self.table.spec.actions
        return (
            np.clip(np.zeros(len(actions.low)), actions.low, actions.high)
            if isinstance(actions, Continuous)
            else np.zeros(0)
        )

    def _let_go(self, listener: Listener) -> None:
        if self.holder is listener and PERSON not in self.table.seats:
            self.wheel, self.holder = "agent", None
            self.tell(urgent=True)

    # Telling.

    def _show(self, force: bool) -> None:
        """Draw, but no more often than anybody can see."""
        now = time.monotonic()
        if not force and self.period() < SHOWING and now < self._last_shown + 0.9 * SHOWING:
            return
        self._last_shown = now
        frame = self.stage.draw(self.table, self.tick, self.ghost, self.imagine)
        with self._lock:
            self._frame = frame
            for listener in self._listeners:
                listener.shown(frame)

    def tell(self, urgent: bool = False) -> None:
        """Tell the state; in a live room a few times a second, unless it is urgent."""
        now = time.monotonic()
        if not urgent and self.period() < TELLING and now < self._last_told + TELLING:
            self._tell_at = self._tell_at or self._last_told + TELLING
            return
        self._last_told, self._tell_at = now, None
        self._send(telling.state_of(self))

    def _send(self, message: dict[str, Any]) -> None:
        with self._lock:
            if message["kind"] == "room":
                self._told = message
            for listener in self._listeners:
                listener.told(message)

    def _save(self) -> None:
        self._save_at = None
        if not self._path or not self.opened:
            return
        try:
            keeping.write(self._path, self._worth_keeping())
        except (LudusError, OSError) as error:
            LOG.warning("the room %s cannot be kept: %s", self.id, error)

    def _worth_keeping(self) -> keeping.Kept:
        """A live room starts anew, so of it no actions are kept; nor of a game that is too long to be played again."""
        table = self.table
        played = not table.continuous and table.moves == len(table.actions)
        actions, persons, history = (table.actions, table.persons, table.history) if played else ([], [], [])
        return keeping.Kept(table.asked, table.seats, table.seed, table.cars, actions, persons, history,
                            self.games, list(self.scores))  # fmt: skip
