"""The worker of tabular methods: it plays rows of a game and updates a table in one compiled loop.

Compiled games are stepped inside the loop. Other games are stepped by their pool, and the loop does the rest. The same
seed gives the same table either way.
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
from typing import TYPE_CHECKING

import numpy as np

from ludus.agents.table import Positions, Table, slot_of
from ludus.algorithms import tally as tallies
from ludus.algorithms.protocol import Desk
from ludus.algorithms.tabular import Tabular, bind, part
from ludus.algorithms.tabular.checkpoints import Replica, check_discrete, own_table, rates
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.dsl import OVER, bounds, kernel, random
from ludus.dsl.cache import cache_root, telling_first_time
from ludus.dsl.rows import as_plain, compiling, new_rows
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.algorithms.tabular.kernel import Bench

LEARNER = 0x6C7564757301
"""makes the randomness of learners differ from that of the games, which comes from the same seed"""
SAVED = ("games", "desks", "actions")
"""attributes of a worker that its state holds as bytes"""
KEYS = "keys."
"""prefix of the keys of hashed positions in the state of a worker"""


class Worker:
    """Plays rows of one game and updates a table."""

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
        """the keys of the positions that the desks of a restored state refer to, until a table is published"""
        self._allocate()
        if pool.compiled is not None:
            pool.compiled.states["status"] = OVER  # so that the first step starts every game

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
        """Update this table from now on, or a copy of it if there are other workers."""
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
        """Play `steps` time steps of all rows and update the table; returns the tally of these steps."""
        tally, stop = tallies.empty(self.spec.seats), self.time + steps
        with telling_first_time(f"{self.algorithm.method} for {self.pool.name}", self.kernel.CACHE / "complete"):
            while self.time < stop:
                if table.hashed and len(table) + self.rows * self.spec.views > len(table.rows):
                    table.grow()
                bench = self._bench(table, tally)
                self.time = self._train(bench, stop) if self.native else self._train_stepped(bench, stop)
        return tally

    def _train(self, bench: Bench, stop: int) -> int:
        per_seat = self.algorithm.tables == "seat"
        return int(self.kernel.train(bench, per_seat, self.dice, self.time, stop, self.stride))

    def _train_stepped(self, bench: Bench, stop: int) -> int:
        """The same for games that are stepped by their pool."""
        per_seat, room = self.algorithm.tables == "seat", self.rows * self.spec.views
        for time in range(self.time, stop):
            if bench.index.size and bench.used[0] + room > len(bench.rows):
                return time
            self._step()
            self.kernel.train_stepped(bench, per_seat, self.dice, time, self.stride)
        return stop

    def _step(self) -> None:
        """Advance the games of the pool, except at the very first step, and copy the step for the compiled loop."""
        games, views = self.games, self.spec.views
        step = self.pool.advance(self.actions["action"].reshape(-1)) if self.opened else self.pool.step
        self.opened = True
        games["mover"] = games["seat"]
        games["reward"], games["fresh"] = step.reward[::views], step.first[::views]
        games["seat"], games["status"] = step.seat[::views], self.pool.status
        self.masks["mask"] = step.mask
        for name, field in step.observation.items():
            self.observations[name] = field

    def _bench(self, table: Table, tally: Array) -> Bench:
        compiled = self.pool.compiled
        states, blank = (compiled.states, compiled._blank) if compiled is not None else (self.actions[:0],) * 2
        if len(self.memory) < len(table.rows) and not self.algorithm.mergeable:
            grown = self._new_memory(len(table.rows))
            grown[: len(self.memory)] = self.memory
            self.memory = grown
        bench: Bench = self.kernel.Bench(
            *table.arrays(), self.memory, self.observations, self.codes, states, blank, self.masks, self.games,
            self.desks, self.actions, self.settings, tally,
        )  # fmt: skip
        return bench

    def _new_memory(self, rows: int) -> Array:
        fields = getattr(part("method", self.algorithm.method), "MEMORY", None)
        return np.zeros(0, np.int64) if fields is None else new_rows(rows, np.dtype(list(fields(self.kernel.ACTIONS))))

    def _keys(self) -> dict[str, Array]:
        """The keys of the hashed positions that the desks refer to; a merge may move rows, but keys stay the same."""
        if self.keys or self.table is None or not self.table.hashed:
            return self.keys
        last = max(len(self.table) - 1, 0)
        return {name: self.table.known[np.clip(self.desks[name], 0, last)].reshape(-1) for name in self._place_fields()}

    def _find(self, keys: Mapping[str, Array]) -> None:
        """Update the row indices in the desks: find the rows of these positions in the published table."""
        assert self.table is not None
        for name, positions in keys.items():
            places, before = np.zeros(len(positions), np.int64), self.desks[name]
            find_all(self.table.index, np.ascontiguousarray(positions), places)
            self.desks[name] = np.where(before >= 0, places.reshape(before.shape), before)

    def _place_fields(self) -> tuple[str, ...]:
        return ("place", "found", *getattr(part("method", self.algorithm.method), "PLACES", ()))

    def state(self) -> dict[str, Array]:
        """All that is needed to continue exactly; games that cannot be saved start again."""
        parts = {name: getattr(self, name).view(np.uint8).copy() for name in (*SAVED, "memory")}
        parts["time"] = np.array([self.time], np.int64)
        keys = {f"{KEYS}{name}": keys for name, keys in self._keys().items()}
        return parts | keys | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue where `state` was taken."""
        if set(state) == {"time"}:  # the state of a lost worker: its games start again
            self.time = int(state["time"][0])
            return
        self._check(state)
        self.keys = {name.removeprefix(KEYS): keys for name, keys in state.items() if name.startswith(KEYS)}
        self.time = int(state["time"][0])
        self.memory = np.ascontiguousarray(state["memory"]).view(self.memory.dtype)
        if not self.pool.can_save:
            return
        for name in SAVED:
            getattr(self, name).view(np.uint8)[:] = state[name]
        restore_pool(self.pool, state)
        self.opened = True

    def _check(self, state: Mapping[str, Array]) -> None:
        """Raise LudusError if the state is not of a worker like this one; only the memory may have another size."""
        own = self.state()
        missing = set(own) - set(state)
        if missing:
            raise LudusError(f"this checkpoint cannot be resumed: it has no {', '.join(sorted(missing))}")
        sizes = {"memory": state["memory"].nbytes // self.memory.itemsize * self.memory.itemsize}
        for name, array in own.items():
            expected = (array.dtype, (sizes.get(name, array.size),))
            if (state[name].dtype, state[name].shape) != expected:
                raise LudusError(
                    "this checkpoint is from a run with another method or number of rows; "
                    "resume it with its own run.toml"
                )

    def close(self) -> None:
        self.pool.close()


@kernel
def find_all(index: Array, keys: Array, places: Array) -> None:
    """The rows of hashed positions; -1 for unknown ones."""
    for number in range(len(keys)):
        slot = index[slot_of(index, keys[number])]
        places[number] = slot.place if slot.key == keys[number] else np.int64(-1)


@contextlib.contextmanager
def compiling_alone(complete: Path) -> Iterator[None]:
    """Let one process at a time compile, so that the others find the result in the cache."""
    if complete.exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        # If the file system does not support locks, every process compiles for itself.
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(cache_root() / "compiling.lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def rules_of(pool: AnyPool, native: bool) -> ModuleType:
    """The rules of a compiled game; for others a module with the facts that the compiled loop needs."""
    if native and pool.compiled is not None:
        return pool.compiled.game.rules
    observation = pool.observation
    ranges = [[end.tolist() for end in bounds(observation, name)] for name in observation.names or ()]
    facts = repr((pool.spec, observation.descr, ranges))
    name = f"ludus_stepped_{hashlib.sha256(facts.encode()).hexdigest()[:16]}"
    return sys.modules.get(name) or _facts_module(name, {"SPEC": pool.spec, "OBSERVATION": observation, "FACTS": facts})


def _facts_module(name: str, facts: dict[str, object]) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("foreign_rules.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(facts)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
