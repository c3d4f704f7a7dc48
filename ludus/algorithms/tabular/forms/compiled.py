"""Compiled Q-learning: rows fill whole cache lines and are prefetched a few updates before they are used."""

from __future__ import annotations

import functools
import pathlib
import time
from types import ModuleType

import numpy as np

from ludus.agents.table import aligned, check_memory, row_dtype
from ludus.algorithms.tabular.forms.batch import Batch, Rates, checked_batch
from ludus.dsl.cache import telling_first_time
from ludus.dsl.rows import as_plain, compiling
from ludus.pool import binding
from ludus.types import Array


@functools.cache
def loops() -> ModuleType:
    """The compiled loops, one module per process."""
    return binding.instantiate(pathlib.Path(__file__).with_name("kernel.py"), "ludus_forms")


@functools.cache
def warm_up(loops: ModuleType, actions: int) -> None:
    """Compile the loops for this number of actions, or load them from the cache, before the first update."""
    if not compiling():
        return
    rows, empty, mask = new_table(1, actions), np.zeros(0, np.int64), np.zeros((0, actions), bool)
    with telling_first_time(f"Q-learning of {actions} actions", loops.CACHE / f"complete-{actions}"):
        no_updates = Batch(empty, empty, np.zeros(0), empty, np.zeros(0, bool), mask, np.zeros(0))
        loops.learn_all(loops.Updates(rows, *no_updates), 0.0, 0.0)
        loops.learn_one(rows, 0, 0, 0.0, 0, True, mask, 1.0, 0.0, 0.0)
        loops.choose_all(loops.Choices(rows, empty, mask, empty), 0.0, np.uint64(0))
        loops.choose_one(rows, 0, mask, 0.0, np.uint64(0))


def new_table(states: int, actions: int) -> Array:
    """A table of zeros."""
    rows = aligned(states, row_dtype(actions))
    return rows if compiling() else as_plain(rows)


class Compiled:
    """The compiled form."""

    def __init__(self, states: int, actions: int) -> None:
        check_memory(states, states * row_dtype(actions).itemsize)
        self.rows = new_table(states, actions)
        self.no_masks = np.zeros((0, actions), bool)
        self.loops = loops()
        warm_up(self.loops, actions)

    def choose(self, states: Array, masks: Array, exploration: float, key: int) -> Array:
        out = np.empty(len(states), np.int64)
        self.loops.choose_all(self.loops.Choices(self.rows, states, masks, out), exploration, np.uint64(key))
        return out

    def choose_one(self, state: int, mask: Array | None, exploration: float, key: int) -> int:
        return int(self.loops.choose_one(self.rows, state, self._masks(mask), exploration, np.uint64(key)))

    def learn(self, batch: Batch, rates: Rates) -> None:
        self.loops.learn_all(self.loops.Updates(self.rows, *batch), rates.learning_rate, rates.gamma)

    def learn_one(
        self, state: int, action: int, reward: float, next_state: int, terminated: bool, mask: Array | None,
        sign: float, rates: Rates,
    ) -> None:  # fmt: skip
        self.loops.learn_one(
            self.rows, state, action, reward, next_state, terminated, self._masks(mask), sign, rates.learning_rate,
            rates.gamma,
        )  # fmt: skip

    def values(self) -> Array:
        return np.ascontiguousarray(self.rows["values"])

    def take(self, values: Array) -> None:
        self.rows["values"] = values

    def _masks(self, mask: Array | None) -> Array:
        return self.no_masks if mask is None else mask[None]


def bigtable_rate(states: int = 10_000_000, actions: int = 9, updates: int = 4_000_000, seed: int = 0) -> float:
    """Random updates per second of CPU time, in a table that is larger than any cache (640 MB by default)."""
    form, dice = Compiled(states, actions), np.random.default_rng(seed)
    batch = checked_batch(
        (states, actions), dice.integers(0, states, updates), dice.integers(0, actions, updates),
        dice.standard_normal(updates), dice.integers(0, states, updates), dice.random(updates) < 0.05, None, None, None,
    )  # fmt: skip
    # The operating system allocates memory at the first write, which must not be part of the measurement.
    form.take(np.zeros(actions, np.float32))
    start = time.process_time()
    form.learn(batch, Rates())
    return updates / (time.process_time() - start)
