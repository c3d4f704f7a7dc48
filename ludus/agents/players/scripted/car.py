"""A rule-based driver: steers to the side with more room, and drives as fast as the road ahead allows."""

from __future__ import annotations

import numpy as np

from ludus.agents.players.scripted import Scripted
from ludus.agents.protocol import Key
from ludus.types import Array, Step

NEAR_SIDE, FAR_SIDE = 2.0, 3.0
"""weights of the rays at 45 and at 22.5 degrees"""


def choose(step: Step, key: Key) -> Array:
    left, half_left, ahead, half_right, right, speed = np.moveaxis(step.observation["sensors"], -1, 0)
    steering = NEAR_SIDE * (right - left) + FAR_SIDE * (half_right - half_left)
    # Near an obstacle both sides look alike, so a small difference must have a large effect.
    steering = steering / np.clip(ahead * 1.5, 0.15, 1.0)
    wanted = np.clip(1.1 * ahead, 0.25, 0.9)
    return np.stack([np.clip(steering, -1, 1), np.clip(8 * (wanted - speed), -1, 1)], axis=-1)


AGENT = Scripted(choose)
