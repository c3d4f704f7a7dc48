"""Stable-Baselines3's PPO on a CPU, as its documentation recommends: `make_vec_env`, `MlpPolicy`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.env_util import make_vec_env
from training import PPO, Trainer

NAMES = {
    "learning_rate": "learning_rate", "n_steps": "rollout_length", "n_epochs": "update_epochs", "gamma": "gamma",
    "gae_lambda": "gae_lambda", "clip_range": "clip_coef", "clip_range_vf": "clip_coef", "ent_coef": "ent_coef",
    "vf_coef": "vf_coef", "max_grad_norm": "max_grad_norm",
}  # fmt: skip
"""all settings of PPO, including those that equal the current defaults"""


def start(ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer:
    torch.set_num_threads(setting["threads"])
    model = build(ppo, seed)

    def learn(updates: int) -> int:
        steps = updates * ppo.num_envs * ppo.rollout_length
        model.learn(steps, reset_num_timesteps=False)
        return steps

    def mean_return() -> float:
        return float(np.mean([episode["r"] for episode in model.ep_info_buffer]))

    return Trainer(learn, mean_return, model.get_env().close)


def build(ppo: PPO, seed: int) -> stable_baselines3.PPO:
    """All rows run in this process: for a game as simple as CartPole, subprocesses cost more than they gain."""
    return stable_baselines3.PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", ppo.num_envs, seed, env_kwargs={"disable_env_checker": True}),
        batch_size=ppo.num_envs * ppo.rollout_length // ppo.num_minibatches,
        policy_kwargs={"net_arch": list(ppo.hidden), "activation_fn": torch.nn.Tanh},
        seed=seed,
        device="cpu",
        **ppo.as_called(NAMES),
    )
