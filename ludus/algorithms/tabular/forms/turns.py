"""What the compiled loop does after all games were advanced, in plain Python and in NumPy.

In the order of rows, each player chooses its next action by the row of its position and then learns from its previous
action.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple, Protocol

import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL, Table
from ludus.algorithms.tabular.forms import plain, vectorised
from ludus.dsl import CUT, PLAYING
from ludus.dsl.random import GOLDEN
from ludus.types import Array


class CurrentRates(NamedTuple):
    """The rates of a time step."""

    learning_rate: float
    gamma: float
    exploration: float


class Moves(NamedTuple):
    """The games after a time step, one per row."""

    places: Array
    """the row of the present position in the table, -1 if the game has terminated"""
    masks: Array
    rewards: Array
    """of the seat that moved"""
    signs: Array
    """-1 if the opponent is to move next, else 1"""
    status: Array


class Desks(NamedTuple):
    """The last action in each game: the row of its position, the action, and whether it is still to be learned from."""

    places: Array
    actions: Array
    pending: Array


class Turns(Protocol):
    """Choosing and learning in one form."""

    def __init__(self, table: Table) -> None: ...
    def take(self, moved: Moves, desks: Desks, rates: CurrentRates, key: int) -> None:
        """Let all players choose and learn; game i uses the bits of key + i GOLDEN."""
        ...

    def close(self) -> None:
        """Write the results into the table."""
        ...


class ListTurns:
    """The list form: rows and visits by the row index of known positions, in the order of discovery."""

    def __init__(self, table: Table) -> None:
        self.table, self.new = table, len(table)
        places, content = table.places.tolist(), table.rows[table.places]
        self.rows = {
            place: array("f", values.tobytes()) for place, values in zip(places, content["values"], strict=True)
        }
        self.visits: dict[int, int] = dict(zip(places, content["visits"].tolist(), strict=True))

    def take(self, moved: Moves, desks: Desks, rates: CurrentRates, key: int) -> None:
        columns = (moved.places, moved.rewards, moved.signs, moved.status, *desks)
        for i, game in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            seen, reward, sign, status, place, action, pending = game
            here = self.locate(seen, moved.masks[i], status)
            chosen = action
            if status == PLAYING:
                bits = plain.mix((key + i * plain.GOLDEN) & plain.BITS)
                chosen = plain.choose(self.rows[seen], self.legal(seen), rates.exploration, bits)
            if pending:
                self.learn(self.rows[place], action, reward, sign, here, rates)
                self.visits[place] += 1
            desks.places[i], desks.actions[i], desks.pending[i] = seen, chosen, status == PLAYING

    def locate(self, place: int, mask: Array, status: int) -> plain.Row[float] | None:
        """The row of a position, initialised at the first visit; None if it is new and the game has ended."""
        if place not in self.rows and status == PLAYING:
            self.rows[place] = array("f", [0.0 if legal else float(ILLEGAL) for legal in mask.tolist()])
            self.visits[place] = 1
        return self.rows.get(place)

    def learn(
        self,
        row: plain.Row[float],
        action: int,
        reward: float,
        sign: float,
        here: plain.Row[float] | None,
        rates: CurrentRates,
    ) -> None:
        target = reward
        if here is not None:
            target += rates.gamma * sign * max(here)
        plain.improve(row, action, target, rates.learning_rate)

    def legal(self, place: int) -> list[int]:
        return [action for action, value in enumerate(self.rows[place]) if value >= ANY_LEGAL]

    def close(self) -> None:
        places = list(self.rows)
        if places:
            self.table.rows["values"][places] = np.array(list(self.rows.values()), np.float32)
            self.table.rows["visits"][places] = list(self.visits.values())
        self.table.known[self.new : len(places)] = places[self.new :]
        self.table.used[0] = len(places)


class NumpyTurns:
    """The NumPy form: games are processed together up to the first that needs a row which one of them changes."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.values, self.visits = table.rows["values"], table.rows["visits"]

    def take(self, moved: Moves, desks: Desks, rates: CurrentRates, key: int) -> None:
        games = np.arange(len(moved.places), dtype=np.uint64)
        bits = vectorised.mix(np.uint64(key) + games * GOLDEN)
        moved = moved._replace(places=self.locate(moved))
        for part in vectorised.independent(np.where(desks.pending, desks.places, -1), moved.places):
            some = Moves(*(column[part] for column in moved)), Desks(*(column[part] for column in desks))
            self._take(*some, rates, bits[part])

    def _take(self, moved: Moves, desks: Desks, rates: CurrentRates, bits: Array) -> None:
        """Process games that do not depend on each other."""
        values = self.values[moved.places]
        best = values.max(axis=1)
        chosen = vectorised.choose(values, best, rates.exploration, bits)
        bootstrap = rates.gamma * moved.signs * best.astype(np.float64)
        targets = moved.rewards + np.where(moved.places >= 0, bootstrap, 0.0)
        pending = np.flatnonzero(desks.pending)
        self.learn(desks.places[pending], desks.actions[pending], targets[pending], rates.learning_rate)
        playing = moved.status == PLAYING
        desks.places[:], desks.pending[:] = moved.places, playing
        np.copyto(desks.actions, chosen, where=playing)

    def learn(self, places: Array, actions: Array, targets: Array, rate: float) -> None:
        old = self.values[places, actions].astype(np.float64)
        self.values[places, actions] = old + rate * (targets - old)
        self.visits[places] += np.uint64(1)

    def locate(self, moved: Moves) -> Array:
        """[N] the rows of the positions, initialised at the first visit; -1 for a new one in a truncated game."""
        places = moved.places.copy()
        # New positions are added one by one, because the order of discovery is part of the table.
        for i in np.flatnonzero((places >= 0) & (self.visits[places] == 0)):
            if self.visits[places[i]] == 0:
                places[i] = self.enter(int(places[i]), moved.masks[i]) if moved.status[i] != CUT else -1
        return places

    def enter(self, place: int, mask: Array) -> int:
        self.table.known[len(self.table)] = place
        self.table.used[0] += 1
        self.values[place], self.visits[place] = np.where(mask, np.float32(0.0), ILLEGAL), 1
        return place

    def close(self) -> None:
        """Nothing to do: the arrays are views of the table."""


TURNS: dict[str, type[Turns]] = {"list": ListTurns, "numpy": NumpyTurns}
