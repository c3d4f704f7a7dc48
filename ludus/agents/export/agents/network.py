"""Agents with a neural network: policy, value and memory, with the most likely action."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents import checkpoint
from ludus.agents.export.features import full
from ludus.agents.export.model import MEMORY, NEXT_MEMORY, Arrays, Model, inputs_of, memory_ports, outputs_of
from ludus.agents.neural import distributions
from ludus.agents.neural.agent import DeepAgent, agent_of
from ludus.agents.neural.networks import reads, variable_shapes
from ludus.agents.neural.networks.layout import blank
from ludus.agents.neural.networks.recurrent import RNNAgent, folded
from ludus.bridges import AnyPool
from ludus.types import JsonObject, PyTree, Step


def model_of(agent: DeepAgent, params: PyTree, pool: AnyPool) -> Model:
    """The function of an agent; networks that compute in bfloat16 are exported in float32."""
    network: Any = agent.network
    if getattr(network, "dtype", jnp.float32) != jnp.float32:
        network = network.clone(dtype=jnp.float32)
    agent = replace(agent, network=network, greedy=True)
    seen = blank(network.layout, 1)
    fields = {
        name: (array.shape[1:], array.dtype)
        for name, array in (full(network, seen) if reads(network) else seen).items()
    }
    leaves, tree = jax.tree.flatten(agent.memory(1))
    remembered, left = memory_ports(leaves)
    inputs = [*inputs_of(pool.observation, pool.spec, fields), *remembered]
    names = [port.name for port in inputs if port.role == "observation"]

    def function(params: PyTree, x: Arrays) -> Arrays:
        memory = jax.tree.unflatten(tree, [x[f"{MEMORY}{number}"] for number in range(len(leaves))])
        rows = x["first"].shape[0]
        nothing: Any = jnp.zeros((rows, 0))
        mask = x.get("mask", jnp.ones((rows, 0), bool))
        step = Step({name: x[name] for name in names}, mask, x["seat"], nothing, nothing, x["first"])
        # One step of a sequence: [1, rows, ...].
        policy, value, memory, _ = agent.evaluate(params, memory, jax.tree.map(lambda array: array[None], step))
        after = {f"{NEXT_MEMORY}{number}": leaf for number, leaf in enumerate(jax.tree.leaves(memory))}
        return {**_decided(policy), "value": value[0, :, : pool.spec.seats], **after}

    kind = getattr(network.args, "rnn_type", "none") if leaves else "none"
    reader = functools.partial(full, network) if reads(network) else None
    quick = folded(network, params) if isinstance(network, RNNAgent) else params
    return Model(
        function, quick, tuple(inputs), (*outputs_of(pool.spec), *left), agent, params, params, kind,
        type(network).__name__, reader,
    )  # fmt: skip


def _decided(policy: distributions.Policy) -> Arrays:
    action = distributions.mode(policy)[0]
    if isinstance(policy, distributions.SquashedGaussian):
        return {"action": action, "mean": policy.mean[0], "std": jnp.exp(policy.log_std[0])}
    return {"action": action.astype(np.int32), "probabilities": jnp.exp(policy[0])}


def restored(description: JsonObject, variables: PyTree, pool: AnyPool) -> Model:
    """The function of an agent from its description and its variables by name."""
    agent = agent_of(pool, description)
    params = checkpoint.unflatten(variable_shapes(agent.network), checkpoint.flatten(variables))
    return model_of(agent, params, pool)
