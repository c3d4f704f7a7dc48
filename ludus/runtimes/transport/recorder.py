"""A method that learns nothing and writes down everything: what is played becomes a list of transitions.

It is bound into the compiled loop in place of Q-learning; `b.memory` is the list, whose first record counts them all.
"""

from typing import Any

import numpy as np

from ludus.dsl import part

RECORD = np.dtype(
    [("place", np.int64), ("next", np.int64), ("action", np.int64), ("reward", np.float64), ("sign", np.float64),
     ("count", np.int64)]
)  # fmt: skip


@part
def backup(
    b: Any, desk: Any, settings: Any, actions: Any, reward: Any, place: Any, action: Any, best: Any, sign: Any,
    ended: Any, bits: Any,
) -> None:  # fmt: skip
    record = b.memory[b.memory[0].count]
    record.place = desk.place
    record.next = place
    record.action = desk.action
    record.reward = reward
    record.sign = sign
    b.memory[0].count += 1
