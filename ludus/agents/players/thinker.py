"""Players in compiled code that read the states of games, from copies in which hidden information is redealt."""

from __future__ import annotations

import functools
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import NoReturn

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params, PoolAgent
from ludus.dsl.cache import telling_first_time
from ludus.dsl.rows import new_rows
from ludus.pool import AnyPool, Pool
from ludus.pool.actions import is_per_row
from ludus.pool.binding import instantiate
from ludus.types import Array, Decision, DType, LudusError, Step

KERNEL = pathlib.Path(__file__).with_name("thinker_kernel.py")


@dataclass(frozen=True)
class Thinker(PoolAgent):
    """Chooses by compiled rules; `at(pool)` is the player of the games in that pool."""

    player: str
    """the name of the imported module with the rule `choose(state, work)`, which gives an action"""
    work: DType
    """the record that it uses as working memory, one for each game"""
    simulates: bool = False
    """whether it searches, so that it waits for compiled rules"""

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> NoReturn:
        raise LudusError("this player needs the states of the games, not only observations; use agent.at(pool)")

    def at(self, pool: AnyPool) -> ThinkerAt:
        games = pool.compiled
        if games is None:
            raise LudusError(f"{pool.name} cannot be copied, which this player needs; choose another agent")
        kernel, work = bound(self.player), new_rows(pool.rows, self.work)
        with telling_first_time(f"a player of {pool.name}", kernel.CACHE / "player.compiled"):
            kernel.decide(games.states[:0], work[:0], np.zeros(0, np.int64), 0, 0)
        return ThinkerAt(kernel.decide, games, work)


@functools.cache
def bound(player: str) -> ModuleType:
    """The loop with a player's rules in it."""
    return instantiate(KERNEL, f"ludus_thinker_{player.replace('.', '_')}", player=sys.modules[player])


@dataclass(frozen=True, eq=False)
class ThinkerAt(Agent):
    """A thinker in the games of a pool; it acts on the newest step of the pool."""

    decide: Callable[[Array, Array, Array, int, int], None]
    """(states, work, actions, low, high): write an action for each of the states low .. high-1"""
    pool: Pool
    work: Array

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        rows = self.pool.rows
        seed = np.asarray(key).tolist() if is_per_row(key) else int(np.random.default_rng(key).integers(2**62))
        copies = self.pool.fork(range(rows), seed, seat=0).states
        actions = np.zeros(rows, np.int64)
        part = functools.partial(self.decide, copies, self.work, actions)
        self.pool.in_threads(part, min(self.pool.threads, rows))
        return Decision(actions, np.zeros(rows, np.float32), np.zeros(step.reward.shape, np.float32)), memory
