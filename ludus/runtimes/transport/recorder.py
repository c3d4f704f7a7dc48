"""A tabular method that records transitions instead of learning.

It is bound into the compiled loop in place of Q-learning. Transitions are appended to `b.memory`; the field `count` of
its first record is their number.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ludus.dsl import part
from ludus.types import Array

RECORD = np.dtype(
    [("place", np.int64), ("next", np.int64), ("action", np.int64), ("reward", np.float64), ("sign", np.float64),
     ("count", np.int64)]
)  # fmt: skip


class Buffers(Protocol):
    """The arrays of a worker that a method may use."""

    memory: Array


@part
def backup(
    b: Buffers, desk: np.record, settings: np.record, actions: int, reward: float, place: int, action: int, best: float,
    sign: float, ended: bool, bits: int,
) -> None:  # fmt: skip
    record = b.memory[b.memory[0].count]
    record.place = desk.place
    record.next = place
    record.action = desk.action
    record.reward = reward
    record.sign = sign
    b.memory[0].count += 1
