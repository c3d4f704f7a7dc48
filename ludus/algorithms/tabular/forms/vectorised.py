"""Q-learning in NumPy: many updates at once, with the same result as one after the other.

A batch is split where an update reads or writes a row that an earlier update writes. The common alternative, to sum the
errors of all updates with respect to the old table, turns many small steps of a value into one large step and diverges
if a batch has enough updates of the same value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL, UNIT, check_memory
from ludus.algorithms.tabular.forms.batch import Batch, Rates
from ludus.dsl.random import FIRST, GOLDEN, S27, S30, S31, S32, SECOND
from ludus.types import Array

LOWER = np.uint64(2**32 - 1)


def mix(bits: Array) -> Array:
    """The mixing function of SplitMix64."""
    bits = (bits ^ (bits >> S30)) * FIRST
    bits = (bits ^ (bits >> S27)) * SECOND
    return bits ^ (bits >> S31)


def choose(values: Array, best: Array, exploration: float, bits: Array) -> Array:
    """[N] with probability ε a random legal action, else one of the best; values [N, A] with ILLEGAL ones."""
    threshold = np.where((bits & LOWER) * UNIT < exploration, ANY_LEGAL, best)
    eligible = values >= threshold[:, None]
    count = eligible.sum(axis=1, dtype=np.uint64)
    skip = ((bits >> S32) * count) >> S32
    chosen: Array = (eligible.cumsum(axis=1, dtype=np.uint64) <= skip[:, None]).sum(axis=1)
    return chosen


def independent(writes: Array, reads: Array) -> Iterator[slice]:
    """Split N steps where one reads or writes a row that another step since the last split writes; -1 is no row."""
    start = 0
    for place, earlier in enumerate(last_write(writes, reads).tolist()):
        if earlier >= start:
            yield slice(start, place)
            start = place
    if len(writes):
        yield slice(start, len(writes))


def last_write(writes: Array, reads: Array) -> Array:
    """[N] the last earlier step that writes a row which this step reads or writes; -1 if there is none."""
    count = len(writes)
    steps = np.arange(count)
    written = np.sort(writes * count + steps)
    latest = np.full(count, -1)
    for rows in (writes, reads):
        before = written[np.searchsorted(written, rows * count + steps) - 1]
        # If no step is earlier, the index -1 gives the last entry, which the comparison excludes.
        found = (rows >= 0) & (before // max(count, 1) == rows) & (before < rows * count + steps)
        latest = np.maximum(latest, np.where(found, before % max(count, 1), -1))
    return latest


def masked(values: Array, masks: Array) -> Array:
    """Values with ILLEGAL for illegal actions."""
    return np.where(masks, values, ILLEGAL) if len(masks) else values


class Vectorised:
    """The NumPy form."""

    def __init__(self, states: int, actions: int) -> None:
        check_memory(states, 4 * states * actions)
        self.table: Array = np.zeros((states, actions), np.float32)

    def choose(self, states: Array, masks: Array, exploration: float, key: int) -> Array:
        values = masked(self.table[states], masks)
        numbers = np.arange(1, len(states) + 1, dtype=np.uint64)
        return choose(values, values.max(axis=1), exploration, mix(np.uint64(key) + numbers * GOLDEN))

    def choose_one(self, state: int, mask: Array | None, exploration: float, key: int) -> int:
        masks = np.zeros((0, self.table.shape[1]), bool) if mask is None else mask[None]
        return int(self.choose(np.array([state]), masks, exploration, key)[0])

    def learn(self, batch: Batch, rates: Rates) -> None:
        reads = np.where(batch.terminated, -1, batch.next_states)
        for steps in independent(batch.states, reads):
            self._learn(Batch(*(column[steps] for column in batch)), rates)

    def _learn(self, batch: Batch, rates: Rates) -> None:
        """Make updates that do not depend on each other."""
        best = masked(self.table[batch.next_states], batch.next_masks).max(axis=1).astype(np.float64)
        bootstrap = rates.gamma * (batch.signs if len(batch.signs) else 1.0) * best
        target = batch.rewards + np.where(batch.terminated, 0.0, bootstrap)
        old = self.table[batch.states, batch.actions].astype(np.float64)
        self.table[batch.states, batch.actions] = old + rates.learning_rate * (target - old)

    def learn_one(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool, mask: Array | None,
        sign: float, rates: Rates,
    ) -> None:  # fmt: skip
        target = np.float64(reward)
        if not terminated:
            following = self.table[next_state] if mask is None else self.table[next_state][mask]
            target += rates.gamma * sign * np.float64(following.max())
        old = np.float64(self.table[state, action])
        self.table[state, action] = old + rates.learning_rate * (target - old)

    def values(self) -> Array:
        return self.table.copy()

    def take(self, values: Array) -> None:
        self.table[:] = values
