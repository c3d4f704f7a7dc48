"""Players that always take the first legal action: a baseline that any trained agent must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.types import Decision, Step


@dataclass(frozen=True)
class FirstAgent(Agent):
    """The first legal action of every step."""

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        rows = len(step.seat)
        value = np.zeros(step.reward.shape, np.float32)
        return Decision(step.mask.argmax(axis=1).astype(np.int64), np.zeros(rows, np.float32), value), memory
