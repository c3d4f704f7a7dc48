"""Monte Carlo tree search (UCT, Kocsis and Szepesvári 2006; open loop) for every game of Ludus with discrete actions.

Each simulation plays in its own copy of the game, with another random key and redealt hidden information (the pool's
`fork`), so the search can see neither future random numbers nor what its seat may not know.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params, PoolAgent
from ludus.agents.search import check_newest
from ludus.dsl import PLAYING, random
from ludus.dsl.cache import telling_first_time
from ludus.dsl.rows import compiling, new_rows
from ludus.games import Game
from ludus.pool import AnyPool, Pool, binding
from ludus.pool.actions import is_per_row
from ludus.types import Array, Continuous, Decision, LudusError, Spec, Step, step_rows

TEMPLATE = Path(__file__).with_name("kernel.py")
COPIES = 256
"""maximum number of games copied at a time, to limit memory for games with a large state"""
_bound: dict[ModuleType, binding.Bound] = {}


@dataclass(frozen=True)
class MCTS(PoolAgent):
    """Plays what a tree of simulated games visits most; `at(pool)` is the player of the games in that pool."""

    simulates = True

    simulations: int = 400
    """simulated games per move"""
    exploration: float = 1.4
    """exploration constant of UCT, relative to the spread of returns"""
    depth: int = 1000
    """maximum steps of random play per simulation; later rewards are ignored"""

    def __post_init__(self) -> None:
        if self.simulations < 1 or self.depth < 0 or not 0 <= self.exploration < np.inf:
            raise LudusError(
                "search needs at least one simulation, a depth of 0 or more and a finite exploration of 0 or more, "
                f"not {self}"
            )

    def init(self, spec: Spec, key: Key) -> tuple[()]:
        check(spec)
        return ()

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> NoReturn:
        raise LudusError("search needs the states of the games, not only observations; use MCTS(...).at(pool)")

    def at(self, pool: AnyPool) -> Searcher:
        """The agent that searches from the present states of this pool, and never changes them."""
        if pool.compiled is None:
            raise LudusError(f"{pool.name} cannot be copied, so it cannot be searched; choose an agent without mcts")
        check(pool.spec)
        bind(pool.compiled.game)
        return Searcher(self, pool.compiled)


@dataclass(frozen=True)
class Searcher(Agent):
    """MCTS in the games of a pool; it acts on the newest step of the pool."""

    settings: MCTS
    pool: Pool

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Search every running game, on as many threads as the pool has; the result does not depend on how many.

        Rows with discount 0 have ended: they are not searched, and get any legal action. The value is the mean return
        of all simulations [N, P], the probability of an action its share of visits.
        """
        check_newest(self.pool, step)
        now = self.pool.step
        # Every row has its own seed, also rows that are not searched, so that rows do not depend on each other.
        seeds = row_seeds(key, step_rows(step))
        rows = np.flatnonzero(np.asarray(step.discount) != 0)
        with ThreadPoolExecutor(self.pool.threads, thread_name_prefix="ludus-search") as threads:
            found = list(threads.map(lambda row: search(self.pool, row, self.settings, int(seeds[row])), rows.tolist()))
        visits, value = np.zeros(now.mask.shape, np.int64), np.zeros(now.reward.shape)
        for row, one in zip(rows.tolist(), found, strict=True):
            visits[row], value[row] = one
        return _decision(visits, value, now), memory


def row_seeds(key: Key, rows: int) -> Array:
    """[rows] a seed for each row: the given ones, or independent ones drawn from one key."""
    if is_per_row(key):
        return np.asarray(key)
    return random.keys(int(np.random.default_rng(key).integers(2**63)), rows)


class Found(NamedTuple):
    """The result of the search of one row."""

    visits: Array
    """[A] number of simulations that began with this action"""
    value: Array
    """[P] mean return of each seat"""


def search(pool: Pool, row: int, settings: MCTS, seed: int) -> Found:
    """Search one row of a pool's step for the seat that acts there; all zeros for a game that has ended."""
    game, seat = row // pool.spec.views, int(pool.step.seat[row])
    kernel, count = bind(pool.game), settings.simulations
    if pool.states["status"][game] != PLAYING:
        return Found(np.zeros(kernel.ACTIONS, np.int64), np.zeros(kernel.SEATS))
    keys, copies = random.keys(seed, count + 1), new_rows(min(count, COPIES), pool.game.rules.STATE)
    nodes, arms, path, work = new_tree(kernel, count)
    work["key"] = keys[count]
    for start in range(0, count, COPIES):
        fresh = keys[start : min(start + COPIES, count)]
        pool.kernel.fork(pool.states, np.full(len(fresh), game), fresh, copies, seat)
        kernel.search(copies[: len(fresh)], nodes, arms, path, work, float(settings.exploration), settings.depth)
    tried = arms[_chain(arms, int(nodes["arms"][0]))]
    tried = tried[tried["seat"] == seat]
    return Found(np.bincount(tried["action"], tried["visits"], kernel.ACTIONS), work["total"][0] / count)


def new_tree(kernel: binding.Bound, simulations: int) -> tuple[Array, Array, Array, Array]:
    """Allocate nodes, arms, path and work for one search."""
    nodes, arms = new_rows(simulations + 1, kernel.NODE), new_rows(simulations * kernel.VIEWS + 1, kernel.ARM)
    return nodes, arms, new_rows(simulations, kernel.PLY), new_rows(1, kernel.WORK)


def bind(game: Game) -> binding.Bound:
    """The search of a game, compiled or loaded from the cache once per process."""
    with binding._lock:  # the folder of the compile cache is a setting of the whole process
        if game.rules not in _bound:
            name = f"ludus_search_{re.sub(binding.NOT_FOR_FILES, '_', game.name)[:80]}"
            _bound[game.rules] = binding.instantiate(TEMPLATE, name, rules=game.rules)
            _warm_up(game, _bound[game.rules])
        return _bound[game.rules]


def _warm_up(game: Game, kernel: binding.Bound) -> None:
    if compiling():
        with telling_first_time(f"search for {game.name}", kernel.CACHE / "complete"):
            kernel.search(new_rows(0, game.rules.STATE), *new_tree(kernel, 1), 1.0, 1)


def check(spec: Spec) -> None:
    """Raise LudusError for continuous actions."""
    if isinstance(spec.actions, Continuous):
        raise LudusError("search needs discrete actions, but these are continuous; use a trained agent instead")


def _chain(arms: Array, newest: int) -> list[int]:
    found = []
    while newest:
        found.append(newest)
        newest = int(arms["before"][newest])
    return found


def _decision(visits: Array, value: Array, step: Step) -> Decision:
    """The most visited legal action; any legal action if nothing was searched."""
    action = np.where(step.mask, visits, -1).argmax(axis=1)
    most, total = visits[np.arange(len(visits)), action], visits.sum(axis=1)
    share = np.where(total > 0, most / np.maximum(total, 1), 1.0)
    return Decision(action, np.log(share).astype(np.float32), value.astype(np.float32))
