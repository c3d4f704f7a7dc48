"""The worker of the list and NumPy forms: the pool steps the games, and Python does the rest.

It gives the same table as the compiled worker, byte for byte, for the same seed and settings.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ludus.agents.table import Positions, Table, positions_of
from ludus.algorithms import schedules
from ludus.algorithms import tally as tallies
from ludus.algorithms.protocol import Desk
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.checkpoints import Replica, check_discrete, own_table, rates
from ludus.algorithms.tabular.forms.plain import BITS
from ludus.algorithms.tabular.forms.turns import TURNS, CurrentRates, Desks, Moves
from ludus.algorithms.tabular.worker import LEARNER
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.dsl import OVER, PLAYING, random
from ludus.types import Array, Discrete, LudusError, Spec, Step

SAVED = ("places", "actions", "pending", "seats", "lengths", "gained")

Ended = tuple[Array, Array]
"""returns [n, P] and lengths [n] of games that ended"""


class FormWorker:
    """Plays rows of one game and updates a table in the form `algorithm.form`."""

    def __init__(self, pool: AnyPool, algorithm: Tabular, desk: Desk) -> None:
        self.positions: Positions = checked_positions(pool, algorithm.form)
        self.pool, self.algorithm, self.rows, self.spec = pool, algorithm, pool.rows, pool.spec
        self.opposed = pool.spec.seats == 2
        self.learning_rate, self.exploration = map(schedules.parse, (algorithm.learning_rate, algorithm.exploration))
        self.time, self.stride = 0, float(pool.rows * desk.workers)
        self.dice = int(random.keys(desk.seed ^ LEARNER, desk.number + 1)[desk.number])
        self.desk, self.version = desk, 0
        self.table: Table | None = None
        self.observations, self.codes = self.positions.new_observations(self.rows)
        self.desks = Desks(*(np.zeros(self.rows, np.int64) for _ in Desks._fields))
        self.seats, self.lengths = np.zeros(self.rows, np.int64), np.zeros(self.rows, np.int64)
        self.gained = np.zeros((self.rows, self.spec.seats))
        self.opened = pool.compiled is not None
        if pool.compiled is not None:
            pool.compiled.states["status"] = OVER  # so that the first step starts every game

    def new_table(self) -> Table:
        """An empty table for this game."""
        assert isinstance(self.spec.actions, Discrete)
        return self.algorithm.new_table(self.positions, self.spec.actions.n, self.spec.seats)

    def publish(self, params: Table, version: int) -> None:
        """Update this table from now on, or a copy of it if there are other workers."""
        self.table, self.version = own_table(self.table, params, self.desk.workers), version

    def work(self) -> Replica:
        assert self.table is not None, "publish a table before the first unit"
        tally = self.learn(self.table, self.desk.steps)
        return Replica(self.table, tally, self.version, rates(self.algorithm, self.time * self.stride))

    def learn(self, table: Table, steps: int) -> Array:
        """Play `steps` time steps of all rows and update the table; returns the tally of these steps."""
        tally = tallies.empty(self.spec.seats)
        turns, ended = TURNS[self.algorithm.form](table), list[Ended]()
        for _ in range(steps):
            moved = self._move(ended)
            tally[tallies.DECISIONS] += self.desks.pending.sum()
            turns.take(moved, self.desks, self._rates(), (self.dice + self.time) & BITS)
            self.time += 1
        turns.close()
        if ended:
            tallies.count(tally, *(np.concatenate(parts) for parts in zip(*ended, strict=True)))
        return tally

    def _rates(self) -> CurrentRates:
        """The values of the schedules at this step."""
        step = self.time * self.stride
        return CurrentRates(self.learning_rate(step), self.algorithm.gamma, self.exploration(step))

    def _move(self, games: list[Ended]) -> Moves:
        """Advance the games of the pool, except at the very first step."""
        step = self.pool.advance(self.desks.actions) if self.opened else self.pool.step
        self.opened = True
        movers, self.seats = self.seats, step.seat.astype(np.int64)
        status = self.pool.status
        self._count(step, status, games)
        rewards = step.reward[np.arange(self.rows), movers].astype(np.float64)
        signs = np.where(self.opposed & (self.seats != movers), -1.0, 1.0)
        return Moves(np.where(status == OVER, -1, self._places(step)), step.mask, rewards, signs, status)

    def _places(self, step: Step) -> Array:
        """[N] the rows of the observations; if seats have separate tables, these follow each other."""
        for name, field in step.observation.items():
            self.observations[name] = field
        digits = (self.codes.astype(np.int64) - self.positions.lows) * self.positions.weights
        per_seat = self.algorithm.tables == "seat"
        return digits.sum(axis=1) + (self.positions.count * self.seats if per_seat else 0)

    def _count(self, step: Step, status: Array, games: list[Ended]) -> None:
        """Update lengths and returns of the games that were advanced; those that ended are added to the list."""
        moved = ~step.first
        self.lengths[moved] += 1
        self.gained[moved] += step.reward[moved]
        ended = moved & (status != PLAYING)
        if ended.any():
            games.append((self.gained[ended], self.lengths[ended]))
            self.lengths[ended], self.gained[ended] = 0, 0.0

    def state(self) -> dict[str, Array]:
        """All that is needed to continue exactly; games that cannot be saved start again."""
        parts = {name: array.copy() for name, array in self._saved().items()}
        parts["time"] = np.array([self.time], np.int64)
        return parts | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue where `state` was taken."""
        if set(state) == {"time"}:  # the state of a lost worker: its games start again
            self.time = int(state["time"][0])
            return
        missing = {*SAVED, "time"} - set(state)
        if missing:
            raise LudusError(
                f"this checkpoint cannot be resumed: it has no {', '.join(sorted(missing))}; check its form"
            )
        self.time = int(state["time"][0])
        if not self.pool.can_save:
            return
        for name, mine in self._saved().items():
            if mine.shape != state[name].shape:
                raise LudusError(
                    "this checkpoint is from a run with another number of rows; resume it with its own run.toml"
                )
            mine[...] = state[name]
        restore_pool(self.pool, state)

    def _saved(self) -> dict[str, Array]:
        return dict(zip(SAVED, (*self.desks, self.seats, self.lengths, self.gained), strict=True))

    def close(self) -> None:
        self.pool.close()


def checked_positions(pool: AnyPool, form: str) -> Positions:
    """The numbered positions of a game; raises LudusError if the form does not support the game."""
    if form not in TURNS:
        raise LudusError(f"this worker supports the forms {', '.join(TURNS)}; form={form} has its own worker")
    check_discrete(pool.name, pool.spec)
    if not has_one_desk(pool.spec):
        raise LudusError(
            f"form={form} supports games with one seat and alternating zero-sum games with two, but not {pool.name}; "
            "use form=compiled"
        )
    positions = positions_of(pool.name, pool.observation)
    if positions.count == 0:
        raise LudusError(f"{pool.name} has too many positions for form={form}; use form=compiled")
    return positions


def has_one_desk(spec: Spec) -> bool:
    """Whether one desk serves all seats; see `kernel.py`."""
    return spec.seats == 1 or (spec.seats == 2 and spec.zero_sum and spec.turns == "alternating")
