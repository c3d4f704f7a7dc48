"""Players that look at the games themselves, in compiled code: on copies in which all that is hidden was dealt anew."""

from __future__ import annotations

import functools
import importlib
import pathlib
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ludus.pool import Pool
from ludus.pool.binding import instantiate
from ludus.types import Array, Decision, LudusError, Spec, Step
from ludus.words.cache import telling_first_time
from ludus.words.rows import new_rows

KERNEL = pathlib.Path(__file__).with_name("thinking_kernel.py")


@dataclass(frozen=True)
class Thinker:
    """Chooses by compiled rules; `at(pool)` is the player of the games in that pool."""

    player: str
    """the module with the rule `choose(state, work)`, which gives an action"""
    work: Any
    """the record that it uses as its own memory, one for each game"""

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> NoReturn:
        raise LudusError("this player needs the games themselves, not only what is seen of them; use agent.at(pool)")

    def at(self, pool: Any) -> ThinkerAt:
        if not isinstance(pool, Pool):
            raise LudusError(f"{pool.name} cannot be copied, so this player cannot think about it")
        kernel, work = bound(self.player), new_rows(pool.rows, self.work)
        with telling_first_time(f"a player of {pool.name}", kernel.CACHE / "player.compiled"):
            kernel.decide(pool.states[:0], work[:0], np.zeros(0, np.int64), 0, 0)
        return ThinkerAt(kernel.decide, pool, work)


@functools.cache
def bound(player: str) -> Any:
    """The loop with a player's rules in it."""
    return instantiate(KERNEL, f"ludus_thinker_{player.replace('.', '_')}", player=importlib.import_module(player))


@dataclass(frozen=True)
class ThinkerAt:
    """A thinker at a pool: an agent like any other, for the steps of this pool."""

    decide: Any
    """(states, work, actions, low, high): write an action for each of the states low .. high-1"""
    pool: Pool
    work: Array

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        rows = self.pool.rows
        copies = self.pool.fork(range(rows), int(np.random.default_rng(key).integers(2**62)), seat=0).states
        actions = np.zeros(rows, np.int64)
        part = functools.partial(self.decide, copies, self.work, actions)
        self.pool.in_threads(part, min(self.pool.threads, rows))
        return Decision(actions, np.zeros(rows, np.float32), np.zeros(step.reward.shape, np.float32)), memory
