"""Hand-written players, which serve as examples, baselines and demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.types import Array, Decision, Step


@dataclass(frozen=True)
class Scripted(Agent):
    """An agent without memory or anything learned: a plain function from a step to actions [N] or [N, k]."""

    choose: Callable[[Step, Key], Array]
    """(step, key) -> actions"""
    simulates: bool = False
    """whether it searches, so that it waits for compiled rules"""

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        action = self.choose(step, key)
        rows = len(step.seat)
        return Decision(action, np.zeros(rows, np.float32), np.zeros(step.reward.shape, np.float32)), memory
