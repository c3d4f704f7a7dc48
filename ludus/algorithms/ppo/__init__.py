"""Proximal policy optimisation: an actor and a critic learn from rollouts of a recent policy.

This module contains the settings and imports no JAX; the update is in `update.py`, the losses are in `objective.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
import tyro

from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Ahead, Desk, Groups
from ludus.algorithms.settings import check_ranges
from ludus.bridges import AnyPool
from ludus.games import Game
from ludus.types import Array, Discrete, JsonObject, LudusError, PyTree, Rollout, Spec

if TYPE_CHECKING:
    from ludus.agents.neural.agent import DeepAgent
    from ludus.algorithms.ppo.update import Learner
    from ludus.algorithms.rollout_worker import RolloutWorker

SHORT_GAME = 64
"""games with a horizon of at most this many steps start from the settings of `short_game`"""
POSITIVE_INTEGERS = (
    "rollout_length", "update_epochs", "num_minibatches", "gradient_accumulation", "snapshot_interval", "max_snapshots"
)  # fmt: skip
UNIT_INTERVAL = ("gamma", "gae_lambda", "int_gamma", "update_proportion")
NON_NEGATIVE = (
    "vf_coef", "clip_range_vf", "target_kl", "kl_coef", "int_coef", "burn_in", "bptt_length", "devices",
    "actor_devices",
)  # fmt: skip
POSITIVE = ("clip_coef", "kl_target", "max_grad_norm", "rho_clip", "c_clip")


@dataclass(frozen=True)
class PPO:
    """The settings of a run with PPO."""

    overlap: ClassVar[bool] = True
    profiler: ClassVar[Literal["jax", "torch"]] = "jax"
    data_parallel: ClassVar[bool] = True

    RENAMED: ClassVar[dict[str, str]] = {
        "length": "rollout_length", "epochs": "update_epochs", "minibatches": "num_minibatches",
        "pieces": "gradient_accumulation", "max_gradient": "max_grad_norm", "discount": "gamma", "trace": "gae_lambda",
        "own_chain": "own_turns_only", "target": "advantage_estimator", "refresh": "refresh_rollouts",
        "recompute": "recompute_advantages", "normalise": "norm_adv", "clip": "clip_coef", "value_weight": "vf_coef",
        "value_clip": "clip_range_vf", "entropy": "ent_coef", "kl_stop": "target_kl", "truncation": "bptt_length",
        "novelty": "int_coef", "novelty_discount": "int_gamma", "novelty_share": "update_proportion",
        "past_every": "snapshot_interval", "past_kept": "max_snapshots",
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "ppo"
    """name of the algorithm"""
    agent: Literal["mlp", "rnn"] = "mlp"
    """network: a plain MLP, or an encoder with a transformer and a memory"""
    mlp: MLPArgs = field(default_factory=MLPArgs)
    """settings of the network with agent=mlp"""
    model: ModelArgs = field(default_factory=ModelArgs)
    """settings of the network with agent=rnn"""
    bfloat16: bool = False
    """compute in bfloat16; parameters and losses stay in float32"""

    rollout_length: int = 128
    """steps per row in one rollout; 1 or more"""
    update_epochs: int = 4
    """passes over each rollout; 1 or more"""
    num_minibatches: int = 4
    """minibatches per epoch; a minibatch consists of whole rows; 1 or more"""
    gradient_accumulation: int = 1
    """parts of a minibatch that are computed one after the other, for the same gradient in less memory; 1 or more"""
    learning_rate: str = "0.0003"
    """learning rate of Adam; a number or a schedule over steps such as linear(0.001, 0, 2000000)"""
    max_grad_norm: float = 0.5
    """gradients are clipped to this global norm; above 0"""

    gamma: float = 0.99
    """γ: discount factor per step; 0 to 1"""
    gae_lambda: float = 0.95
    """λ of generalised advantage estimation and of V-trace; 0 to 1"""
    own_turns_only: bool = False
    """compute advantages from one own decision to the next, and train the critic only on these; for fixed opponents"""
    advantage_estimator: Literal["gae", "vtrace"] = "gae"
    """gae, or vtrace, which corrects for rollouts of older parameters by importance weights"""
    refresh_rollouts: bool = True
    """recompute log-probabilities and values of a rollout with the newest parameters before the update"""
    recompute_advantages: bool = False
    """recompute advantages with the newest parameters in every minibatch; always on with vtrace"""
    rho_clip: float = 1.0
    """ρ̄ of V-trace: clips the importance weights of the targets; above 0"""
    c_clip: float = 1.0
    """c̄ of V-trace: clips the importance weights of the traces; above 0"""
    upgo: bool = False
    """add the upgoing advantage (UPGO) to the advantage"""
    norm_adv: bool = True
    """normalise advantages to mean 0 and standard deviation 1"""

    clip_coef: float = 0.2
    """ε: clipping range of the probability ratio; above 0"""
    dual_clip: float = 0.0
    """c of dual-clip PPO, which bounds the loss of decisions with negative advantage; above 1, or 0 for off"""
    vf_coef: float = 0.5
    """coefficient of the value loss; 0 or more"""
    clip_range_vf: float = 0.0
    """clipping range of value predictions in one update; above 0, or 0 for off"""
    ent_coef: str = "0.01"
    """coefficient of the entropy bonus; a number or a schedule over steps"""
    target_kl: float = 0.0
    """skip the rest of an update when the approximate KL divergence exceeds this; above 0, or 0 for off"""
    kl_coef: float = 0.0
    """coefficient of a penalty on the KL divergence, before the first update; each update adapts it; 0 for off"""
    kl_target: float = 0.01
    """divergence aimed at by kl_coef: it grows by half if twice this is exceeded, and halves below half; above 0"""

    burn_in: int = 0
    """first steps of each sequence that only warm up the memory; 0 to rollout_length - 1"""
    bptt_length: int = 0
    """steps after which backpropagation through the memory is truncated; 1 or more, or 0 for the whole rollout"""

    int_coef: float = 0.0
    """coefficient of intrinsic rewards for novel observations (random network distillation); above 0, or 0 for off"""
    int_gamma: float = 0.99
    """discount factor of intrinsic rewards per step; 0 to 1"""
    update_proportion: float = 0.25
    """fraction of the steps that the predictor of random network distillation is trained on; 0 to 1"""

    devices: int = 0
    """devices that compute updates in each process; 1 or more, or 0 for all: every GPU, or every core"""
    actor_devices: int = 0
    """devices of each process, counted from the first, that only collect rollouts; 0 to share those of the updates"""

    opponents: tuple[str, ...] = ("self",)
    """players in the other seats, with weights: self:0.7 past:0.2 random:0.1; also perfect, scripted or a run"""
    snapshot_interval: int = 20
    """updates between two snapshots of the agent for the opponent "past"; 1 or more"""
    max_snapshots: int = 8
    """newest snapshots that are kept for the opponent "past"; 1 or more"""

    def __post_init__(self) -> None:
        for text in (self.learning_rate, self.ent_coef):
            schedules.parse(text)
        check_ranges(self, POSITIVE_INTEGERS, UNIT_INTERVAL, NON_NEGATIVE, POSITIVE)
        if self.dual_clip != 0.0 and not self.dual_clip > 1.0:
            raise LudusError(f"dual_clip must be above 1, or 0 for off, not {self.dual_clip:g}")
        if self.burn_in >= self.rollout_length:
            raise LudusError(f"burn_in must be below rollout_length, {self.rollout_length}, not {self.burn_in}")

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> JsonObject:
        steps = 2_000_000 if steps is None else steps
        run: JsonObject = {"runtime": "threads", "num_envs": 512, "steps": steps}
        spec = spec_of()
        short = spec is not None and isinstance(spec.actions, Discrete) and 0 < spec.horizon <= SHORT_GAME
        return run | short_game(spec, steps) if spec is not None and short else run

    @property
    def network(self) -> MLPArgs | ModelArgs:
        """The settings of the chosen network."""
        return self.mlp if self.agent == "mlp" else self.model

    @property
    def uses_rnd(self) -> bool:
        """Whether random network distillation adds intrinsic rewards."""
        return self.int_coef > 0.0

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        return True

    def count_workers(self, wanted: int, places: int) -> int:
        return wanted or 1  # one worker keeps a learner busy; more help if games are slow

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """All rows of a worker for the length of a rollout."""
        from ludus.algorithms.ppo.sharding import check_rows

        decisions = self.rollout_length * rows
        if wanted not in (0, decisions):
            raise LudusError(
                f"an update uses num_envs x rollout_length = {decisions} decisions; change those instead of chunk"
            )
        check_rows(self, rows, desk.workers * pool.spec.views)
        return decisions

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        from ludus.algorithms.ppo import compile_ahead

        return compile_ahead.start(self, game, rows, workers)

    def new_agent(self, pool: AnyPool) -> DeepAgent:
        from ludus.agents.neural import agent, devices

        devices.start()
        return agent.new_agent(pool, self.network, self.bfloat16, self.uses_rnd, self.bptt_length)

    def for_profiler(self, steps: int) -> Self:
        """Unchanged: everything is in this process anyway."""
        return self

    def describe(self) -> JsonObject:
        from ludus.agents.neural import agent

        return agent.describe(self.network, self.bfloat16, self.uses_rnd)

    def evaluation_agent(self, agent: DeepAgent) -> DeepAgent:
        return replace(agent, greedy=True)

    def new_learner(self, agent: DeepAgent, seed: int) -> Learner:
        from ludus.algorithms.ppo import update

        return update.with_snapshots(self, update.start(self, agent, seed))

    def new_worker(self, agent: DeepAgent, pool: AnyPool, desk: Desk) -> RolloutWorker:
        from ludus.algorithms import rollout_worker

        return rollout_worker.new_worker(agent, pool, desk, self.opponents, self.max_snapshots, self.actor_devices)

    def update(
        self, agent: DeepAgent, learner: Learner, experience: Sequence[Rollout]
    ) -> tuple[Learner, dict[str, float]]:
        """Learn from rollouts; see `update.py`."""
        from ludus.agents.neural import devices
        from ludus.algorithms.ppo import update
        from ludus.algorithms.rollout_worker import joined

        with devices.annotated("update"):
            learned, metrics = update.update(self, agent, learner, joined(experience))
        return update.with_snapshots(self, learned), metrics

    def broadcast(self, learner: Learner) -> PyTree:
        return {"params": learner.params, "number": np.int64(learner.updates), "snapshots": dict(learner.snapshots)}

    def save(self, learner: Learner) -> Groups:
        from ludus.algorithms.ppo import checkpoints

        return checkpoints.save(learner)

    def restore(self, agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        from ludus.algorithms.ppo import checkpoints

        return checkpoints.restore(self, agent, stored, seed)

    def rates(self, steps: int) -> dict[str, float]:
        """The values of the schedules after so many steps."""
        return {name: schedules.parse(getattr(self, name))(float(steps)) for name in ("learning_rate", "ent_coef")}


ALGORITHM = PPO


def short_game(spec: Spec, steps: int) -> JsonObject:
    """Settings for a short game with discrete actions.

    A rollout of 64 x 16 steps gives hundreds of updates in 300,000 steps and still contains whole games. Rewards come
    at the end, so gamma is 1. Half of the opponents are random players: self-play with high entropy rarely meets the
    mistakes that a weak opponent makes.
    """
    settings: JsonObject = {
        "num_envs": 64, "rollout_length": 16, "gamma": 1.0, "mlp": {"width": 128, "activation": "relu"},
        "learning_rate": f"linear(0.002, 0.0002, {steps})", "ent_coef": f"linear(0.2, 0.05, {steps})",
    }  # fmt: skip
    return settings | ({"opponents": ["self:0.5", "random:0.5"]} if spec.seats > 1 else {})
