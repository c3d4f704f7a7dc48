"""CartPole by a linear rule: push in the direction in which the pole falls, with a slight pull to the middle."""

from __future__ import annotations

import numpy as np

from ludus.agents.players.scripted import Scripted
from ludus.agents.protocol import Key
from ludus.types import Array, Step

WEIGHTS = np.array([0.3, 0.6, 6.0, 1.4])


def choose(step: Step, key: Key) -> Array:
    return (step.observation["motion"] @ WEIGHTS > 0).astype(np.int64)


AGENT = Scripted(choose)
