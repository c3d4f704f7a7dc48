"""Monte Carlo tree search (UCT, Kocsis and Szepesvári 2006; open loop) for every native game with discrete actions.

Each simulation plays in its own copy of the game, re-keyed and dealt anew by the pool's `fork`: the search never holds
the real game, so it can see neither the dice to come nor what its seat may not know.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ludus.agents.search import check_newest
from ludus.games import Game
from ludus.pool import Pool, binding
from ludus.types import Array, Continuous, Decision, LudusError, Spec, Step, step_rows
from ludus.words import PLAYING, random
from ludus.words.cache import telling_first_time
from ludus.words.rows import compiling, new_rows

TEMPLATE = Path(__file__).with_name("kernel.py")
COPIES = 256
"""games copied at a time, so that many simulations of a game with a large state fit into memory"""
_bound: dict[ModuleType, binding.Bound] = {}


@dataclass(frozen=True)
class MCTS:
    """Plays what a tree of simulated games visits most; `at(pool)` is the player of the games in that pool."""

    simulations: int = 400
    """games played in thought before each move"""
    exploration: float = 1.4
    """how much a seldom tried action counts, measured by the spread of the returns seen"""
    depth: int = 1000
    """steps of random play after which a simulation is broken off; what would come later counts nothing"""

    def __post_init__(self) -> None:
        if self.simulations < 1 or self.depth < 0 or not 0 <= self.exploration < np.inf:
            raise LudusError(
                "search wants at least one simulation, a depth of 0 or more and a finite exploration of 0 or more, "
                f"not {self}"
            )

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        check(spec)
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> NoReturn:
        raise LudusError("search needs the games themselves, not only what is seen of them; use MCTS(...).at(pool)")

    def at(self, pool: Any) -> Searcher:
        """The agent that searches from the present states of this pool, and never changes them."""
        if not isinstance(pool, Pool):
            raise LudusError(f"{pool.name} cannot be copied, so it cannot be searched; search plays native games only")
        check(pool.spec)
        bind(pool.game)
        return Searcher(self, pool)


@dataclass(frozen=True)
class Searcher:
    """MCTS at a pool: an agent like any other, for the steps of this pool."""

    settings: MCTS
    pool: Pool

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        """Search every running game, on as many threads as the pool has; the result does not depend on how many.

        Rows whose discount is 0 are not searched: nothing is decided there, and the answer is any legal action.
        The value is the mean return of all simulations [N, P], the probability of an action its share of the visits.
        """
        check_newest(self.pool, step)
        now = self.pool.step
        # Every row has dice of its own, also where nothing is searched: what a row finds depends on no other.
        seeds = random.keys(int(np.random.default_rng(key).integers(2**63)), step_rows(step)).tolist()
        rows = np.flatnonzero(np.asarray(step.discount) != 0)
        with ThreadPoolExecutor(self.pool.threads, thread_name_prefix="ludus-search") as threads:
            found = list(threads.map(lambda row: search(self.pool, row, self.settings, seeds[row]), rows.tolist()))
        visits, value = np.zeros(now.mask.shape, np.int64), np.zeros(now.reward.shape)
        for row, one in zip(rows.tolist(), found, strict=True):
            visits[row], value[row] = one
        return _decision(visits, value, now), memory


class Found(NamedTuple):
    """What a search of one row found."""

    visits: Array
    """[A] simulations that began with this action"""
    value: Array
    """[P] mean return to each seat"""


def search(pool: Pool, row: int, settings: MCTS, seed: int) -> Found:
    """Search one row of a pool's step for the seat that acts there; of a game that has ended nothing is found."""
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
    """Nodes, arms, path and work for one search: all the memory it will ever need."""
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
    """Refuse what a tree of numbered actions cannot hold."""
    if isinstance(spec.actions, Continuous):
        raise LudusError("search wants numbered actions, and here they are continuous; use a learned agent instead")


def _chain(arms: Array, newest: int) -> list[int]:
    found = []
    while newest:
        found.append(newest)
        newest = int(arms["before"][newest])
    return found


def _decision(visits: Array, value: Array, step: Step) -> Decision:
    """The action visited most among the legal ones; where nothing was searched, any."""
    action = np.where(step.mask, visits, -1).argmax(axis=1)
    most, total = visits[np.arange(len(visits)), action], visits.sum(axis=1)
    share = np.where(total > 0, most / np.maximum(total, 1), 1.0)
    return Decision(action, np.log(share).astype(np.float32), value.astype(np.float32))
