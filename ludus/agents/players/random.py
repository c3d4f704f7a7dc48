"""The random player: all legal actions are equally likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory
from ludus.pool.actions import random_actions
from ludus.types import Continuous, Decision, Spec, Step


@dataclass(frozen=True)
class RandomAgent(Agent):
    """Uniform over the mask, or over the ranges of a continuous action."""

    def init(self, spec: Spec, key: Key) -> Spec:
        return spec

    def act(self, params: Spec, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        action = random_actions(key, params, step.mask)
        if isinstance(params.actions, Continuous):
            choices = np.full(len(action), np.prod(np.subtract(params.actions.high, params.actions.low)))
        else:
            choices = step.mask.sum(axis=1)
        value = np.zeros(step.reward.shape, np.float32)
        return Decision(action, -np.log(choices).astype(np.float32), value), memory


AGENT = RandomAgent()
