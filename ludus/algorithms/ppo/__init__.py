"""Proximal policy optimisation: an actor and a critic learn from rollouts that were just played.

Only the settings are here, so that reading them imports no JAX; `update.py` is the method, `objective.py` its losses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import tyro

from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Ahead, Desk, Groups
from ludus.bridges import AnyPool
from ludus.games import Game
from ludus.types import Array, Discrete, LudusError, Rollout, Spec

if TYPE_CHECKING:
    from ludus.agents.neural.agent import DeepAgent
    from ludus.algorithms.ppo.update import Learner
    from ludus.algorithms.rollout_worker import RolloutWorker

SHORT_GAME = 64
"""steps: games with a horizon up to this begin with the settings of `short_game`"""


@dataclass(frozen=True)
class PPO:
    """The settings of a run with PPO."""

    overlap: ClassVar[bool] = True
    data_parallel: ClassVar[bool] = True

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

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> dict[str, Any]:
        run: dict[str, Any] = {"runtime": "threads", "rows": 512, "steps": 2_000_000 if steps is None else steps}
        spec = spec_of()
        short = spec is not None and isinstance(spec.actions, Discrete) and 0 < spec.horizon <= SHORT_GAME
        return run | short_game(spec, run["steps"]) if spec is not None and short else run

    @property
    def network(self) -> MLPArgs | ModelArgs:
        """The settings of the network that is used."""
        return self.mlp if self.agent == "mlp" else self.model

    @property
    def curious(self) -> bool:
        """Whether there are rewards for what is new."""
        return self.novelty > 0.0

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        return True

    def count_workers(self, wanted: int, places: int) -> int:
        return wanted or 1  # one worker keeps a learner busy; more of them pay off if games are slow

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """The rows of a worker for the length of a rollout."""
        from ludus.algorithms.ppo.sharding import check_rows

        decisions = self.length * rows
        if wanted not in (0, decisions):
            raise LudusError(
                f"an update learns from rows x length = {decisions} decisions; change those instead of chunk"
            )
        check_rows(self, rows, desk.workers * pool.spec.views)
        return decisions

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        from ludus.algorithms.ppo import compile_ahead

        return compile_ahead.start(self, game, rows, workers)

    def new_agent(self, pool: AnyPool) -> DeepAgent:
        from ludus.agents.neural import agent, devices

        devices.start()
        return agent.new_agent(pool, self.network, self.bfloat16, self.curious, self.truncation)

    def describe(self) -> dict[str, Any]:
        from ludus.agents.neural import agent

        return agent.describe(self.network, self.bfloat16, self.curious)

    def evaluation_agent(self, agent: DeepAgent) -> DeepAgent:
        return replace(agent, greedy=True)

    def new_learner(self, agent: DeepAgent, seed: int) -> Learner:
        from ludus.algorithms.ppo import update

        return update.with_snapshots(self, update.start(self, agent, seed))

    def new_worker(self, agent: DeepAgent, pool: AnyPool, desk: Desk) -> RolloutWorker:
        from ludus.algorithms import rollout_worker

        return rollout_worker.new_worker(agent, pool, desk, self.opponents, self.past_kept, self.actor_devices)

    def update(
        self, agent: DeepAgent, learner: Learner, experience: Sequence[Rollout]
    ) -> tuple[Learner, dict[str, float]]:
        """Learn from rollouts; see `update.py`."""
        from ludus.algorithms.ppo import update
        from ludus.algorithms.rollout_worker import joined

        learned, metrics = update.update(self, agent, learner, joined(experience))
        return update.with_snapshots(self, learned), metrics

    def broadcast(self, learner: Learner) -> dict[str, Any]:
        return {"params": learner.params, "number": np.int64(learner.updates), "snapshots": dict(learner.snapshots)}

    def save(self, learner: Learner) -> Groups:
        from ludus.algorithms.ppo import checkpoints

        return checkpoints.save(learner)

    def restore(self, agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        from ludus.algorithms.ppo import checkpoints

        return checkpoints.restore(self, agent, stored, seed)

    def rates(self, steps: int) -> dict[str, float]:
        """What the schedules say after so many steps."""
        return {name: schedules.parse(getattr(self, name))(float(steps)) for name in ("learning_rate", "entropy")}


ALGORITHM = PPO


def short_game(spec: Spec, steps: int) -> dict[str, Any]:
    """Settings for a game of few steps with numbered actions.

    A rollout of 64 x 16 steps gives hundreds of updates in 300,000 steps and still holds whole games. Rewards come at
    the end, so nothing is discounted. Half of the opponents are random players: pure self-play of an entropic policy
    rarely meets the mistakes that a weak opponent makes.
    """
    settings: dict[str, Any] = {
        "rows": 64, "length": 16, "discount": 1.0, "mlp": {"width": 128, "activation": "relu"},
        "learning_rate": f"linear(0.002, 0.0002, {steps})", "entropy": f"linear(0.2, 0.05, {steps})",
    }  # fmt: skip
    return settings | ({"opponents": ["self:0.5", "random:0.5"]} if spec.seats > 1 else {})
