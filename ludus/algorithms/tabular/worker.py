"""A worker: rows of games, and those who sit at them and learn.

Games of ours move inside the compiled loop. Others are stepped by their pool, and the loop does the rest; either way
the same seed ends in the same table.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ludus.agents.table import Positions, Table
from ludus.algorithms.tabular import Tabular, bind, part
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.pool import Pool
from ludus.types import Array, Continuous, LudusError, Spec
from ludus.words import OVER, bounds, random
from ludus.words.cache import telling_first_time
from ludus.words.rows import as_plain, compiling, new_rows

LEARNER = 0x6C7564757301
"""told apart from the games' own dice, which come from the same seed"""
KEPT = ("games", "desks", "actions")


class Worker:
    """Rows of one game that learn into a table; `number` of `workers` that do so side by side."""

    def __init__(self, pool: AnyPool, algorithm: Tabular, seed: int, number: int = 0, workers: int = 1) -> None:
        check_discrete(pool.name, pool.spec)
        self.pool, self.algorithm, self.rows, self.spec = pool, algorithm, pool.rows, pool.spec
        self.native = isinstance(pool, Pool)
        self.kernel = bind(pool.name, rules_of(pool, self.native), algorithm.method, algorithm.policy)
        self.positions: Positions = self.kernel.POSITIONS
        self.time, self.stride = 0, float(pool.rows * workers)
        self.dice = random.keys(seed ^ LEARNER, number + 1)[number]
        self._allocate()
        if isinstance(pool, Pool):
            pool.states["status"] = OVER  # so that the first step opens every game

    def _allocate(self) -> None:
        kernel, rows, views = self.kernel, self.rows, self.rows * self.spec.views
        self.observations, self.codes = self.positions.new_observations(views)
        self.games, self.desks = new_rows(rows, kernel.GAME), new_rows(rows * kernel.DESKS, kernel.DESK)
        self.actions = new_rows(rows, kernel.ACTION)
        self.masks = new_rows(0 if self.native else views, np.dtype([("mask", np.uint8, (kernel.ACTIONS,))]))
        settings = self.algorithm.settings()
        self.settings = settings if compiling() else as_plain(settings)
        self.memory = self._new_memory(0)
        self.opened = self.native

    def new_table(self) -> Table:
        """An empty table for this game and method."""
        return self.algorithm.new_table(self.positions, self.kernel.ACTIONS, self.spec.seats)

    def work(self, table: Table, steps: int) -> Array:
        """Play and learn for `steps` time steps of all rows, into the table; returns the tally of what was played."""
        tally, stop = np.zeros(3 + self.spec.seats), self.time + steps
        with telling_first_time(f"{self.algorithm.method} for {self.pool.name}", self.kernel.CACHE / "complete"):
            while self.time < stop:
                if table.hashed and len(table) + self.rows * self.spec.views > len(table.rows):
                    table.grow()
                bench = self._bench(table, tally)
                self.time = self._train(bench, stop) if self.native else self._follow(bench, stop)
        return tally

    def _train(self, bench: Any, stop: int) -> int:
        apart = self.algorithm.tables == "seat"
        return int(self.kernel.train(bench, apart, self.dice, self.time, stop, self.stride))

    def _follow(self, bench: Any, stop: int) -> int:
        """The same, where the pool steps the games."""
        apart, room = self.algorithm.tables == "seat", self.rows * self.spec.views
        for time in range(self.time, stop):
            if bench.index.size and bench.used[0] + room > len(bench.rows):
                return time
            self._step()
            self.kernel.follow(bench, apart, self.dice, time, self.stride)
        return stop

    def _step(self) -> None:
        """Move the pool's games, or look at their openings, and write down what the loop wants to know."""
        games, views = self.games, self.spec.views
        step = self.pool.advance(self.actions["action"].reshape(-1)) if self.opened else self.pool.step
        self.opened = True
        games["mover"] = games["seat"]
        games["reward"], games["fresh"] = step.reward[::views], step.first[::views]
        games["seat"], games["status"] = step.seat[::views], self.pool.status
        self.masks["mask"] = step.mask
        for name, field in step.observation.items():
            self.observations[name] = field

    def _bench(self, table: Table, tally: Array) -> Any:
        states, blank = (self.pool.states, self.pool._blank) if isinstance(self.pool, Pool) else (self.actions[:0],) * 2
        if len(self.memory) < len(table.rows) and not self.algorithm.mergeable:
            grown = self._new_memory(len(table.rows))
            grown[: len(self.memory)] = self.memory
            self.memory = grown
        return self.kernel.Bench(
            *table.arrays(), self.memory, self.observations, self.codes, states, blank, self.masks, self.games,
            self.desks, self.actions, self.settings, tally,
        )  # fmt: skip

    def _new_memory(self, rows: int) -> Array:
        fields = getattr(part("method", self.algorithm.method), "MEMORY", None)
        return np.zeros(0, np.int64) if fields is None else new_rows(rows, np.dtype(list(fields(self.kernel.ACTIONS))))

    def remap(self, mapping: Array) -> None:
        """The rows of a hashed table have moved to these places."""
        if len(mapping) and self.positions.count == 0:
            for name in ("place", "found", *getattr(part("method", self.algorithm.method), "PLACES", ())):
                places = self.desks[name]
                places[...] = np.where(
                    (places >= 0) & (places < len(mapping)), mapping[np.clip(places, 0, len(mapping) - 1)], places
                )

    def state(self) -> dict[str, Array]:
        """Everything that the worker needs to go on exactly; the games of others can only be opened anew."""
        parts = {name: getattr(self, name).view(np.uint8).copy() for name in (*KEPT, "memory")}
        parts["time"] = np.array([self.time], np.int64)
        return parts | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on where `state` was taken."""
        if set(state) == {"time"}:  # all that is left of a worker that was lost: its games are opened anew
            self.time = int(state["time"][0])
            return
        self._check(state)
        self.time = int(state["time"][0])
        self.memory = np.ascontiguousarray(state["memory"]).view(self.memory.dtype)
        if not isinstance(self.pool, Pool):
            return
        for name in KEPT:
            getattr(self, name).view(np.uint8)[:] = state[name]
        restore_pool(self.pool, state)
        self.opened = True

    def _check(self, state: Mapping[str, Array]) -> None:
        """Refuse what was not taken from a worker like this one; only the memory may have grown."""
        own = self.state()
        missing = set(own) - set(state)
        if missing:
            raise LudusError(f"this checkpoint cannot be resumed: it lacks {', '.join(sorted(missing))}")
        whole = {"memory": state["memory"].nbytes // self.memory.itemsize * self.memory.itemsize}
        for name, array in own.items():
            wanted = (array.dtype, (whole.get(name, array.size),))
            if (state[name].dtype, state[name].shape) != wanted:
                raise LudusError(
                    "this checkpoint is of a run with another method or number of rows; resume it with its own run.toml"
                )

    def close(self) -> None:
        self.pool.close()


def check_discrete(name: str, spec: Spec) -> None:
    if isinstance(spec.actions, Continuous):
        raise LudusError(
            f"{name} has continuous actions, and a table needs numbered ones; choose another game or a deep agent"
        )


def rules_of(pool: AnyPool, native: bool) -> ModuleType:
    """The game's own rules, or a module that tells what the loop must know of a game that is stepped elsewhere."""
    if native and isinstance(pool, Pool):
        return pool.game.rules
    observation = pool.observation
    ranges = [[end.tolist() for end in bounds(observation, name)] for name in observation.names or ()]
    facts = repr((pool.spec, observation.descr, ranges))
    name = f"ludus_stepped_{hashlib.sha256(facts.encode()).hexdigest()[:16]}"
    return sys.modules.get(name) or _described(name, {"SPEC": pool.spec, "OBSERVATION": observation, "FACTS": facts})


def _described(name: str, facts: dict[str, Any]) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("foreign_rules.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(facts)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
