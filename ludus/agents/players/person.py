"""A person as a player: every move is requested from a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ludus.agents.protocol import Key, Memory, Params, PoolAgent
from ludus.bridges import AnyPool
from ludus.types import Continuous, Decision, LudusError, Spec, Step, step_rows

NAME = "person"
"""the name of a person among the agents"""


class Left(Exception):  # noqa: N818  (leaving is not an error)
    """The person stops playing."""


@dataclass(frozen=True)
class Person(PoolAgent):
    """A person; `at(pool)` is the player of the single game in that pool."""

    choose: Callable[[AnyPool], int]
    """shows the game and returns a legal action, or raises `Left`"""
    pool: AnyPool | None = None

    def init(self, spec: Spec, key: Key) -> tuple[()]:
        check(spec)
        return ()

    def at(self, pool: AnyPool) -> Person:
        check(pool.spec)
        return replace(self, pool=pool)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        if self.pool is None or step_rows(step) != 1:
            raise LudusError(
                "a person plays one game at a time, which must be in a pool of one row; use Person(...).at(pool)"
            )
        action = np.array([self.choose(self.pool)])
        return Decision(action, np.zeros(1, np.float32), np.zeros(step.reward.shape, np.float32)), memory


def check(spec: Spec) -> None:
    """Raise LudusError for games whose moves cannot be typed one by one."""
    if isinstance(spec.actions, Continuous) or spec.turns == "simultaneous":
        raise LudusError(
            "a person cannot play this game here, which needs discrete moves and alternating turns; let agents battle"
        )
