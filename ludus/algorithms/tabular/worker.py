"""A worker: rows of games that learn into a table in one compiled loop.

Compiled games are stepped inside the loop. Others are stepped by their pool, and the loop does the rest; the same seed
gives the same table either way.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ludus.agents.table import Positions, Table, slot_of
from ludus.algorithms.protocol import Desk
from ludus.algorithms.tabular import Tabular, bind, part
from ludus.algorithms.tabular.checkpoints import Replica, check_discrete, own_table, rates
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.dsl import OVER, bounds, kernel, random
from ludus.dsl.cache import cache_root, telling_first_time
from ludus.dsl.rows import as_plain, compiling, new_rows
from ludus.types import Array, LudusError

LEARNER = 0x6C7564757301
"""told apart from the games' own dice, which come from the same seed"""
KEPT = ("games", "desks", "actions")
KEYS = "keys."


class Worker:
    """Rows of one game that learn into a table."""

    def __init__(self, pool: AnyPool, algorithm: Tabular, desk: Desk) -> None:
        check_discrete(pool.name, pool.spec)
        self.pool, self.algorithm, self.rows, self.spec = pool, algorithm, pool.rows, pool.spec
        self.native = pool.compiled is not None
        self.kernel = bind(pool.name, rules_of(pool, self.native), algorithm.method, algorithm.policy)
        self.positions: Positions = self.kernel.POSITIONS
        self.time, self.stride = 0, float(pool.rows * desk.workers)
        self.dice = random.keys(desk.seed ^ LEARNER, desk.number + 1)[desk.number]
        self.desk, self.version = desk, 0
        self.table: Table | None = None
        self.keys: dict[str, Array] = {}
        """of a restored state: the positions that the desks refer to, until a table is published"""
        self._allocate()
        if pool.compiled is not None:
            pool.compiled.states["status"] = OVER  # so that the first step opens every game

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

    def publish(self, params: Table, version: int) -> None:
        """Learn into this table, or into a copy of it if there are other workers."""
        before, keys = self.table, self._keys()
        self.table, self.version = own_table(before, params, self.desk.workers), version
        if self.table is not before or self.desk.workers > 1:
            self._find(keys)
        self.keys = {}

    def work(self) -> Replica:
        assert self.table is not None, "publish a table before the first unit"
        with compiling_alone(self.kernel.CACHE / "complete"):
            tally = self.learn(self.table, self.desk.steps)
        return Replica(self.table, tally, self.version, rates(self.algorithm, self.time * self.stride))

    def learn(self, table: Table, steps: int) -> Array:
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
        games = self.pool.compiled
        states, blank = (games.states, games._blank) if games is not None else (self.actions[:0],) * 2
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

    def _keys(self) -> dict[str, Array]:
        """The keys of the hashed positions that the desks refer to; rows move when tables are merged, keys do not."""
        if self.keys or self.table is None or not self.table.hashed:
            return self.keys
        last = max(len(self.table) - 1, 0)
        return {name: self.table.known[np.clip(self.desks[name], 0, last)].reshape(-1) for name in self._place_fields()}

    def _find(self, keys: Mapping[str, Array]) -> None:
        """Let the desks refer to the rows where the published table has these positions."""
        assert self.table is not None
        for name, wanted in keys.items():
            places, before = np.zeros(len(wanted), np.int64), self.desks[name]
            find_all(self.table.index, np.ascontiguousarray(wanted), places)
            self.desks[name] = np.where(before >= 0, places.reshape(before.shape), before)

    def _place_fields(self) -> tuple[str, ...]:
        return ("place", "found", *getattr(part("method", self.algorithm.method), "PLACES", ()))

    def state(self) -> dict[str, Array]:
        """All that is needed to continue exactly; games that cannot be saved are opened anew."""
        parts = {name: getattr(self, name).view(np.uint8).copy() for name in (*KEPT, "memory")}
        parts["time"] = np.array([self.time], np.int64)
        keys = {f"{KEYS}{name}": keys for name, keys in self._keys().items()}
        return parts | keys | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue where `state` was taken."""
        if set(state) == {"time"}:  # all that is left of a lost worker: its games are opened anew
            self.time = int(state["time"][0])
            return
        self._check(state)
        self.keys = {name.removeprefix(KEYS): keys for name, keys in state.items() if name.startswith(KEYS)}
        self.time = int(state["time"][0])
        self.memory = np.ascontiguousarray(state["memory"]).view(self.memory.dtype)
        if not self.pool.can_save:
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


@kernel
def find_all(index: Any, keys: Any, places: Any) -> None:
    """The rows of hashed positions, -1 where one is not known."""
    for number in range(len(keys)):
        slot = index[slot_of(index, keys[number])]
        places[number] = slot.place if slot.key == keys[number] else np.int64(-1)


@contextlib.contextmanager
def compiling_alone(complete: Path) -> Iterator[None]:
    """One process at a time, if something has to be compiled: the others then find it in the cache."""
    if complete.exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        # Where files cannot be locked, every process compiles for itself.
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(cache_root() / "compiling.lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def rules_of(pool: AnyPool, native: bool) -> ModuleType:
    """The game's own rules, or a module that tells what the loop must know of a game that is stepped elsewhere."""
    if native and pool.compiled is not None:
        return pool.compiled.game.rules
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
