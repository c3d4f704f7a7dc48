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
from ludus.studio.rooms import keeping, telling
from ludus.studio.rooms.commands import checked
from ludus.studio.rooms.pace import Pace
from ludus.studio.rooms.players import PERSON, Player, best_adviser, is_run, strength
from ludus.studio.rooms.stage import Frame, Stage
from ludus.studio.rooms.table import Decided, Table
from ludus.studio.thoughts import Thoughts, can_tell, think
from ludus.types import Array, Continuous, LudusError

DEFAULT_PACE, REPLY, AFTERWARDS = 1.5, 0.4, 1.0
"""moves a second; seconds until an agent answers a person; seconds between two games that agents play"""
TELLING, SHOWING, SAVING, LOOKING = 0.25, 1 / 60, 1.0, 1.0
"""seconds between two states of a live room, two frames, two files, two looks for a newer agent"""
SLOW, LATE = 0.05, 0.1
"""seconds of thinking that people are told of; seconds that a clock may be behind and still catch up"""
KEPT_SCORES, MOST_ASKED = 20, 1000
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
        self._take_seats()
        self.holder: Listener | None = None
        self.games, self.scores = 0, deque[float](maxlen=KEPT_SCORES)
        self.opened, self.thinking, self.tick = False, True, 0
        self.failed: str | None = None
        self.result: str | None = None
        self.thoughts: Thoughts | None = None
        self.hint: dict[str, Any] | None = None
        self.unwatched_since = time.monotonic()
        self._plan: Decided | None = None
        self._pondered, self._slow, self._looked = False, True, dict[str, Any]()
        self._next = self._ended = self._last_told = self._last_shown = self._last_looked = 0.0
        self._tell_at: float | None = None
        self._save_at: float | None = None
        self._lock, self._listeners = threading.Lock(), list[Listener]()
        self._stage = Stage(number)
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
        return self._stage.shapes

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
        try:
            return self._pace.ask(work).result(timeout=60)
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
        return None if self.paused or self.table.waiting_for() is not None else self._next

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
            self._tell(urgent=True)
        if self._save_at is not None and self._save_at <= now:
            self._save()

    def _move(self, now: float) -> None:
        """Open the next game, think, or play."""
        self._look_for_newer(now)
        if self.table.over:
            self.table.open_next()
            self._begin()
        elif self.table.continuous or self._plan is None:
            self._ponder() if not self.table.continuous else self._drive()
        else:
            self._play(self._plan)

    def _fail(self, sentence: str) -> None:
        self.failed, self.opened, self.thinking = sentence, False, False
        self._send({"kind": "error", "sentence": sentence, "room": self.id})
        self._tell(urgent=True)

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
        self._settle(urgent=True)

    def _begin(self) -> None:
        """A new game stands open."""
        self.result, self.driven = None, self.wheel == "person"
        self._stage.new_game()
        self._next = time.monotonic() + self._period()
        self._settle(urgent=True)

    def _period(self) -> float:
        """Seconds between two steps."""
        return 1 / (float(getattr(self.table.game.rules, "PACE", DEFAULT_PACE)) * self.speed)

    def _settle(self, urgent: bool = False) -> None:
        """After every change of the position: draw it, think of it if that is quick, and tell."""
        self._plan, self._pondered, self.thoughts, self.hint = None, False, None, None
        self._show()
        quick = self.watched and not self._slow and not self.table.continuous and not self.table.over
        if quick:
            self._ponder()
        else:
            self._tell(urgent)
        if self._path and not (self.table.continuous and self.table.moves):
            self._save_at = self._save_at or time.monotonic() + (SAVING if self._period() < SAVING / 4 else 0.0)

    def _ponder(self) -> None:
        """Think of the position: of what is about to be played, and of what that is worth."""
        self._say_thinking()
        start = time.monotonic()
        self.thoughts = self._think()
        if self.table.waiting_for() is None:
            seat = self.table.acting()[0]
            known = self.thoughts is not None and self.thoughts.action is not None
            self._plan = self.table.decide({seat: self.thoughts.action} if known and self.thoughts else None)  # type: ignore[dict-item]
        if self.thoughts and self.thoughts.values and self.table.history:
            self.table.history[-1] = round(self.thoughts.values[0], 4)
        self._pondered, self._slow, self.thinking = True, time.monotonic() - start > SLOW, False
        self._tell()

    def _say_thinking(self) -> None:
        if self._slow:
            self.thinking = True
            self._tell(urgent=True)

    def _think(self) -> Thoughts | None:
        found = self._thinker()
        return think(found[0], self.table.pool, found[1]) if found else None

    def _thinker(self) -> tuple[Player, int] | None:
        """Who thinks aloud, and of which row: the agent to act; for a person the strongest who can say something."""
        table, waiting = self.table, self.table.waiting_for()
        if waiting is None:
            seat = table.acting()[0]
            return table.players[seat], table.row_of(seat)
        others = [player for player in table.players.values() if can_tell(player, table.pool)]
        best = max(others, key=lambda player: strength(player.name), default=None)
        # A perfect player costs nothing to ask; another adviser thinks only after it was asked for a hint.
        if best is None and (table.adviser or best_adviser(table.pool) == "perfect"):
            best = table.advise()
        return (best, table.row_of(waiting)) if best else None

    def _drive(self) -> None:
        """One step of a continuous game: the agent acts in all rows, and in row 0 whoever has the wheel."""
        self._say_thinking()
        start = time.monotonic()
        steering = self._steering if self.wheel == "person" else None
        decided = self.table.decide(wheel=steering)
        self._slow, self.thinking = False, False
        if time.monotonic() - start > LATE:
            self._next = time.monotonic()
        self._play(decided)

    def _play(self, decided: Decided) -> None:
        table = self.table
        table.play(decided.actions)
        self.tick += 1
        if table.continuous:
            value = np.asarray(decided.decisions[0].value)[0, 0] if 0 in decided.decisions else math.nan
            self._stage.measure(table, float(value), decided.actions[0])
        self._stage.notice(table, self.imagine)
        self._next = max(self._next + self._period(), time.monotonic() - LATE)
        if table.over:
            self._end()
        self._settle(urgent=table.over)

    def _end(self) -> None:
        table = self.table
        self.result, self._ended = telling.result(table), time.monotonic()
        self.games += 1
        self.scores.append(float(table.returns[(telling.persons(table) or [0])[0]]))
        if table.history and table.spec.zero_sum:
            table.history[-1] = float(table.returns[0])

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
                    self._slow = True
            except LudusError:
                continue  # the run was deleted, or its checkpoint is just being replaced: the old agent plays on

    # Commands.

    def _do(self, do: str, wanted: dict[str, Any], who: Listener | None) -> None:
        if not self.opened:
            raise LudusError(self.failed or "the game is not open yet; wait a moment")
        getattr(self, f"_do_{do}")(who=who, **wanted)

    def _do_act(self, who: Listener | None, action: int, move: int) -> None:
        if self.table.continuous:
            raise LudusError("this game is steered and not played move by move; take the wheel")
        if move != self.table.moves:
            raise LudusError(f"that move was chosen at move {move}, and the game is at move {self.table.moves}")
        if self.table.pick(action):
            self._next = time.monotonic() + min(self._period(), REPLY) - self._period()
            self._play(self.table.decide())
        else:
            self._settle(urgent=True)

    def _do_undo(self, who: Listener | None) -> None:
        over = self.table.over
        self.table.undo()
        if over:
            self.games, self.result = self.games - 1, None
            self.scores.pop()
        self._settle(urgent=True)

    def _do_hint(self, who: Listener | None) -> None:
        self.thinking = True
        self._tell(urgent=True)
        try:
            action = self.table.hint()
        finally:
            self.thinking = False
            self._tell(urgent=True)
        self.hint = {"action": action, "name": self.table.pool.action_name(action)}
        self._tell(urgent=True)

    def _do_again(self, who: Listener | None, seed: int | None = None) -> None:
        self.table.open(int(np.random.default_rng().integers(2**31)) if seed is None else seed)
        if self.table.drawn_track or seed is not None:
            self._stage.new_road()
        self._slow = True
        self._begin()

    def _do_set(self, who: Listener | None, **settings: Any) -> None:
        if "seats" in settings:
            self.table.set_seats(settings["seats"])
            self._take_seats()
        if "cars" in settings:
            self.table.set_cars(settings["cars"])
        for name in {"speed", "paused", "ghost", "imagine"} & set(settings):
            setattr(self, name, settings[name])
        self._next = time.monotonic() + self._period()
        self._slow = self._slow or bool({"seats", "cars"} & set(settings))
        self._settle(urgent=True)

    def _do_tick(self, who: Listener | None) -> None:
        if not self.paused:
            raise LudusError("step by step goes only while the room is paused; pause it first")
        if self.table.waiting_for() is not None:
            raise LudusError("it is a person's turn; choose a move")
        if self.table.over:
            self.table.open_next()
            self._begin()
        elif self.table.continuous:
            self._drive()
        else:
            if self._plan is None:
                self._ponder()
            assert self._plan
            self._play(self._plan)

    def _do_wheel(self, who: Listener | None, hands: str) -> None:
        if not self.table.continuous:
            raise LudusError("this game has no wheel; choose a move instead")
        self.wheel, self.holder = hands, who if hands == "person" else None
        self.driven = self.driven or hands == "person"
        self._steering = self._neutral()
        self._tell(urgent=True)

    def _do_steer(self, who: Listener | None, action: list[float]) -> None:
        if self.wheel != "person":
            raise LudusError("the agent has the wheel; take it first")
        actions = self.table.spec.actions
        assert isinstance(actions, Continuous)
        if len(action) != len(actions.low):
            raise LudusError(f"steering is {len(actions.low)} numbers, not {len(action)}")
        self._steering = np.clip(np.array(action, np.float64), actions.low, actions.high)

    def _take_seats(self) -> None:
        """In a game that is steered, a person in the seat has the wheel."""
        self.wheel = "person" if self.table.continuous and PERSON in self.table.seats else "agent"
        self._steering, self.holder = self._neutral(), None

    def _neutral(self) -> Array:
        actions = self.table.spec.actions
        return (
            np.clip(np.zeros(len(actions.low)), actions.low, actions.high)
            if isinstance(actions, Continuous)
            else np.zeros(0)
        )

    def _let_go(self, listener: Listener) -> None:
        if self.holder is listener and PERSON not in self.table.seats:
            self.wheel, self.holder = "agent", None
            self._tell(urgent=True)

    # Telling.

    def _show(self) -> None:
        """Draw, but never more often than anybody can see."""
        now = time.monotonic()
        if self._frame and now < self._last_shown + SHOWING * 0.9 and self._period() < SHOWING and not self.table.over:
            return
        self._last_shown = now
        frame = self._stage.draw(self.table, self.tick, self.ghost, self.imagine)
        with self._lock:
            self._frame = frame
            for listener in self._listeners:
                listener.shown(frame)

    def _tell(self, urgent: bool = False) -> None:
        """Tell the state; in a live room a few times a second, unless it is urgent."""
        now = time.monotonic()
        if not urgent and self._period() < TELLING and now < self._last_told + TELLING:
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
        if self._path and self.opened:
            keeping.write(self._path, self._worth_keeping())

    def _worth_keeping(self) -> keeping.Kept:
        """A live room starts anew, so of it no actions are kept; nor of a game that is too long to be played again."""
        table = self.table
        played = not table.continuous and table.moves == len(table.actions)
        actions, persons, history = (table.actions, table.persons, table.history) if played else ([], [], [])
        return keeping.Kept(table.asked, table.seats, table.seed, table.cars, actions, persons, history,
                            self.games, list(self.scores))  # fmt: skip
