"""A world model: learn to predict the game in a latent space; train an actor and plan on predicted steps.

A hybrid of Dreamer (an actor trained by backpropagation through imagined steps) and TD-MPC2 (SimNorm latents, latent
consistency, MPPI). Only the settings are here, so that reading them imports no JAX; `update.py` is the update,
`objective.py` the losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
import tyro

from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Ahead, Desk, Groups, Replay, nothing_ahead
from ludus.algorithms.settings import check_ranges
from ludus.bridges import AnyPool
from ludus.games import Game
from ludus.types import Array, Continuous, JsonObject, LudusError, PyTree, Rollout, Spec

if TYPE_CHECKING:
    from ludus.agents.neural.world_model import WorldModelAgent
    from ludus.algorithms.rollout_worker import RolloutWorker
    from ludus.algorithms.world_model.update import Learner

SCHEDULES = ("learning_rate", "terminal_oversampling", "exploration_noise", "planning_fraction")
POSITIVE_INTEGERS = ("rollout_length", "replay_size", "batch_size", "horizon", "imag_horizon")
POSITIVE = ("utd_ratio", "max_grad_norm", "reward_scale")
NON_NEGATIVE = (
    "learning_starts", "consistency_coef", "reward_coef", "reconstruction_coef", "value_coef", "imag_action_noise",
    "action_penalty",
)  # fmt: skip
UNIT_INTERVAL = ("gamma", "td_lambda", "rho", "ema_decay", "target_ema_decay", "noise_correlation")


@dataclass(frozen=True)
class WorldModelSettings:
    """The settings of a run with a world model."""

    overlap: ClassVar[bool] = True
    profiler: ClassVar[Literal["jax", "torch"]] = "jax"
    data_parallel: ClassVar[bool] = False
    RENAMED: ClassVar[dict[str, str]] = {
        "sizes": "network", "plan": "planner", "length": "rollout_length", "replay": "replay_size",
        "warmup": "learning_starts", "ratio": "utd_ratio", "batch": "batch_size", "imagination": "imag_horizon",
        "ends": "terminal_oversampling", "max_gradient": "max_grad_norm", "discount": "gamma", "trace": "td_lambda",
        "fading": "rho", "smoothing": "imag_action_noise", "leaning": "action_penalty", "calm": "ema_decay",
        "slowness": "target_ema_decay", "consistency_weight": "consistency_coef", "reward_weight": "reward_coef",
        "reconstruction_weight": "reconstruction_coef", "value_weight": "value_coef",
        "exploration": "exploration_noise", "drift": "noise_correlation", "planning": "planning_fraction",
        "plan_in_earnest": "plan_at_evaluation",
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "world_model"
    """name of the algorithm"""
    network: WorldModelArgs = field(default_factory=WorldModelArgs)
    """sizes of the networks"""
    planner: PlannerArgs = field(default_factory=PlannerArgs)
    """settings of the MPPI planner"""

    rollout_length: int = 16
    """steps per row between two updates; horizon or more"""
    replay_size: int = 20_000
    """capacity of the replay buffer in steps over all rows; 1 or more"""
    learning_starts: int = 1000
    """steps with noisy actions before the first gradient step; 0 or more"""
    utd_ratio: float = 1.0
    """update-to-data ratio: gradient steps per environment step; above 0"""
    batch_size: int = 64
    """sequences per gradient step; 1 or more"""
    mirror: bool = True
    """mirror each sampled sequence with probability 1/2, in games that declare a mirror symmetry"""
    horizon: int = 10
    """length of a sampled sequence in steps, predicted from its first observation; 1 to rollout_length"""
    imag_horizon: int = 5
    """imagined steps that the actor is trained on; 1 or more"""
    terminal_oversampling: str = "linear(0, 4, 2000)"
    """extra sampling weight of sequences with a terminal step, besides 1; a number from 0 or a schedule over steps"""
    learning_rate: str = "linear(0.001, 0.0002, 10000)"
    """learning rate of Adam; a number or a schedule over steps such as linear(0.001, 0.0001, 10000)"""
    max_grad_norm: float = 10.0
    """gradients are clipped to this global norm; above 0"""
    gamma: float = 0.98
    """γ: discount factor per step; 0 to 1"""
    td_lambda: float = 0.2
    """λ of the TD(λ) targets of the critics: 0 for one-step targets; 0 to 1"""
    reward_scale: float = 1.0
    """factor on rewards before learning, best chosen so that values are about 1 to 100; above 0"""
    rho: float = 0.85
    """ρ: weight of the losses of a predicted step relative to the step before it; 0 to 1"""
    imag_action_noise: float = 0.25
    """std of the noise on the actor's actions (range -1..1) in imagined steps and critic targets; 0 or more"""
    action_penalty: float = 0.001
    """coefficient of the squared actor output before tanh, which prevents saturated actions; 0 or more"""
    ema_decay: float = 0.998
    """EMA decay per gradient step of the evaluation parameters; 0 to 1, where 0 keeps the newest"""
    target_ema_decay: float = 0.97
    """EMA decay per gradient step of the target critics (1 - tau); 0 to 1"""
    consistency_coef: float = 0.5
    """coefficient of the latent consistency loss; 0 or more"""
    reward_coef: float = 1.0
    """coefficient of the reward loss and of the continue loss; 0 or more"""
    reconstruction_coef: float = 5.0
    """coefficient of the observation reconstruction loss; 0 or more"""
    value_coef: float = 0.1
    """coefficient of the critic loss; 0 or more"""

    exploration_noise: str = "linear(0.6, 0.1, 2000)"
    """std of the noise on actions (range -1..1) in training; a number from 0 or a schedule over steps"""
    noise_correlation: float = 0.9
    """correlation of the exploration noise of two consecutive steps; 0 (independent) to 1 (constant)"""
    planning_fraction: str = "linear(1, 0, 10000)"
    """fraction of training decisions that are planned, the others are the actor's; 0 to 1 or a schedule over steps"""
    plan_at_evaluation: bool = False
    """plan when evaluating and playing, instead of following the actor"""

    def __post_init__(self) -> None:
        for name in SCHEDULES:
            schedules.parse(getattr(self, name))
        check_ranges(self, POSITIVE_INTEGERS, UNIT_INTERVAL, NON_NEGATIVE, POSITIVE)
        if self.horizon > self.rollout_length:
            raise LudusError(
                f"horizon must be at most rollout_length; {self.horizon} is more than {self.rollout_length}"
            )

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> JsonObject:
        return {"runtime": "local", "num_envs": 1, "steps": 10_000, "eval_games": 16, "evaluations": 20}

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        return game.spec.seats == 1 and isinstance(game.spec.actions, Continuous)

    def count_workers(self, wanted: int, places: int) -> int:
        return wanted or 1

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """The decisions of one rollout."""
        decisions = self.rollout_length * rows
        if wanted not in (0, decisions):
            raise LudusError(
                f"chunk is {wanted}, but an update learns from num_envs x rollout_length = {decisions} decisions; "
                "change num_envs or rollout_length instead"
            )
        return decisions

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        return nothing_ahead(game, rows, workers)

    def new_agent(self, pool: AnyPool) -> WorldModelAgent:
        from ludus.agents.neural import devices, world_model

        devices.start()
        agent = world_model.new_agent(pool, self.network, self.planner, self.gamma, self.reward_scale)
        return replace(
            agent, plan_at_evaluation=self.plan_at_evaluation, noise_correlation=self.noise_correlation,
            mirror=agent.mirror if self.mirror else None,
        )  # fmt: skip

    def for_profiler(self, steps: int) -> Self:
        """Unchanged: everything is in this process anyway."""
        return self

    def describe(self) -> JsonObject:
        from ludus.agents.neural import world_model

        return world_model.describe(self.network, self.planner, self.gamma, self.reward_scale, self.plan_at_evaluation)

    def evaluation_agent(self, agent: WorldModelAgent) -> WorldModelAgent:
        return replace(agent, evaluating=True)

    def new_learner(self, agent: WorldModelAgent, seed: int) -> Learner:
        from ludus.algorithms.world_model import update

        return update.start(self, agent, seed)

    def new_worker(self, agent: WorldModelAgent, pool: AnyPool, desk: Desk) -> RolloutWorker:
        from ludus.algorithms import rollout_worker

        return rollout_worker.new_worker(agent, pool, desk)

    def update(
        self, agent: WorldModelAgent, learner: Learner, experience: Sequence[Rollout]
    ) -> tuple[Learner, dict[str, float]]:
        """Add rollouts to the replay buffer and learn from samples of it; see `update.py`."""
        from ludus.agents.neural import devices
        from ludus.algorithms.rollout_worker import joined
        from ludus.algorithms.world_model import update

        with devices.annotated("update"):
            return update.update(self, agent, learner, joined(experience))

    def broadcast(self, learner: Learner) -> dict[str, PyTree]:
        return {"params": learner.params, "number": np.int64(0), "snapshots": {}}

    def save(self, learner: Learner) -> Groups:
        from ludus.algorithms.world_model import checkpoints

        return checkpoints.save(learner)

    def restore(self, agent: WorldModelAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        from ludus.algorithms.world_model import checkpoints

        return checkpoints.restore(self, agent, stored, seed)

    def demonstrations(self, replay: Replay, like: Sequence[Rollout], length: int) -> Iterator[Rollout]:
        from ludus.algorithms.demonstrations import rollouts_of
        from ludus.algorithms.rollout_worker import joined

        return rollouts_of(replay, joined(like), length)

    def schedule_values(self, steps: int) -> dict[str, float]:
        """The value of every schedule after `steps` steps; nothing is planned before learning starts."""
        values = {name: schedules.parse(getattr(self, name))(float(steps)) for name in SCHEDULES}
        return values if steps >= self.learning_starts else values | {"planning_fraction": 0.0}


ALGORITHM = WorldModelSettings
