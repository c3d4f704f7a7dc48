"""The random player: any legal action, each as likely as the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.pool.actions import random_actions
from ludus.types import Continuous, Decision, Spec, Step


@dataclass(frozen=True)
class RandomAgent:
    """Uniform over the mask, or over the ranges of a continuous action."""

    def init(self, spec: Spec, key: Any) -> Spec:
        return spec

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Spec, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        action = random_actions(np.random.default_rng(key), params, step.mask)
        if isinstance(params.actions, Continuous):
            choices = np.full(len(action), np.prod(np.subtract(params.actions.high, params.actions.low)))
        else:
            choices = step.mask.sum(axis=1)
        value = np.zeros(step.reward.shape, np.float32)
        return Decision(action, -np.log(choices).astype(np.float32), value), memory


AGENT = RandomAgent()
