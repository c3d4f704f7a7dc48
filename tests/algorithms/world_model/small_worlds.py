"""Small world models and random experience, for tests that compute expected values by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.neural import devices
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.agents.neural.world_model import WorldModelFunctions, initial_params
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.replay import Experience
from ludus.bridges import open_pool

devices.start()
NETWORK = WorldModelArgs(
    encoder_dim=8,
    latent_dim=8,
    simnorm_dim=4,
    dynamics_dim=8,
    reward_dim=6,
    decoder_dim=8,
    actor_dims=(8,),
    critic_dims=(8,),
    num_critics=2,
)
PLANNER = PlannerArgs(horizon=3, num_samples=12, num_pi_trajs=3, num_elites=4, iterations=2)
SETTINGS = WorldModelSettings(
    network=NETWORK,
    planner=PLANNER,
    rollout_length=6,
    batch_size=4,
    horizon=3,
    imag_horizon=2,
    imag_action_noise=0.0,
    action_penalty=0.0,
    replay_size=60,
)
SMALL = {
    "game": "car", "algorithm": "world_model", "runtime": "local", "num_envs": 2, "steps": 60, "rollout_length": 6,
    "batch_size": 4, "horizon": 3, "imag_horizon": 2, "replay_size": 40, "eval_games": 2, "evaluations": 1, "chunk": 0,
    "learning_starts": 20,
    "network": {"encoder_dim": 8, "latent_dim": 8, "simnorm_dim": 4, "dynamics_dim": 8, "reward_dim": 6,
                "decoder_dim": 8, "actor_dims": [8], "critic_dims": [8]},
    "planner": {"horizon": 3, "num_samples": 12, "num_pi_trajs": 3, "num_elites": 4, "iterations": 2},
}  # fmt: skip


@functools.cache
def agent_of(game="car", settings=SETTINGS):
    return settings.new_agent(open_pool(game, 1, 0))


def random_params(agent, seed=0):
    """Random parameters in every layer, also in heads that are initialised near 0."""
    rng = np.random.default_rng(seed)
    shapes = jax.eval_shape(lambda: initial_params(agent, jnp.uint32(0)))
    params = jax.tree.map(lambda leaf: jnp.asarray(rng.normal(0.0, 0.5, leaf.shape), jnp.float32), shapes)
    return params | {"exploration_noise": jnp.float32(0.0), "planning_fraction": jnp.float32(0.0)}


def functions_of(agent, seed=0):
    return WorldModelFunctions(agent, random_params(agent, seed))


def sequences(agent, times, rows, seed=0):
    """Consecutive steps of one episode per row, [T, N]."""
    rng = np.random.default_rng(seed)
    observations = rng.uniform(-1, 1, (times + 1, rows, agent.observation_size))
    action = rng.uniform(-1, 1, (times, rows, agent.action_size))
    reward, ones = rng.normal(size=(times, rows)), np.ones((times, rows))
    continues = (rng.uniform(size=(times, rows)) < 0.8).astype(float)
    parts = (observations[:-1], action, observations[1:], reward, continues, ones)
    return Experience(*(jnp.asarray(part, jnp.float32) for part in parts))
