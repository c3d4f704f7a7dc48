"""Players that always take the first action that is legal: who cannot beat them has learned nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.types import Decision, Spec, Step


@dataclass(frozen=True)
class FirstAgent:
    """The first legal action of every step."""

    def init(self, spec: Spec, key: Any) -> tuple[()]:
        return ()

    def memory(self, rows: int) -> tuple[()]:
        return ()

    def act(self, params: Any, memory: Any, step: Step, key: Any) -> tuple[Decision, Any]:
        rows = len(step.seat)
        value = np.zeros(step.reward.shape, np.float32)
        return Decision(step.mask.argmax(axis=1).astype(np.int64), np.zeros(rows, np.float32), value), memory
