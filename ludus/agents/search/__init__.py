"""Agents that search: they play copies of the game with other random numbers and redealt hidden information."""

from __future__ import annotations

import numpy as np

from ludus.pool import Pool
from ludus.types import LudusError, Step, step_rows


def check_newest(pool: Pool, step: Step) -> None:
    """Raise LudusError if a step is not the newest step of the pool, because other states would be searched."""
    if step_rows(step) != step_rows(pool.step) or not np.array_equal(step.mask, pool.step.mask):
        raise LudusError("this step is not the newest of the pool that is searched; pass pool.step to act")
