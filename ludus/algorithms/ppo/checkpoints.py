"""The arrays of a checkpoint of PPO."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents import checkpoint, flax_models
from ludus.agents.neural.agent import DeepAgent
from ludus.algorithms.ppo import PPO
from ludus.algorithms.ppo.update import Learner, State, everywhere, start
from ludus.algorithms.protocol import Groups
from ludus.types import Array, LudusError

SNAPSHOT = "snapshot_"


def save(learner: Learner) -> Groups:
    state = jax.device_get(learner.state)
    counters = np.array([learner.steps, learner.episodes, int(state.updates)], np.int64)
    trees = {"params": state.agent, "optimiser": state.optimiser, "curiosity": state.curiosity}
    trees |= {f"{SNAPSHOT}{number}": params for number, params in learner.snapshots.items()}
    arrays = {name: checkpoint.flatten(tree) for name, tree in trees.items()}
    kl_coef = {} if isinstance(state.kl_coef, tuple) else {"kl_coef": np.array([state.kl_coef], np.float32)}
    return {name: group for name, group in arrays.items() if group} | {"learner": {"counters": counters} | kl_coef}


def restore(settings: PPO, agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
    """The learner of a checkpoint; raises LudusError if it is of another game or other settings."""
    if flax_models.CODES in stored.get("params", {}):
        raise LudusError("it is an imported model, which can play but cannot be trained further")
    fresh = start(settings, agent, seed)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (3,):
        raise LudusError(
            "it has no counters of steps and updates; remove this checkpoint to continue from the previous one"
        )
    parts = [
        checkpoint.unflatten(like, dict(stored.get(name, {})))
        for name, like in zip(("params", "curiosity", "optimiser"), fresh.state[:3], strict=True)
    ]
    agent_variables, curiosity, optimiser = jax.tree.map(jnp.asarray, parts)
    kl_coef = _kl_coef(fresh.state.kl_coef, stored["learner"].get("kl_coef"))
    state = State(agent_variables, curiosity, optimiser, jnp.int32(counters[2]), kl_coef)
    snapshots = {
        name.removeprefix(SNAPSHOT): checkpoint.unflatten(fresh.state.agent, dict(arrays))
        for name, arrays in stored.items()
        if name.startswith(SNAPSHOT)
    }
    return Learner(everywhere(settings, state), seed, int(counters[0]), int(counters[1]), snapshots)


def _kl_coef(fresh: jax.Array | tuple[()], stored: Array | None) -> jax.Array | tuple[()]:
    """The coefficient of the KL penalty; that of the settings if the checkpoint is of a run without the penalty."""
    if isinstance(fresh, tuple) or stored is None:
        return fresh
    if stored.shape != (1,) or not np.isfinite(stored).all():
        raise LudusError("its kl_coef is not a number; remove this checkpoint to continue from the previous one")
    return jnp.float32(stored[0])
