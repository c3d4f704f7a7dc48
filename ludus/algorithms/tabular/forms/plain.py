"""Q-learning in plain Python: the reference that the other forms equal to the last bit.

A row is an array of 32-bit floats, so values are rounded when they are stored; everything else is computed in 64 bits.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from ludus.agents.table import check_memory
from ludus.algorithms.tabular.forms.batch import Batch, Rates
from ludus.types import Array

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
BITS, LOWER = 2**64 - 1, 2**32 - 1
ROW_BYTES = 100
"""approximate overhead of an array object"""

Row = array  # of "f"


def mix(bits: int) -> int:
    """The mixing function of SplitMix64."""
    bits = ((bits ^ (bits >> 30)) * FIRST) & BITS
    bits = ((bits ^ (bits >> 27)) * SECOND) & BITS
    return bits ^ (bits >> 31)


def choose(row: Row[float], legal: Sequence[int], exploration: float, bits: int) -> int:
    """With probability ε a random legal action, else one of the best; the lower bits decide which, the upper pick."""
    candidates = legal
    if (bits & LOWER) * 2.0**-32 >= exploration:
        best = highest(row, legal)
        candidates = [action for action in legal if row[action] == best]
    return candidates[((bits >> 32) * len(candidates)) >> 32]


def highest(row: Row[float], legal: Iterable[int]) -> float:
    """The highest value of the legal actions."""
    return max(row[action] for action in legal)


def improve(row: Row[float], action: int, target: float, rate: float) -> None:
    """Q ← Q + rate (target - Q)."""
    row[action] += rate * (target - row[action])


class Plain:
    """The list form: a list of rows."""

    def __init__(self, states: int, actions: int) -> None:
        check_memory(states, states * (4 * actions + ROW_BYTES))
        self.rows = [array("f", bytes(4 * actions)) for _ in range(states)]
        self.all_actions = range(actions)

    def choose(self, states: Array, masks: Array, exploration: float, key: int) -> Array:
        keys = ((key + number * GOLDEN) & BITS for number in range(len(states)))
        legal = masks if len(masks) else [None] * len(states)
        rows = zip(states.tolist(), legal, keys, strict=True)
        chosen = [self.choose_one(state, mask, exploration, key) for state, mask, key in rows]
        return np.array(chosen, np.int64)

    def choose_one(self, state: int, mask: Array | None, exploration: float, key: int) -> int:
        return choose(self.rows[state], self.legal(mask), exploration, mix((key + GOLDEN) & BITS))

    def learn(self, batch: Batch, rates: Rates) -> None:
        count = len(batch.states)
        masks = batch.next_masks if len(batch.next_masks) else [None] * count
        signs = batch.signs.tolist() or [1.0] * count
        columns = [*(column.tolist() for column in batch[:5]), masks, signs]
        for state, action, reward, next_state, terminated, mask, sign in zip(*columns, strict=True):
            self.learn_one(state, action, reward, next_state, terminated, mask, sign, rates)

    def learn_one(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool, mask: Array | None,
        sign: float, rates: Rates,
    ) -> None:  # fmt: skip
        target = reward
        if not terminated:
            target += rates.gamma * sign * highest(self.rows[next_state], self.legal(mask))
        improve(self.rows[state], action, target, rates.learning_rate)

    def legal(self, mask: Array | None) -> Sequence[int]:
        """The actions that a mask allows."""
        return self.all_actions if mask is None else [action for action in self.all_actions if mask[action]]

    def values(self) -> Array:
        return np.array(self.rows, np.float32)

    def take(self, values: Array) -> None:
        self.rows = [array("f", row.tobytes()) for row in values]
