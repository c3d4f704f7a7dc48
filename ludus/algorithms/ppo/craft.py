"""What a run must know of PPO: who plays, how it begins, and what a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus import checkpoint
from ludus.agents import deep
from ludus.agents.deep import DeepAgent
from ludus.agents.networks import shapes_of
from ludus.algorithms.ppo import PPO, ahead
from ludus.algorithms.ppo.learning import Learner, State, everywhere, start
from ludus.algorithms.ppo.sharing import check_rows
from ludus.bridges import AnyPool
from ludus.types import Array, LudusError


def prepare(run: Any) -> None:
    """Begin what takes long, while the game is opened."""
    ahead.start(run)


def chunk(run: Any, pool: AnyPool) -> int:
    """Decisions of an actor between two updates: its rows for the length of a rollout."""
    decisions: int = run.settings.length * run.rows
    if run.chunk not in (0, decisions):
        raise LudusError(f"an update learns from rows x length = {decisions} decisions; change those instead of chunk")
    check_rows(run.settings, run.rows, run.workers * pool.spec.views)
    return decisions


def agent_for(settings: PPO, pool: AnyPool) -> DeepAgent:
    return deep.new_agent(pool, settings.network, settings.bfloat16, settings.curious, settings.truncation)


def shapes(agent: DeepAgent) -> Any:
    """The shapes and types of what it plays with; nothing is computed for it."""
    return shapes_of(agent.network)


def player(agent: DeepAgent) -> DeepAgent:
    """The agent as it plays in earnest."""
    return replace(agent, greedy=True)


def describe(settings: PPO) -> dict[str, Any]:
    return deep.describe(settings.network, settings.bfloat16, settings.curious)


def begin(settings: PPO, agent: DeepAgent, seed: int) -> Learner:
    ahead.wait("start")
    return start(settings, agent, seed)


def groups(learner: Learner) -> dict[str, dict[str, Array]]:
    """What a checkpoint keeps of a learner."""
    state = jax.device_get(learner.state)
    counters = np.array([learner.steps, learner.episodes, int(state.updates)], np.int64)
    kept = {"params": state.agent, "optimiser": state.optimiser, "curiosity": state.curiosity}
    arrays = {name: checkpoint.flatten(tree) for name, tree in kept.items()}
    return {name: group for name, group in arrays.items() if group} | {"learner": {"counters": counters}}


def resumed(settings: PPO, agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
    """The learner of a checkpoint, if it is one for this game and these settings."""
    fresh = start(settings, agent, seed)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (3,):
        raise LudusError("it does not say how far it came; take this checkpoint away to go on from the one before")
    parts = [
        checkpoint.unflatten(like, dict(stored.get(name, {})))
        for name, like in zip(("params", "curiosity", "optimiser"), fresh.state[:3], strict=True)
    ]
    agent_variables, curiosity, optimiser = jax.tree.map(jnp.asarray, parts)
    state = State(agent_variables, curiosity, optimiser, jnp.int32(counters[2]))
    return Learner(everywhere(settings, state), seed, int(counters[0]), int(counters[1]))


def rates(run: Any, chunks: int) -> dict[str, float]:
    """Its updates tell of them."""
    return {}
