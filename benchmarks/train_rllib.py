"""Ray RLlib's PPO on its new API stack; the learner is in this process, env runners in this or other processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from training import PPO, Trainer

NAMES = {
    "num_epochs": "update_epochs", "lr": "learning_rate", "gamma": "gamma", "lambda_": "gae_lambda",
    "clip_param": "clip_coef", "vf_loss_coeff": "vf_coef", "entropy_coeff": "ent_coef", "grad_clip": "max_grad_norm",
}  # fmt: skip


def start(ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=len(os.sched_getaffinity(0)) + 1, include_dashboard=False, log_to_driver=False)
    algorithm = configure(ppo, setting, seed).build_algo()
    found: dict[str, Any] = {"num_env_steps_sampled_lifetime": 0}

    def learn(updates: int) -> int:
        nonlocal found
        before = found["num_env_steps_sampled_lifetime"]
        for _ in range(updates):
            found = algorithm.train()["env_runners"]
        return int(found["num_env_steps_sampled_lifetime"] - before)

    def close() -> None:
        algorithm.stop()
        ray.shutdown()

    return Trainer(learn, lambda: float(found["episode_return_mean"]), close)


def configure(ppo: PPO, setting: Mapping[str, Any], seed: int) -> PPOConfig:
    """The rows are divided among the runners; with 0 runners, the learner's process steps them itself."""
    batch = ppo.num_envs * ppo.rollout_length
    network = DefaultModelConfig(fcnet_hiddens=list(ppo.hidden), fcnet_activation="tanh", vf_share_layers=False)
    return (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(
            num_env_runners=setting["runners"],
            num_envs_per_env_runner=ppo.num_envs // max(1, setting["runners"]),
            gym_env_vectorize_mode=setting["mode"],
        )
        .learners(num_learners=0)
        .rl_module(model_config=network)
        .training(
            train_batch_size_per_learner=batch,
            minibatch_size=batch // ppo.num_minibatches,
            grad_clip_by="global_norm",
            use_kl_loss=False,
            **ppo.as_called(NAMES),
        )
        .debugging(seed=seed)
    )
