"""A world model: learn how the game goes on, then learn and plan in imagination, where steps cost nothing.

Here are the settings, which fetch nothing heavy; `learning.py` is the method, `objective.py` what it makes small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import tyro

from ludus import schedules
from ludus.agents.networks.world_model_args import PlanArgs, WorldModelArgs
from ludus.types import LudusError, Rollout

SCHEDULES = ("learning_rate", "ends", "exploration", "planning")
SHARES = ("discount", "trace", "fading", "calm", "slowness", "drift")
AMOUNTS = (
    "warmup", "consistency_weight", "reward_weight", "reconstruction_weight", "value_weight", "smoothing", "leaning",
)  # fmt: skip


@dataclass(frozen=True)
class WorldModelSettings:
    """The settings of a run with a world model."""

    CRAFT: ClassVar[str] = "ludus.algorithms.world_model.craft"
    DEEP: ClassVar[bool] = True
    DEMONSTRATIONS: ClassVar[bool] = True
    """what others played is learned from too"""
    RUN: ClassVar[dict[str, Any]] = {"runtime": "local", "rows": 1, "steps": 10_000, "games": 16, "evaluations": 20}
    """what a run of it begins with, where nothing else is said"""
    opponents: ClassVar[tuple[str, ...]] = ("self",)
    past_every: ClassVar[int] = 1
    past_kept: ClassVar[int] = 1
    actor_devices: ClassVar[int] = 0
    """what actors ask of every deep algorithm; here nobody sits opposite"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "world_model"
    """the name of the algorithm"""
    sizes: WorldModelArgs = field(default_factory=WorldModelArgs)
    """of the networks"""
    plan: PlanArgs = field(default_factory=PlanArgs)
    """how futures are imagined before an action is taken"""

    length: int = 16
    """steps of a rollout, in every row, between two updates"""
    replay: int = 20_000
    """the last steps that are learned from"""
    warmup: int = 1000
    """first steps, which are noise alone: whoever learns from less learns to be afraid"""
    ratio: float = 1.0
    """gradients that are followed for each step played"""
    batch: int = 64
    """sequences of a gradient"""
    mirror: bool = True
    """whether half of them are seen in a mirror, where the game says how it looks there"""
    horizon: int = 10
    """steps of a sequence, over which the model must predict without looking"""
    imagination: int = 5
    """steps that the actor imagines to learn what its actions lead to"""
    ends: str = "linear(0, 4, 2000)"
    """how much more often sequences are drawn in which a game ends, which is rare and dear: a number or a schedule;
    whoever sees little else at first learns to be afraid"""
    learning_rate: str = "linear(0.001, 0.0002, 10000)"
    """of Adam: a number, or a schedule over steps like linear(0.001, 0.0001, 10000)"""
    max_gradient: float = 10.0
    """the longest gradient that is followed; a longer one is shortened"""
    discount: float = 0.98
    """γ: what a step later is worth"""
    trace: float = 0.2
    """λ: how much critics learn from what was played next, against what they think of it; what was played went astray,
    so whoever learns much from that learns to be afraid"""
    reward_scale: float = 1.0
    """rewards are learned times this; worths should be of the order of 1 to 100"""
    fading: float = 0.85
    """ρ: what an error one step further into a sequence counts"""
    smoothing: float = 0.25
    """the deviation of noise on imagined actions, which makes what only just goes well worth less"""
    leaning: float = 0.001
    """what actions cost that lean far to one side, from where no gradient leads back"""
    calm: float = 0.998
    """what is left, at each gradient, of the averaged parameters that play in earnest"""
    slowness: float = 0.97
    """what is left of the slow critics at each gradient; the rest is the newest critics'"""
    consistency_weight: float = 0.5
    """of latents that are imagined other than they are seen a step later"""
    reward_weight: float = 1.0
    """of errors in what is paid, and in whether the game goes on"""
    reconstruction_weight: float = 5.0
    """of errors in what is seen"""
    value_weight: float = 0.1
    """of the critics' errors"""

    exploration: str = "linear(0.6, 0.1, 2000)"
    """the deviation of the noise on actions, of 1 being as far as they go: a number or a schedule over steps"""
    drift: float = 0.9
    """how much of that noise stays for the next action: noise that lasts leads where nothing else does"""
    planning: str = "linear(1, 0, 10000)"
    """the share of decisions that are planned, the others are the actor's: a number or a schedule over steps"""
    plan_in_earnest: bool = False
    """whether scores are taken with planning, instead of by the actor alone"""

    def __post_init__(self) -> None:
        for name in SCHEDULES:
            schedules.parse(getattr(self, name))
        for name in ("length", "replay", "batch", "horizon", "imagination"):
            if getattr(self, name) < 1:
                raise LudusError(f"{name} is 1 or more, not {getattr(self, name)}")
        for name in SHARES:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise LudusError(f"{name} lies between 0 and 1; {getattr(self, name):g} does not")
        for name in AMOUNTS:
            if not getattr(self, name) >= 0:
                raise LudusError(f"{name} is 0 or more, not {getattr(self, name):g}")
        for name in ("ratio", "max_gradient", "reward_scale"):
            if not getattr(self, name) > 0:
                raise LudusError(f"{name} is above 0, not {getattr(self, name):g}")
        if self.horizon > self.length:
            raise LudusError(f"a sequence of {self.horizon} steps needs rollouts as long, not of {self.length}")

    def batches(self, rollouts: Iterator[Rollout]) -> Iterator[Rollout]:
        return rollouts

    def update(self, agent: Any, learner: Any, rollout: Rollout) -> tuple[Any, dict[str, float]]:
        """Learn from a rollout and from those before it; see `learning.py`."""
        from ludus.algorithms.world_model import learning

        return learning.update(self, agent, learner, rollout)

    def rates(self, steps: int) -> dict[str, float]:
        """What the schedules say after so many steps; nothing is planned before anything is learned."""
        rates = {name: schedules.parse(getattr(self, name))(float(steps)) for name in SCHEDULES}
        return rates if steps >= self.warmup else rates | {"planning": 0.0}
