"""Players written by hand: good enough to watch, to measure by, and to show what a game is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.types import Array, Decision, Spec, Step


@dataclass(frozen=True)
class Scripted:
    """An agent without memory or anything learned: a plain function from a step to actions [N] or [N, k]."""

    choose: Any
    """(step, seed) -> actions"""

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        action = self.choose(step, key)
        rows = len(step.seat)
        return Decision(action, np.zeros(rows, np.float32), np.zeros(step.reward.shape, np.float32)), memory


def any_of(allowed: Array, seed: int) -> Array:
    """One of the allowed actions [N, A] in each row, at random."""
    return (np.random.default_rng(seed).random(allowed.shape) * allowed).argmax(axis=1)
