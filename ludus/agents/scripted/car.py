"""A driver by rule: steer to the side with more room, and be as fast as the road ahead allows."""

from __future__ import annotations

import numpy as np

from ludus.agents.scripted import Scripted
from ludus.types import Array, Step

NEAR_SIDE, FAR_SIDE = 2.0, 3.0
"""how much the rays at 45 and at 22.5 degrees count"""


def choose(step: Step, seed: int) -> Array:
    left, half_left, ahead, half_right, right, speed = np.moveaxis(step.observation["sensors"], -1, 0)
    steering = NEAR_SIDE * (right - left) + FAR_SIDE * (half_right - half_left)
    # An obstacle dead ahead leaves both sides alike: then even a small difference must turn the wheel.
    steering = steering / np.clip(ahead * 1.5, 0.15, 1.0)
    wanted = np.clip(1.1 * ahead, 0.25, 0.9)
    return np.stack([np.clip(steering, -1, 1), np.clip(8 * (wanted - speed), -1, 1)], axis=-1)


AGENT = Scripted(choose)
