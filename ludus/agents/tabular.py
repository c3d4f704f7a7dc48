"""The agent of a table: plays the best known action, or any legal one in unknown positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory
from ludus.agents.table import ANY_LEGAL, Positions, Table, fingerprint, numbered, positions_of, slot_of
from ludus.bridges import AnyPool
from ludus.dsl import kernel
from ludus.pool.actions import any_of
from ludus.types import Array, Decision, Discrete, LudusError, Spec, Step


@dataclass(frozen=True, eq=False)
class TabularAgent(Agent):
    """Plays greedily by a table; its params are the table."""

    positions: Positions
    spec: Spec
    apart: bool = False
    """each seat has its own table"""

    @classmethod
    def of(cls, pool: AnyPool, tables: str = "shared") -> TabularAgent:
        """The agent for the games of a pool."""
        return cls(positions_of(pool.name, pool.observation), pool.spec, tables == "seat")

    def init(self, spec: Spec, key: Key) -> Table:
        """An empty table, with which it plays at random."""
        assert isinstance(spec.actions, Discrete)
        return Table(self.count, spec.actions.n)

    @property
    def count(self) -> int:
        """The number of rows of its table, 0 if positions are hashed."""
        return self.positions.count * (self.spec.seats if self.apart else 1)

    def check(self, table: Table) -> None:
        """Raise LudusError for the table of another game, or with another separation of seats."""
        if table.count != self.count:
            raise LudusError(
                f"this table has {table.count:,} numbered positions but the game has {self.count:,}; use a checkpoint "
                "of this game, with the settings that it was made with"
            )

    def act(self, params: Table, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        values = self.values(params, step)
        action = any_of(best_of(values), key)
        value = np.zeros(step.reward.shape, np.float32)
        highest = values.max(axis=1)
        if self.spec.zero_sum:
            value[:] = -highest[:, None] / max(self.spec.seats - 1, 1)
        np.put_along_axis(value, step.seat[:, None].astype(np.int64), highest[:, None].astype(np.float32), axis=1)
        choices = best_of(values).sum(axis=1)
        return Decision(action, -np.log(choices).astype(np.float32), value), memory

    def choices(self, params: Table, step: Step) -> Array:
        """[N, A] every action that `act` may choose."""
        return best_of(self.values(params, step))

    def values(self, params: Table, step: Step) -> Array:
        """[N, A] the value of each action for the acting seat: -inf if illegal, 0 if unknown."""
        places = self.places(params, step)
        values = params.rows["values"][np.maximum(places, 0)].astype(np.float64)
        values[places < 0] = 0.0
        # An action that is legal in this step may be marked illegal in the row; then its value is unknown.
        values[(values < ANY_LEGAL) & step.mask] = 0.0
        return np.where(step.mask, values, -np.inf)

    def places(self, params: Table, step: Step) -> Array:
        """[N] the rows of the observations, -1 for unknown ones."""
        if params.hashed != (self.positions.count == 0):
            raise LudusError("this table is for another game; use a checkpoint for this game")
        observations, codes = self.positions.new_observations(len(step.seat))
        for name, field in step.observation.items():
            observations[name] = field
        places = np.full(len(codes), -1, np.int64)
        seats = step.seat.astype(np.int64)
        find_all(params.rows, params.index, codes, self.positions.lows, self.positions.weights, seats,
                 self.apart, self.positions.count, places)  # fmt: skip
        return places


def best_of(values: Array) -> Array:
    """[N, A] the maxima of each row, including ties."""
    return values == values.max(axis=1, keepdims=True)


@kernel
def find_all(
    rows: Array,
    index: Array,
    codes: Array,
    lows: Array,
    weights: Array,
    seats: Array,
    apart: bool,
    count: int,
    places: Array,
) -> None:
    """Write the row of every observation to `places`, -1 for unknown ones."""
    for i in range(len(codes)):
        if count == 0:
            key = fingerprint(codes, i, seats[i] + 1 if apart else 0)
            slot = slot_of(index, key)
            places[i] = index[slot].place if index[slot].key == key else -1
        else:
            place = numbered(codes, lows, weights, i) + (count * seats[i] if apart else 0)
            places[i] = place if rows[place].visits > 0 else -1


@kernel
def enter_all(
    rows: Array,
    known: Array,
    index: Array,
    used: Array,
    codes: Array,
    lows: Array,
    weights: Array,
    count: int,
    places: Array,
) -> None:
    """Assign a row to every observation, new ones in order."""
    for i in range(len(codes)):
        if count == 0:
            key = fingerprint(codes, i, 0)
            slot = slot_of(index, key)
            if index[slot].key != key:
                index[slot].key = key
                index[slot].place = used[0]
                known[used[0]] = key
                used[0] += 1
            places[i] = index[slot].place
        else:
            places[i] = numbered(codes, lows, weights, i)
            if rows[places[i]].visits == 0:
                known[used[0]] = np.uint64(places[i])
                used[0] += 1
        rows[places[i]].visits += np.uint64(1)
