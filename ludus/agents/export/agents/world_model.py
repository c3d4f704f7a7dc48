"""The actor of a world model; planning is not exported, because it draws random numbers."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp

from ludus.agents import checkpoint
from ludus.agents.export.model import Arrays, Model, inputs_of, outputs_of
from ludus.agents.neural.world_model import WorldModelAgent, WorldModelFunctions, agent_of
from ludus.bridges import AnyPool
from ludus.types import JsonObject, PyTree

NETWORKS = ("model", "actor", "critics")


def model_of(agent: WorldModelAgent, params: PyTree, pool: AnyPool) -> Model:
    """The function of the actor; the deviation of its actions is 0."""
    agent = replace(agent, evaluating=True, plan_at_evaluation=False)
    params = {"ema": {name: params["ema"][name] for name in NETWORKS}}
    fields = {field.name: (field.shape, "float32") for field in agent.fields}
    middle, half = agent.observation_scale

    def function(params: PyTree, x: Arrays) -> Arrays:
        flat = jnp.concatenate([x[field.name].reshape(-1, field.size) for field in agent.fields], axis=-1)
        functions = WorldModelFunctions(agent, params)
        latent = functions.encode((flat - middle) / half)
        action = functions.act(latent)
        value = functions.q_values(latent, action).mean(axis=0)[:, None] / agent.reward_scale
        decided = agent.unscale_action(action)
        return {"action": decided, "mean": decided, "std": jnp.zeros_like(decided), "value": value}

    inputs = inputs_of(pool.observation, pool.spec, fields)
    outputs = tuple(outputs_of(pool.spec))
    return Model(function, params, tuple(inputs), outputs, agent, params, params, network="WorldModel actor")


def restored(description: JsonObject, variables: PyTree, pool: AnyPool) -> Model:
    """The function of an agent from its description and its variables by name."""
    agent = agent_of(pool, description)
    like = {"ema": {name: agent.init(pool.spec, 0)["ema"][name] for name in NETWORKS}}
    return model_of(agent, checkpoint.unflatten(like, checkpoint.flatten(variables)), pool)
