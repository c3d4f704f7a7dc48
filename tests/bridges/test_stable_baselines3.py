"""Stable-Baselines3 learns Ludus games through Gymnasium unchanged, and sb3-contrib with masks."""

import pathlib
import re

import pytest

pytest.importorskip("stable_baselines3", reason="pip install ludus[outsiders]")
pytest.importorskip("sb3_contrib", reason="pip install ludus[outsiders]")

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from ludus import games
from ludus.bridges.gymnasium import LudusEnv, identity

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "bridges.md"
NAMES = games.names()
SOLO = [name for name in NAMES if games.load(name).spec.seats == 1]
SHAPES = "ignore:Your observation .* has an unconventional shape"
"""warning for every array that is neither 1-D nor an image; SB3 flattens it"""


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def policy_for(env):
    return "MultiInputPolicy" if isinstance(env.observation_space, gymnasium.spaces.Dict) else "MlpPolicy"


@pytest.mark.filterwarnings(SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_every_game_passes_check_env(name):
    check_env(LudusEnv(name))


@pytest.mark.parametrize("name", [*SOLO, "connect4", "goofspiel"])
def test_ppo_runs(name):
    """Without masks: illegal actions are replaced."""
    env = gymnasium.make(identity(games.load(name)))
    model = PPO(policy_for(env), env, n_steps=1_000, batch_size=500, n_epochs=1, seed=0, device="cpu")
    model.learn(2_000)
    assert model.num_timesteps == 2_000
    assert all(torch.isfinite(weights).all() for weights in model.policy.parameters())


def test_ppo_learns_cartpole():
    envs = make_vec_env("ludus/CartPole-v0", n_envs=8, seed=0)
    settings = {"n_steps": 128, "batch_size": 128, "n_epochs": 10, "gamma": 0.98, "gae_lambda": 0.9}
    model = PPO("MlpPolicy", envs, learning_rate=1e-3, seed=0, device="cpu", **settings)
    before, _ = evaluate_policy(model, envs, 24, deterministic=False)
    model.learn(8_192)
    after, _ = evaluate_policy(model, envs, 24, deterministic=False)
    assert before < 40
    assert after > 100


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_the_examples_of_the_page_run(block):
    exec(block, {})


def test_maskable_ppo_plays_balatro_without_an_illegal_action():
    env = gymnasium.make("ludus/Balatro-v0", illegal="raise")
    model = MaskablePPO("MultiInputPolicy", env, n_steps=256, batch_size=256, n_epochs=1, seed=0, device="cpu")
    model.learn(512)
    assert model.num_timesteps == 512


def test_maskable_ppo_beats_random_at_connect_four():
    options = {"seat": "random", "illegal": "raise"}
    envs = make_vec_env("ludus/Connect4-v0", n_envs=16, seed=0, env_kwargs=options)
    settings = {"n_steps": 64, "batch_size": 256, "n_epochs": 8, "gae_lambda": 0.9, "learning_rate": 1e-3}
    model = MaskablePPO("MlpPolicy", envs, seed=0, device="cpu", **settings)
    assert score_of(model, options) < 0.6
    model.learn(16_384)
    assert score_of(model, options) > 0.65


def score_of(model, options):
    """Score in 400 games against the random player, the first four of each row; a draw counts as half a win."""
    envs, results = gymnasium.make_vec("ludus/Connect4-v0", num_envs=100, **options), [[] for _ in range(100)]
    observations, _ = envs.reset(seed=77)
    while min(map(len, results)) < 4:
        actions, _ = model.predict(observations, action_masks=envs.action_masks())
        observations, rewards, ended, _, _ = envs.step(actions)
        for row in np.flatnonzero(ended):
            results[row].append(rewards[row])
    return (np.mean([row[:4] for row in results]) + 1) / 2
