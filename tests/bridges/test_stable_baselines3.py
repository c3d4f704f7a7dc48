"""Stable-Baselines3 learns our games through Gymnasium, unchanged."""

import pytest

pytest.importorskip("stable_baselines3", reason="pip install stable-baselines3")

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from ludus.bridges.gymnasium import LudusEnv


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["cartpole", "car"])
def test_their_checker_is_content(name):
    check_env(LudusEnv(name))


def test_ppo_learns_cartpole():
    envs = make_vec_env("ludus/CartPole-v0", n_envs=8, seed=0)
    settings = {"n_steps": 128, "batch_size": 128, "n_epochs": 10, "gamma": 0.98, "gae_lambda": 0.9}
    model = PPO("MlpPolicy", envs, learning_rate=1e-3, seed=0, device="cpu", **settings)
    before, _ = evaluate_policy(model, envs, 24, deterministic=False)
    model.learn(8_192)
    after, _ = evaluate_policy(model, envs, 24, deterministic=False)
    assert before < 40
    assert after > 100


def test_ppo_takes_the_car_by_its_name():
    model = PPO("MlpPolicy", "ludus/Car-v0", n_steps=512, batch_size=128, n_epochs=4, seed=0, device="cpu")
    model.learn(1_024)
    assert model.num_timesteps == 1_024
    assert all(torch.isfinite(weights).all() for weights in model.policy.parameters())
