"""PPO with another clipping range: an algorithm that inherits everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from ludus.algorithms.ppo import PPO


@dataclass(frozen=True)
class BoldPPO(PPO):
    """The settings of a run with bold PPO."""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "bold_ppo"
    """name of the algorithm"""
    clip_coef: float = 0.4
    """clipping range of the probability ratio; above 0"""


ALGORITHM = BoldPPO
