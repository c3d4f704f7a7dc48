"""The random player: any legal action, each as likely as the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.agents.scripted import any_of
from ludus.types import Continuous, Decision, Spec, Step


@dataclass(frozen=True)
class RandomAgent:
    """Uniform over the mask, or over the ranges of a continuous action."""

    def init(self, spec: Spec, key: Any) -> Spec:
        return spec

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Spec, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        rows = len(step.seat)
        value = np.zeros(step.reward.shape, np.float32)
        if isinstance(params.actions, Continuous):
            low, high = np.array(params.actions.low), np.array(params.actions.high)
            action = np.random.default_rng(key).uniform(low, high, (rows, len(low)))
            return Decision(action, np.full(rows, -np.log(high - low).sum(), np.float32), value), memory
        log_prob = -np.log(step.mask.sum(axis=1)).astype(np.float32)
        return Decision(any_of(step.mask, key), log_prob, value), memory


AGENT = RandomAgent()
