"""Agents that look ahead: they play the game on, in copies that know neither its dice nor its hidden cards."""

from __future__ import annotations

import numpy as np

from ludus.pool import Pool
from ludus.types import LudusError, Step, step_rows


def check_newest(pool: Pool, step: Step) -> None:
    """A sentence where a step is not what the games of the pool show now: something else would be searched."""
    if step_rows(step) != step_rows(pool.step) or not np.array_equal(step.mask, pool.step.mask):
        raise LudusError("this step is not the newest of the pool that is searched; give pool.step to act")
