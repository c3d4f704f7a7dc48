"""PPO of Ray's RLlib on our games: RLlib plays and learns, and what it has learned is an agent of Ludus.

A worker makes one iteration of RLlib per unit, and the update takes its parameters. This module contains the settings
and imports neither Ray nor PyTorch; docs/rllib.md has RLlib's names of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import tyro

from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms.protocol import Ahead, Desk, Groups, nothing_ahead
from ludus.algorithms.settings import check_ranges
from ludus.bridges import AnyPool
from ludus.games import Game
from ludus.types import Array, JsonObject, LudusError, Spec

if TYPE_CHECKING:
    from ludus.agents.neural.agent import DeepAgent
    from ludus.algorithms.rllib_ppo.learner import Learner, Unit, Weights
    from ludus.algorithms.rllib_ppo.worker import RLlibWorker

POSITIVE_INTEGERS = ("rollout_length", "train_batch_size", "minibatch_size", "update_epochs")
UNIT_INTERVAL = ("gamma", "gae_lambda")
NON_NEGATIVE = ("num_env_runners", "num_gpus", "ent_coef", "vf_coef", "kl_coef")
POSITIVE = ("learning_rate", "cpus_per_env_runner", "clip_coef", "vf_clip_param", "max_grad_norm", "kl_target")
NETWORKS = ("", "balatro_encoders")
"""values of mlp.network that have a module in PyTorch"""


@dataclass(frozen=True)
class RLlibPPO:
    """The settings of a run with RLlib's PPO."""

    overlap: ClassVar[bool] = False
    profiler: ClassVar[Literal["jax", "torch"]] = "torch"
    data_parallel: ClassVar[bool] = False
    RENAMED: ClassVar[dict[str, str]] = {
        "num_workers": "num_env_runners", "num_envs_per_worker": "num_envs", "num_envs_per_env_runner": "num_envs",
        "rollout_fragment_length": "rollout_length", "train_batch_size_per_learner": "train_batch_size",
        "sgd_minibatch_size": "minibatch_size", "num_sgd_iter": "update_epochs", "num_epochs": "update_epochs",
        "lr": "learning_rate", "lambda": "gae_lambda", "lambda_": "gae_lambda", "entropy_coeff": "ent_coef",
        "clip_param": "clip_coef", "vf_loss_coeff": "vf_coef", "grad_clip": "max_grad_norm", "kl_coeff": "kl_coef",
        "num_gpus_per_learner": "num_gpus",
    }  # fmt: skip
    """RLlib's names, for the error message about them"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "rllib_ppo"
    """name of the algorithm"""
    mlp: MLPArgs = field(default_factory=lambda: MLPArgs(own=False))
    """settings of the network; with network=balatro_encoders, that of docs/rllib.md for Balatro"""
    num_env_runners: int = 2
    """processes that play, with num_envs games each; 0 to play in the process that learns"""
    cpus_per_env_runner: float = 0.5
    """CPUs that Ray reserves for each env runner; above 0, also fractions"""
    num_gpus: float = 0.0
    """GPUs of the learner; 0 or more"""
    rollout_length: int = 200
    """steps per row in one rollout; 1 or more"""
    train_batch_size: int = 4000
    """decisions that an update learns from, at least; 1 or more"""
    minibatch_size: int = 128
    """decisions per gradient step; 1 to train_batch_size"""
    update_epochs: int = 30
    """passes over each rollout; 1 or more"""
    learning_rate: float = 5e-5
    """learning rate of Adam; above 0"""
    max_grad_norm: float = 0.5
    """gradients are clipped to this global norm; above 0"""
    gamma: float = 0.99
    """γ: discount factor per step; 0 to 1"""
    gae_lambda: float = 0.95
    """λ of generalised advantage estimation; 0 to 1"""
    clip_coef: float = 0.2
    """ε: clipping range of the probability ratio; above 0"""
    vf_coef: float = 1.0
    """coefficient of the value loss; 0 or more"""
    vf_clip_param: float = 10.0
    """upper limit of the squared error of a value; above 0"""
    ent_coef: float = 0.01
    """coefficient of the entropy bonus; 0 or more"""
    kl_coef: float = 0.2
    """coefficient of a penalty on the KL divergence, before the first update; each update adapts it; 0 for off"""
    kl_target: float = 0.02
    """divergence aimed at by kl_coef: it grows by half if twice this is exceeded, and halves below half; above 0"""

    def __post_init__(self) -> None:
        check_ranges(self, POSITIVE_INTEGERS, UNIT_INTERVAL, NON_NEGATIVE, POSITIVE)
        if self.minibatch_size > self.train_batch_size:
            raise LudusError(f"minibatch_size must be at most train_batch_size, {self.train_batch_size}")
        if self.mlp.network not in NETWORKS:
            raise LudusError(
                f'rllib_ppo has no PyTorch module for mlp.network "{self.mlp.network}"; leave it out, or use ppo'
            )

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> JsonObject:
        steps = 2_000_000 if steps is None else steps
        return {"runtime": "local", "num_envs": 4, "steps": steps}

    @property
    def network(self) -> MLPArgs:
        """The settings of the Flax twin; the own networks of games have no module in PyTorch."""
        return replace(self.mlp, own=False)

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        """Every game whose observations a plain network can read: without ids of cards."""
        from ludus.algorithms.rllib_ppo.features import FlatFeatures, layout_for

        try:
            FlatFeatures(layout_for(game.name, game.rules, game.spec))
        except LudusError:
            return False
        return True

    def for_profiler(self, steps: int) -> RLlibPPO:
        """Settings for a profiler, which sees no other processes and is slow: updates of about so many decisions."""
        batch = min(self.train_batch_size, max(self.minibatch_size, steps))
        return replace(self, num_env_runners=0, train_batch_size=batch)

    def count_workers(self, wanted: int, places: int) -> int:
        if wanted > 1:
            raise LudusError(f"rllib_ppo uses one worker, not {wanted}; its processes are set by --num-env-runners")
        return 1

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """The batch of an update."""
        if wanted not in (0, self.train_batch_size):
            raise LudusError(f"an update uses train_batch_size = {self.train_batch_size} decisions; leave out chunk")
        return self.train_batch_size

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        return nothing_ahead(game, rows, workers)

    def new_agent(self, pool: AnyPool) -> DeepAgent:
        from ludus.agents.neural import agent, devices

        if pool.compiled is None:
            raise LudusError(f"rllib_ppo trains on the games of Ludus, not on {pool.name}; use ppo")
        devices.start()
        return agent.new_agent(pool, self.network)

    def describe(self) -> JsonObject:
        from ludus.agents.neural import agent

        return agent.describe(self.network, bfloat16=False, curious=False)

    def evaluation_agent(self, agent: DeepAgent) -> DeepAgent:
        return replace(agent, greedy=True)

    def new_learner(self, agent: DeepAgent, seed: int) -> Learner:
        from ludus.algorithms.rllib_ppo import learner, session

        session.load_rllib()  # an error now, before there is a folder for the run
        return learner.start(agent, seed, self.kl_coef)

    def new_worker(self, agent: DeepAgent, pool: AnyPool, desk: Desk) -> RLlibWorker:
        from ludus.algorithms.rllib_ppo.worker import RLlibWorker

        return RLlibWorker(self, agent, pool, desk)

    def update(
        self, agent: DeepAgent, learner: Learner, experience: Sequence[Unit]
    ) -> tuple[Learner, dict[str, float]]:
        """Take what RLlib has learned; see `worker.py`."""
        from ludus.algorithms.rllib_ppo import learner as learning

        return learning.update(learner, experience)

    def broadcast(self, learner: Learner) -> Weights:
        return learner.weights

    def save(self, learner: Learner) -> Groups:
        from ludus.algorithms.rllib_ppo import learner as learning

        return learning.save(learner)

    def restore(self, agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        from ludus.algorithms.rllib_ppo import learner as learning

        return learning.restore(agent, stored)


ALGORITHM = RLlibPPO
