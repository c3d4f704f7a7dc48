"""Sizes of a world model and how it plans: plain data, so that reading settings fetches nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ludus.types import LudusError


@dataclass(frozen=True)
class WorldModelArgs:
    """The networks: hidden widths, the latent between them, and how many critics there are."""

    encoder: int = 64
    """width of the layer between observation and latent"""
    latent: int = 32
    """numbers of a latent"""
    group: int = 8
    """neighbouring numbers of a latent that are shares of one whole (SimNorm)"""
    dynamics: int = 64
    """width of the layer between latent with action and next latent"""
    reward: int = 32
    """width of the layer between latent and reward, and between latent and whether the game goes on"""
    decoder: int = 64
    """width of the layer between latent and observation"""
    actor: tuple[int, ...] = (64, 32)
    """widths of the layers between latent and action"""
    critic: tuple[int, ...] = (64, 64)
    """widths of the layers between latent with action and its worth"""
    critics: int = 2
    """how many judge an action; the least hopeful of two of them counts"""

    def __post_init__(self) -> None:
        for field in fields(self):
            sizes = getattr(self, field.name)
            if not sizes if isinstance(sizes, tuple) else sizes < 1:
                raise LudusError(f"{field.name} of a world model is 1 or more, not {sizes}")
            if isinstance(sizes, tuple) and min(sizes) < 1:
                raise LudusError(f"{field.name} of a world model has widths of 1 or more, not {sizes}")
        if self.latent % self.group:
            raise LudusError(f"a latent of {self.latent} numbers has no whole groups of {self.group}; change either")


@dataclass(frozen=True)
class PlanArgs:
    """Planning by model predictive path integrals: how far, how often and how many futures are imagined."""

    horizon: int = 6
    """steps of an imagined future"""
    samples: int = 96
    """futures that are imagined at once, around the best ones so far"""
    proposals: int = 16
    """futures besides that follow the actor"""
    elites: int = 16
    """best futures that the next ones are imagined around"""
    rounds: int = 4
    """how often that is done for one action"""
    temperature: float = 0.1
    """how evenly the elites count, in deviations of their worth: near 0 the best alone does"""
    least: float = 0.05
    """the least deviation of imagined actions, of 1 being as far as they go"""
    most: float = 1.0
    """the deviation that they begin with"""
    hope: float = 2.0
    """how many deviations between its critics a future is worth more, while it learns: nobody stands still for fear
    where it is not yet known what comes"""

    def __post_init__(self) -> None:
        for name in ("horizon", "samples", "elites", "rounds"):
            if getattr(self, name) < 1:
                raise LudusError(f"{name} of a plan is 1 or more, not {getattr(self, name)}")
        if self.proposals < 0 or self.elites > self.samples + self.proposals:
            raise LudusError(
                f"{self.elites} elites cannot be taken from {self.samples} samples and {self.proposals} proposals"
            )
        if self.hope < 0:
            raise LudusError(f"hope of a plan is 0 or more, not {self.hope:g}")
        if not (self.temperature > 0 and 0 <= self.least <= self.most):
            raise LudusError("a plan wants a temperature above 0, and 0 <= least <= most")
