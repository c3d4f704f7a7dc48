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
    "learning_rate": "learning_rate", "n_steps": "steps", "n_epochs": "epochs", "gamma": "discount",
    "gae_lambda": "trace", "clip_range": "clip", "clip_range_vf": "clip", "ent_coef": "entropy", "vf_coef": "value",
    "max_grad_norm": "gradient",
}  # fmt: skip
"""all settings of PPO, including those that equal the current defaults"""


def start(ppo: PPO, setting: Mapping[str, Any], seed: int) -> Trainer:
    torch.set_num_threads(setting["threads"])
    model = build(ppo, seed)

    def learn(updates: int) -> int:
        steps = updates * ppo.rows * ppo.steps
        model.learn(steps, reset_num_timesteps=False)
        return steps

    def mean_return() -> float:
        return float(np.mean([episode["r"] for episode in model.ep_info_buffer]))

    return Trainer(learn, mean_return, model.get_env().close)


def build(ppo: PPO, seed: int) -> stable_baselines3.PPO:
    """All rows run in this process: for a game as simple as CartPole, subprocesses cost more than they gain."""
    return stable_baselines3.PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", ppo.rows, seed, env_kwargs={"disable_env_checker": True}),
        batch_size=ppo.rows * ppo.steps // ppo.minibatches,
        policy_kwargs={"net_arch": list(ppo.hidden), "activation_fn": torch.nn.Tanh},
        seed=seed,
        device="cpu",
        **ppo.as_called(NAMES),
    )
