"""Small world models and made-up experience to reckon with by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ludus import devices
from ludus.agents.networks.world_model_args import PlanArgs, WorldModelArgs
from ludus.agents.world_model import Mind
from ludus.algorithms.world_model import WorldModelSettings, craft
from ludus.algorithms.world_model.experience import Experience
from ludus.bridges import open_pool

devices.start()
SIZES = WorldModelArgs(
    encoder=8, latent=8, group=4, dynamics=8, reward=6, decoder=8, actor=(8,), critic=(8,), critics=2
)
PLAN = PlanArgs(horizon=3, samples=12, proposals=3, elites=4, rounds=2)
SETTINGS = WorldModelSettings(
    sizes=SIZES, plan=PLAN, length=6, batch=4, horizon=3, imagination=2, smoothing=0.0, leaning=0.0, replay=60
)
SMALL = {
    "game": "car", "algorithm": "world_model", "runtime": "local", "rows": 2, "steps": 60, "length": 6, "batch": 4,
    "horizon": 3, "imagination": 2, "replay": 40, "games": 2, "evaluations": 1, "chunk": 0, "warmup": 20,
    "sizes": {"encoder": 8, "latent": 8, "group": 4, "dynamics": 8, "reward": 6, "decoder": 8, "actor": [8],
              "critic": [8]},
    "plan": {"horizon": 3, "samples": 12, "proposals": 3, "elites": 4, "rounds": 2},
}  # fmt: skip


@functools.cache
def agent_of(game="car", settings=SETTINGS):
    return craft.agent_for(settings, open_pool(game, 1, 0))


def made_up(agent, seed=0):
    """Parameters of every layer that matter, heads included."""
    rng = np.random.default_rng(seed)
    shapes = craft.shapes(agent)
    params = jax.tree.map(lambda leaf: jnp.asarray(rng.normal(0.0, 0.5, leaf.shape), jnp.float32), shapes)
    return params | {"exploration": jnp.float32(0.0), "planning": jnp.float32(0.0)}


def mind_of(agent, seed=0):
    return Mind(agent, made_up(agent, seed))


def sequences(agent, times, rows, seed=0):
    """Steps that follow each other in one game, [T, N]."""
    rng = np.random.default_rng(seed)
    shown = rng.uniform(-1, 1, (times + 1, rows, agent.shown))
    action = rng.uniform(-1, 1, (times, rows, agent.actions))
    reward, ones = rng.normal(size=(times, rows)), np.ones((times, rows))
    goes_on = (rng.uniform(size=(times, rows)) < 0.8).astype(float)
    parts = (shown[:-1], action, shown[1:], reward, goes_on, ones)
    return Experience(*(jnp.asarray(part, jnp.float32) for part in parts))
