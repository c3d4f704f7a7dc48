"""The arrays of a checkpoint of a world model."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents import checkpoint
from ludus.agents.neural.world_model import WorldModelAgent
from ludus.algorithms.protocol import Groups
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.replay import ReplayBuffer, new_replay_buffer
from ludus.algorithms.world_model.update import Learner, State, start
from ludus.types import Array, LudusError, PyTree


def save(learner: Learner) -> Groups:
    state, replay = jax.device_get((learner.state, learner.replay))
    counters = np.array([learner.steps, learner.episodes, int(state.updates)], np.int64)
    stored = {name: checkpoint.flatten(tree) for name, tree in _trees(state).items()}
    if replay is not None:
        stored["replay"] = {**replay.storage._asdict(), "pushed": np.array([replay.pushed], np.int64)}
    return stored | {"learner": {"counters": counters}}


def _trees(state: State) -> dict[str, PyTree]:
    optimiser = {"model": state.model_optimiser, "actor": state.actor_optimiser}
    return {"params": state.agent, "target_critics": state.target_critics, "optimiser": optimiser}


def restore(
    settings: WorldModelSettings, agent: WorldModelAgent, stored: Mapping[str, Mapping[str, Array]], seed: int
) -> Learner:
    """The learner of a checkpoint; raises LudusError if it does not fit the game and the settings."""
    fresh = start(settings, agent, seed)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (3,):
        raise LudusError("it has no step counters; delete this checkpoint to resume from the one before")
    trees = _trees(fresh.state).items()
    found = {name: checkpoint.unflatten(tree, dict(stored.get(name, {}))) for name, tree in trees}
    found = jax.tree.map(jnp.asarray, found)
    optimiser = found["optimiser"]
    state = State(
        found["params"], found["target_critics"], optimiser["model"], optimiser["actor"], jnp.int32(counters[2])
    )
    replay = restored_replay(agent, stored.get("replay", {}))
    return Learner(state, replay, seed, int(counters[0]), int(counters[1]))


def restored_replay(agent: WorldModelAgent, stored: Mapping[str, Array]) -> ReplayBuffer | None:
    """The replay buffer of a checkpoint; None if it was saved before the first update."""
    if not stored:
        return None
    rewards = stored.get("reward", np.zeros(0))
    if rewards.ndim != 2 or "pushed" not in stored:
        raise LudusError("its replay buffer is incomplete; delete this checkpoint to resume from the one before")
    like = new_replay_buffer(rewards.shape[0], rewards.shape[1], agent.observation_size, agent.action_size)
    for name, array in like.storage._asdict().items():
        if name not in stored or stored[name].shape != array.shape:
            raise LudusError(f"its replay buffer has no {name} of shape {array.shape}; resume it with its own run.toml")
    storage = type(like.storage)(**{name: jnp.asarray(stored[name], jnp.float32) for name in like.storage._fields})
    return like._replace(storage=storage, pushed=jnp.int32(stored["pushed"][0]))
