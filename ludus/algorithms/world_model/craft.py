"""What a run must know of a world model: who plays, how it begins, and what a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus import checkpoint, devices
from ludus.agents import world_model
from ludus.agents.world_model import WorldModelAgent
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.experience import new_ring
from ludus.algorithms.world_model.learning import Learner, start
from ludus.bridges import AnyPool
from ludus.types import Array, LudusError


def prepare(run: Any) -> None:
    """Nothing takes long before the game is opened."""


def chunk(run: Any, pool: AnyPool) -> int:
    """Decisions of an actor between two updates: its rows for the length of a rollout."""
    decisions: int = run.settings.length * run.rows
    if run.chunk not in (0, decisions):
        raise LudusError(f"an update learns from rows x length = {decisions} decisions; change those instead of chunk")
    if devices.processes() > 1:
        raise LudusError("a world_model learns in one process; train without --coordinator")
    return decisions


def agent_for(settings: WorldModelSettings, pool: AnyPool) -> WorldModelAgent:
    agent = world_model.new_agent(pool, settings.sizes, settings.plan, settings.discount, settings.reward_scale)
    mirror = agent.mirror if settings.mirror else None
    return replace(agent, plans=settings.plan_in_earnest, drift=settings.drift, mirror=mirror)


def shapes(agent: WorldModelAgent) -> Any:
    """The shapes and types of what it plays with; nothing is computed for it."""
    return jax.eval_shape(lambda: world_model.initialised(agent, jnp.uint32(0)))


def player(agent: WorldModelAgent) -> WorldModelAgent:
    """The agent as it plays in earnest."""
    return replace(agent, earnest=True)


def describe(settings: WorldModelSettings) -> dict[str, Any]:
    return world_model.describe(
        settings.sizes, settings.plan, settings.discount, settings.reward_scale, settings.plan_in_earnest
    )


def begin(settings: WorldModelSettings, agent: WorldModelAgent, seed: int) -> Learner:
    return start(settings, agent, seed)


def groups(learner: Learner) -> dict[str, dict[str, Array]]:
    """What a checkpoint keeps of a learner."""
    state, ring = jax.device_get((learner.state, learner.ring))
    counters = np.array([learner.steps, learner.episodes, int(state.updates)], np.int64)
    trees = {"params": state.agent, "slow": state.slow, "optimiser": {"world": state.world, "actor": state.actor}}
    kept = {name: checkpoint.flatten(tree) for name, tree in trees.items()}
    if ring is not None:
        kept["experience"] = {**ring.held._asdict(), "pushed": np.array([ring.pushed], np.int64)}
    return kept | {"learner": {"counters": counters}}


def resumed(
    settings: WorldModelSettings, agent: WorldModelAgent, stored: Mapping[str, Mapping[str, Array]], seed: int
) -> Learner:
    """The learner of a checkpoint, if it is one for this game and these settings."""
    fresh = start(settings, agent, seed)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (3,):
        raise LudusError("it does not say how far it came; take this checkpoint away to go on from the one before")
    state = fresh.state
    like = {"params": state.agent, "slow": state.slow, "optimiser": {"world": state.world, "actor": state.actor}}
    found = {name: checkpoint.unflatten(tree, dict(stored.get(name, {}))) for name, tree in like.items()}
    found = jax.tree.map(jnp.asarray, found)
    optimiser = found["optimiser"]
    state = state._replace(
        agent=found["params"], slow=found["slow"], world=optimiser["world"], actor=optimiser["actor"],
        updates=jnp.int32(counters[2]),
    )  # fmt: skip
    return Learner(state, restored_ring(agent, stored.get("experience", {})), seed, int(counters[0]), int(counters[1]))


def restored_ring(agent: WorldModelAgent, stored: Mapping[str, Array]) -> Any:
    """The experience of a checkpoint; None where it was saved before any was made."""
    if not stored:
        return None
    rewards = stored.get("reward", np.zeros(0))
    if rewards.ndim != 2 or "pushed" not in stored:
        raise LudusError("its experience has lost its rewards; take this checkpoint away to go on from the one before")
    like = new_ring(rewards.shape[0], rewards.shape[1], agent.shown, agent.actions)
    for name, array in like.held._asdict().items():
        if name not in stored or stored[name].shape != array.shape:
            raise LudusError(f"its experience has no {name} of shape {array.shape}; resume it with its own run.toml")
    held = type(like.held)(**{name: jnp.asarray(stored[name], jnp.float32) for name in like.held._fields})
    return like._replace(held=held, pushed=jnp.int32(stored["pushed"][0]))


def rates(run: Any, chunks: int) -> dict[str, float]:
    """Its updates tell of them."""
    return {}
