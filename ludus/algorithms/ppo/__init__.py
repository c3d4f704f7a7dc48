"""Proximal policy optimisation: an actor and a critic learn from rollouts that were just played.

Here are the settings, which fetch nothing heavy; `learning.py` is the method, `objective.py` what it makes small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import tyro

from ludus import schedules
from ludus.agents.networks.arguments import MLPArgs, ModelArgs
from ludus.types import LudusError, Rollout


@dataclass(frozen=True)
class PPO:
    """The settings of a run with PPO."""

    CRAFT: ClassVar[str] = "ludus.algorithms.ppo.craft"
    DEEP: ClassVar[bool] = True
    RUN: ClassVar[dict[str, Any]] = {"runtime": "threads", "rows": 512, "steps": 2_000_000}
    """what a run of it begins with, where nothing else is said"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "ppo"
    """the name of the algorithm"""
    agent: Literal["mlp", "rnn"] = "mlp"
    """who learns: a plain network, or an encoder, a transformer and a memory"""
    mlp: MLPArgs = field(default_factory=MLPArgs)
    """the network of agent=mlp"""
    model: ModelArgs = field(default_factory=ModelArgs)
    """the network of agent=rnn"""
    bfloat16: bool = False
    """whether networks reckon in 16 bits; parameters and losses stay in 32"""

    length: int = 128
    """steps of a rollout, in every row"""
    epochs: int = 4
    """how often a rollout is learned from"""
    minibatches: int = 4
    """parts of the rows that each epoch learns from, one after the other; sequences stay whole"""
    pieces: int = 1
    """parts of a minibatch that are reckoned one after the other, on each device: the same gradient in less memory"""
    learning_rate: str = "0.0003"
    """of Adam: a number, or a schedule over steps like linear(0.001, 0, 2000000)"""
    max_gradient: float = 0.5
    """the longest gradient that is followed; a longer one is shortened"""

    discount: float = 0.99
    """what a step later is worth"""
    trace: float = 0.95
    """λ: how far an advantage looks beyond the critic's next word"""
    own_chain: bool = False
    """whether advantages run from one own decision to the next, and the critic learns at these alone: for games against
    others who play otherwise, or know what is hidden"""
    target: Literal["gae", "vtrace"] = "gae"
    """what the critic learns; vtrace weighs what older parameters did by how likely it is now"""
    refresh: bool = True
    """whether the newest parameters say anew, before an update, how likely and how good all was that older ones did"""
    recompute: bool = False
    """whether advantages are reckoned anew, with the newest parameters, in every minibatch; always so with vtrace"""
    rho_clip: float = 1.0
    """ρ̄ of vtrace"""
    c_clip: float = 1.0
    """c̄ of vtrace"""
    upgo: bool = False
    """whether moves that turned out well are pushed by their upgoing return besides"""
    normalise: bool = True
    """whether advantages are brought to mean 0 and deviation 1"""

    clip: float = 0.2
    """ε: how far the probability of a decision may move in one update"""
    dual_clip: float = 0.0
    """c > 1 bounds what one bad decision may cost; 0 for no bound"""
    value_weight: float = 0.5
    """of the critic's loss"""
    value_clip: float = 0.0
    """how far a value may move in one update; 0 for no bound"""
    entropy: str = "0.01"
    """the weight of staying undecided: a number or a schedule"""
    kl_stop: float = 0.0
    """end an update once the policy has moved so far; 0 for never"""

    burn_in: int = 0
    """first steps of a sequence that only warm the memory up"""
    truncation: int = 0
    """steps after which gradients do not flow back through the memory; 0 for all"""

    novelty: float = 0.0
    """the weight of rewards for what is new (random network distillation); 0 for none"""
    novelty_discount: float = 0.99
    """what a step later is worth of them"""
    novelty_share: float = 0.25
    """the part of the steps that the predictor learns from"""

    devices: int = 0
    """that learn side by side, in each process; 0 for all: every GPU, or every core"""
    actor_devices: int = 0
    """of each process, the first so many: actors play there, and nobody learns; 0 for none of their own"""

    opponents: tuple[str, ...] = ("self",)
    """who sits in the other seats, with shares: self:0.7 past:0.2 random:0.1; also perfect, scripted, a run"""
    past_every: int = 20
    """updates after which a copy joins the past selves"""
    past_kept: int = 8
    """how many past selves there are at most"""

    def __post_init__(self) -> None:
        for text in (self.learning_rate, self.entropy):
            schedules.parse(text)
        for name in ("length", "epochs", "minibatches", "pieces", "past_every", "past_kept"):
            if getattr(self, name) < 1:
                raise LudusError(f"{name} is 1 or more, not {getattr(self, name)}")
        for name in ("discount", "trace", "novelty_discount", "novelty_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise LudusError(f"{name} lies between 0 and 1; {getattr(self, name):g} does not")
        amounts = ("value_weight", "value_clip", "kl_stop", "novelty", "burn_in", "truncation")
        for name in (*amounts, "devices", "actor_devices"):
            if not getattr(self, name) >= 0:
                raise LudusError(f"{name} is 0 or more, not {getattr(self, name)}")
        for name in ("clip", "max_gradient", "rho_clip", "c_clip"):
            if not getattr(self, name) > 0:
                raise LudusError(f"{name} is above 0, not {getattr(self, name):g}")
        if self.dual_clip != 0.0 and not self.dual_clip > 1.0:
            raise LudusError(f"dual_clip is above 1, or 0 for none, not {self.dual_clip:g}")
        if self.burn_in >= self.length:
            raise LudusError(f"burn_in is less than the length of a rollout, {self.length}, not {self.burn_in}")

    @property
    def network(self) -> MLPArgs | ModelArgs:
        """The settings of the network that is used."""
        return self.mlp if self.agent == "mlp" else self.model

    @property
    def curious(self) -> bool:
        """Whether there are rewards for what is new."""
        return self.novelty > 0.0

    def batches(self, rollouts: Iterator[Rollout]) -> Iterator[Rollout]:
        return rollouts

    def update(self, agent: Any, learner: Any, rollout: Rollout) -> tuple[Any, dict[str, float]]:
        """Learn from a rollout; see `learning.py`."""
        from ludus.algorithms.ppo import ahead, learning

        ahead.wait("update")
        return learning.update(self, agent, learner, rollout)

    def rates(self, steps: int) -> dict[str, float]:
        """What the schedules say after so many steps."""
        return {name: schedules.parse(getattr(self, name))(float(steps)) for name in ("learning_rate", "entropy")}
