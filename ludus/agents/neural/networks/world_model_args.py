"""Sizes of the networks of a world model and settings of its planner: plain data, so that reading it imports no JAX."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from ludus.types import LudusError


@dataclass(frozen=True)
class WorldModelArgs:
    """Sizes of the networks of a world model."""

    RENAMED: ClassVar[dict[str, str]] = {
        "encoder": "encoder_dim", "latent": "latent_dim", "group": "simnorm_dim", "dynamics": "dynamics_dim",
        "reward": "reward_dim", "decoder": "decoder_dim", "actor": "actor_dims", "critic": "critic_dims",
        "critics": "num_critics",
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    encoder_dim: int = 64
    """hidden units of the encoder (observation to latent); 1 or more"""
    latent_dim: int = 32
    """size of the latent state; a multiple of simnorm_dim"""
    simnorm_dim: int = 8
    """size of the groups of the latent that SimNorm normalises by a softmax; 1 or more"""
    dynamics_dim: int = 64
    """hidden units of the dynamics (latent and action to next latent); 1 or more"""
    reward_dim: int = 32
    """hidden units of the reward head and of the continue head; 1 or more"""
    decoder_dim: int = 64
    """hidden units of the decoder (latent to observation); 1 or more"""
    actor_dims: tuple[int, ...] = (64, 32)
    """hidden units of each layer of the actor (latent to action); 1 or more each"""
    critic_dims: tuple[int, ...] = (64, 64)
    """hidden units of each layer of a critic (latent and action to Q value); 1 or more each"""
    num_critics: int = 2
    """number of critics; targets use the minimum of all of them; 1 or more"""

    def __post_init__(self) -> None:
        for field in fields(self):
            size = getattr(self, field.name)
            if not size if isinstance(size, tuple) else size < 1:
                raise LudusError(f"{field.name} of a world model must be 1 or more, not {size}")
            if isinstance(size, tuple) and min(size) < 1:
                raise LudusError(f"every size in {field.name} of a world model must be 1 or more, not {size}")
        if self.latent_dim % self.simnorm_dim:
            raise LudusError(
                f"latent_dim must be a multiple of simnorm_dim; {self.latent_dim} is not a multiple of"
                f" {self.simnorm_dim}"
            )


@dataclass(frozen=True)
class PlannerArgs:
    """Settings of the MPPI planner (model predictive path integral control)."""

    RENAMED: ClassVar[dict[str, str]] = {
        "samples": "num_samples", "proposals": "num_pi_trajs", "elites": "num_elites", "rounds": "iterations",
        "least": "min_std", "most": "max_std", "hope": "optimism",
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    horizon: int = 6
    """planning horizon in steps; 1 or more"""
    num_samples: int = 96
    """action sequences sampled from the Gaussian in each iteration; 1 or more"""
    num_pi_trajs: int = 16
    """action sequences proposed by the actor, added to the samples of each iteration; 0 or more"""
    num_elites: int = 16
    """best action sequences that the Gaussian is refitted to; 1 to num_samples + num_pi_trajs"""
    iterations: int = 4
    """MPPI iterations per decision; 1 or more"""
    temperature: float = 0.1
    """softmax temperature of the elite weights, in standard deviations of the elite values; above 0"""
    min_std: float = 0.05
    """smallest standard deviation of sampled actions, which range from -1 to 1; 0 to max_std"""
    max_std: float = 1.0
    """initial and largest standard deviation of sampled actions, which range from -1 to 1; min_std or more"""
    optimism: float = 2.0
    """critic standard deviations added to the terminal value of a plan while training; 0 or more"""

    def __post_init__(self) -> None:
        for name in ("horizon", "num_samples", "num_elites", "iterations"):
            if getattr(self, name) < 1:
                raise LudusError(f"{name} of the planner must be 1 or more, not {getattr(self, name)}")
        if self.num_pi_trajs < 0 or self.num_elites > self.num_samples + self.num_pi_trajs:
            raise LudusError(
                f"num_elites must be at most num_samples + num_pi_trajs; {self.num_elites} elites cannot be chosen"
                f" from {self.num_samples} + {self.num_pi_trajs} sequences"
            )
        if self.optimism < 0:
            raise LudusError(f"optimism of the planner must be 0 or more, not {self.optimism:g}")
        if not self.temperature > 0:
            raise LudusError(f"temperature of the planner must be above 0, not {self.temperature:g}")
        if not 0 <= self.min_std <= self.max_std:
            raise LudusError(f"the planner needs 0 <= min_std <= max_std, not {self.min_std:g} and {self.max_std:g}")
