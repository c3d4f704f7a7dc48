"""The runner of a room: plays the game at its table step by step. Everything here happens in the room's thread."""

from __future__ import annotations

import logging
import math
import time
from contextlib import AbstractContextManager

import numpy as np

from ludus.dsl.cache import interpreted
from ludus.studio.rooms import messages, scoreboard
from ludus.studio.rooms.audience import Audience, RateLimit
from ludus.studio.rooms.controls import Takeover
from ludus.studio.rooms.deliberation import Deliberation
from ludus.studio.rooms.persistence import INTERVAL, RoomFile, SavedRoom
from ludus.studio.rooms.players import PERSON
from ludus.studio.rooms.schedule import LATE, Schedule, Settings
from ludus.studio.rooms.stage import Stage
from ludus.studio.rooms.table import Decided, Table
from ludus.studio.rooms.updates import AgentUpdates
from ludus.types import LudusError

BETWEEN_GAMES = 1.0
"""seconds between two games that agents play"""
PREPARATION_INTERVAL = 0.5
"""seconds between two reports on the compiler"""
UNWATCHED = 10.0
"""seconds after which a room that nobody watches ends its compiler"""
STATE_INTERVAL, FRAME_INTERVAL = 0.25, 1 / 60
"""seconds between two states and two frames of a room that moves fast"""
LOG = logging.getLogger(__name__)


class Runner:
    """Opens the game, decides when the next step is due, makes it, and sends states and frames."""

    def __init__(self, identity: str, number: int, table: Table, audience: Audience, file: RoomFile,
                 saved: SavedRoom | None) -> None:  # fmt: skip
        self.id, self.number, self.table, self.audience, self.file = identity, number, table, audience, file
        self._saved = saved
        self.settings, self.scores, self.stage = Settings(), scoreboard.Scoreboard(), Stage(number)
        self.schedule, self.takeover = Schedule(table, self.settings), Takeover(table)
        self.deliberation, self._updates = Deliberation(table), AgentUpdates(table)
        self._states, self._frames = RateLimit(STATE_INTERVAL), RateLimit(0.9 * FRAME_INTERVAL)
        self.opened, self.tick = False, 0
        self._prepared_at = 0.0
        """when to look again whether the game is compiled"""
        self.failed: str | None = None
        audience.state = messages.state_of(self)

    # The clock.

    def due(self) -> float | None:
        """When the next work is due, by `time.monotonic`; None if nothing is due before the next command."""
        if not self.opened:
            return None if self.failed else 0.0
        preparing = self._prepared_at if self.table.interpreted else None
        times = [self._step_at(), self._states.due, self.file.due, preparing]
        return min((at for at in times if at is not None), default=None)

    def _step_at(self) -> float | None:
        if self.failed or not self.audience.watched:
            return None
        if set(self.table.acting()) & set(self.table.unprepared()):
            return None
        if self.table.over:
            alone = PERSON not in self.table.seats and not self.settings.paused
            return self.scores.ended_at + (BETWEEN_GAMES if self.table.swarm == 1 else 0) if alone else None
        if not self.deliberation.done and not self.table.continuous:
            return 0.0
        waits = self.settings.paused or self.table.waiting_for() is not None
        return None if waits else self.schedule.next_step

    def mode(self) -> AbstractContextManager[None]:
        """Interpret the rules until the game is compiled."""
        return interpreted(self.table.interpreted)

    def turn(self) -> None:
        """Do what is due; an error ends the game and is sent to the listeners."""
        try:
            if self.opened:
                self._work(time.monotonic())
            else:
                self._open()
        except LudusError as error:
            self._fail(str(error))
        except Exception:
            LOG.exception("the room %s failed", self.id)
            self._fail("this room failed because of a bug in ludus or in the game; open another one")

    def _work(self, now: float) -> None:
        if self.table.interpreted and self._prepared_at <= now:
            self._follow_preparation(now)
        step_at = self._step_at()
        if step_at is not None and step_at <= now:
            self._step(now)
        if self._states.due is not None and self._states.due <= now:
            self.send_state(urgent=True)
        if self.file.due is not None and self.file.due <= now:
            self.save()

    def _follow_preparation(self, now: float) -> None:
        """Show the progress of the compiler, which runs while somebody watches; then use the compiled rules."""
        self._prepared_at = now + PREPARATION_INTERVAL
        table = self.table
        if table.preparation is not None and not table.preparation.running:
            table.end_preparation()
        elif self.audience.watched:
            table.prepare()
        elif now - self.audience.unwatched_since > UNWATCHED:
            table.release()
        with self.mode():
            table.seat_waiting()
        self.send_state()

    def _step(self, now: float) -> None:
        """Open the next game, think, or play."""
        if self._updates.apply(now):
            self.deliberation.slow = True
        if self.table.over:
            self.open_next()
        elif self.table.continuous:
            self.advance()
        elif self.deliberation.plan:
            self.play(self.deliberation.plan)
        else:
            self.think()

    def _fail(self, sentence: str) -> None:
        self.failed, self.opened, self.deliberation.busy = sentence, False, False
        self.audience.send({"kind": "error", "sentence": sentence, "room": self.id})
        self.send_state(urgent=True)

    # The game.

    def require_open(self) -> None:
        """Open the game if it is not yet; an error if that fails or failed."""
        if not self.opened and not self.failed:
            self.turn()
        if self.failed:
            raise LudusError(self.failed)

    def _open(self) -> None:
        self.table.prepare()
        with self.mode():
            self._open_table()

    def _open_table(self) -> None:
        self.table.open()
        if self._saved and not self.table.continuous:
            self.table.restore(self._saved.actions, self._saved.persons, self._saved.history)
        if self._saved:
            self.scores.restore(self._saved.games, self._saved.scores)
        self.opened, self.deliberation.busy = True, False
        if self.table.over:
            self.scores.result = scoreboard.result(self.table)
        self.settle(urgent=True)

    def open_next(self) -> None:
        """The next game on the same layout."""
        self.table.open_next()
        self.begin()

    def begin(self) -> None:
        """A new game was opened."""
        self.scores.result = None
        self.takeover.begin()
        self.stage.new_game()
        self.schedule.restart()
        self.settle(urgent=True)

    def think(self) -> None:
        """Think about the position; unless a person has to choose, this also makes a plan."""
        self._announce_thinking()
        self.deliberation.think()
        self.send_state()

    def plan(self) -> Decided:
        """The actions to be played next when no person has to choose."""
        if self.deliberation.plan is None:
            self.think()
        assert self.deliberation.plan
        return self.deliberation.plan

    def _announce_thinking(self) -> None:
        if self.deliberation.slow:
            self.deliberation.busy = True
            self.send_state(urgent=True)

    def advance(self) -> None:
        """One step of a continuous game: the agent acts in all rows, and a person in control in row 0."""
        self._announce_thinking()
        start = time.monotonic()
        decided = self.table.decide(override=self.takeover.action)
        self.deliberation.slow, self.deliberation.busy = False, False
        if time.monotonic() - start > LATE:
            self.schedule.skip()
        self.play(decided)

    def play(self, decided: Decided) -> None:
        """Make a step."""
        table = self.table
        table.play(decided.actions)
        self.tick += 1
        value = np.asarray(decided.decisions[0].value)[0, 0] if 0 in decided.decisions else math.nan
        self.stage.measure(table, float(value), np.atleast_1d(decided.actions[0]))
        self.stage.notice(table, self.settings.imagine)
        self.schedule.advance()
        if table.over:
            self._end()
        self.settle(urgent=table.over)

    def _end(self) -> None:
        self.scores.add(self.table)
        if self.table.spec.zero_sum:
            self.table.judge(float(self.table.returns[0]))

    # What is sent and saved.

    def settle(self, urgent: bool = False) -> None:
        """After every change of the position: draw it, think about it if that is quick, send it, and save it."""
        self.deliberation.clear()
        self._show(urgent)
        live = self.table.continuous
        if self.audience.watched and not self.deliberation.slow and not live and not self.table.over:
            self.think()
        else:
            self.send_state(urgent)
        if not (live and self.table.moves):
            self.file.schedule(fast=self.schedule.period() < INTERVAL / 4)

    def refresh(self) -> None:
        """After a change of anything but the position: thoughts and plan stay valid."""
        self._show(urgent=True)
        self.send_state(urgent=True)

    def _show(self, urgent: bool) -> None:
        """Draw a frame, at most 60 per second."""
        if self._frames.passes(urgent or self.schedule.period() >= FRAME_INTERVAL):
            settings = self.settings
            self.audience.show(self.stage.draw(self.table, self.tick, settings.ghost, settings.imagine))

    def send_state(self, urgent: bool = False) -> None:
        """Send the state; if not urgent, a fast room sends it at most four times per second."""
        if self._states.passes(urgent or self.schedule.period() >= STATE_INTERVAL):
            self.audience.send(messages.state_of(self))

    def save(self) -> None:
        """Write the room to its file, if its game is open."""
        if self.opened:
            self.file.save(self._saved_room())
        self.file.due = None

    def _saved_room(self) -> SavedRoom:
        """Continuous games, and games too long to be played again, are saved without their actions."""
        table, scores = self.table, self.scores
        played = not table.continuous and table.moves == len(table.actions)
        actions, persons, history = (table.actions, table.persons, table.history) if played else ([], [], [])
        return SavedRoom(table.full_name, table.seats, table.seed, table.swarm, actions, persons, history,
                         scores.games, list(scores.returns))  # fmt: skip
