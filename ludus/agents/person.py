"""A person as a player: whoever answers when asked for a move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ludus.bridges import AnyPool
from ludus.types import Continuous, Decision, LudusError, Spec, Step, step_rows

NAME = "person"
"""what a person is called among the agents"""


class Left(Exception):  # noqa: N818  (leaving is no error)
    """The person does not want to go on."""


@dataclass(frozen=True)
class Person:
    """Asked move by move; `at(pool)` is the player of the one game in that pool."""

    choose: Callable[[AnyPool], int]
    """shows the game and answers with a legal action, or raises `Left`"""
    pool: AnyPool | None = None

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        check(spec)
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def at(self, pool: AnyPool) -> Person:
        check(pool.spec)
        return replace(self, pool=pool)

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        if self.pool is None or step_rows(step) != 1:
            raise LudusError("a person plays one game at a time and wants to see it; use Person(...).at(pool of one)")
        action = np.array([self.choose(self.pool)])
        return Decision(action, np.zeros(1, np.float32), np.zeros(step.reward.shape, np.float32)), memory


def check(spec: Spec) -> None:
    """Refuse what nobody can type."""
    if isinstance(spec.actions, Continuous) or spec.turns == "simultaneous":
        raise LudusError(
            "a person cannot play this game here: its moves are not taken in turn from a list; let agents battle"
        )
