"""One update of PPO, top to bottom: advantages, then epochs of minibatches, on all devices at once.

Every device ends with the same parameters. Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding

from ludus import devices
from ludus.agents.deep import DeepAgent
from ludus.algorithms import returns
from ludus.algorithms.ppo import PPO, novelty
from ludus.algorithms.ppo.objective import estimate, loss_of, recomputed, refreshed, some_rows
from ludus.algorithms.ppo.sharing import ROWS, Batch, PartitionSpec, dealt, mesh_of, on, placed, total
from ludus.algorithms.tally import means
from ludus.types import Rollout

Array = jax.Array


class State(NamedTuple):
    """All that an update changes: one pytree, alike on every device."""

    agent: Any
    """variables of the agent's network"""
    curiosity: Any
    """of the one that knows what is new; () where there is none"""
    optimiser: Any
    updates: Array


class Learner(NamedTuple):
    """How far a run has come."""

    state: State
    seed: int
    steps: int
    episodes: int

    @property
    def params(self) -> Any:
        """What plays: the agent's variables, on one device of this process."""
        return jax.tree.map(lambda array: array.addressable_data(0), self.state.agent)


def start(settings: PPO, agent: DeepAgent, seed: int) -> Learner:
    """A learner that knows nothing yet."""
    variables = agent.init(agent.spec, seed)
    curiosity = novelty.start(agent, seed) if settings.curious else ()
    optimiser = optimiser_of(settings).init(learned(variables, curiosity))
    return Learner(everywhere(settings, State(variables, curiosity, optimiser, jnp.zeros((), jnp.int32))), seed, 0, 0)


def everywhere(settings: PPO, state: State) -> State:
    """A state on all devices that learn, where an update leaves it: elsewhere all would be compiled twice."""
    whole = NamedSharding(mesh_of(settings.devices, settings.actor_devices), PartitionSpec())
    placed: State = jax.tree.map(lambda array: devices.put(array, whole), state)
    return placed


def update(settings: PPO, agent: DeepAgent, learner: Learner, rollout: Rollout) -> tuple[Learner, dict[str, float]]:
    """Learn from a rollout; the metrics are means over its minibatches."""
    mesh = mesh_of(settings.devices, settings.actor_devices)
    batch = dealt(mesh, rollout)
    rates = settings.rates(learner.steps)
    program = _program(settings, agent, mesh)
    state, metrics = program(
        learner.state, batch, {name: np.float32(rate) for name, rate in rates.items()}, np.uint32(learner.seed % 2**32)
    )
    played = np.sum(devices.gathered(rollout.tally), axis=0)
    steps, episodes = learner.steps + int(played[2]), learner.episodes + int(played[0])
    told = {name: float(number) for name, number in jax.device_get(metrics).items()}
    return Learner(state, learner.seed, steps, episodes), told | rates | means(played) | rollout.notes


def compile_update(settings: PPO, agent: DeepAgent, learner: Learner, rollout: Rollout) -> None:
    """Have the update compiled for rollouts of these shapes; `rollout` may be shapes alone."""
    mesh = mesh_of(settings.devices, settings.actor_devices)
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    state = jax.tree.map(lambda array: on(array.sharding, array), learner.state)
    parts = jax.tree.map(lambda array, spec: on(NamedSharding(mesh, spec), array), batch, placed(batch))
    rates = {name: np.float32(rate) for name, rate in settings.rates(0).items()}
    _program(settings, agent, mesh).lower(state, parts, rates, np.uint32(0)).compile()


@functools.cache
def _program(settings: PPO, agent: DeepAgent, mesh: Mesh) -> Any:
    """The compiled update, the same on all devices of the mesh."""

    def update_all(state: State, batch: Batch, rates: Any, seed: Array) -> Any:
        on_one = functools.partial(learn, settings, agent)
        whole, parts = PartitionSpec(), placed(batch)
        return jax.shard_map(
            on_one, mesh=mesh, in_specs=(whole, parts, whole, whole), out_specs=whole, check_vma=False
        )(state, batch, rates, seed)

    return jax.jit(update_all)


def learn(settings: PPO, agent: DeepAgent, state: State, batch: Batch, rates: Any, seed: Array) -> tuple[State, Any]:
    """The update as one device does it, with its part of the rows."""
    before, metrics = state, {}
    if settings.curious:
        news, curiosity = novelty.rewards(agent, state.curiosity, batch.steps, settings.novelty_discount, total)
        batch, state = batch._replace(news=news), state._replace(curiosity=curiosity)
        metrics["novelty"] = total(news[1:].mean()) / total(1.0)
    if settings.refresh and not recomputed(settings):
        batch = refreshed(settings, agent, state.agent, batch)
    fixed = None if recomputed(settings) else estimate(settings, agent, batch, batch.decisions.value, None)
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), state.updates), jax.lax.axis_index(ROWS))

    def epoch(carry: Any, key: Array) -> Any:
        rows = jax.random.permutation(key, batch.own.shape[1]).reshape(settings.minibatches, -1)
        follow = functools.partial(minibatch, settings, agent, batch, fixed, rates)
        return jax.lax.scan(follow, carry, (rows, jax.random.split(key, settings.minibatches)))

    (state, _), told = jax.lax.scan(epoch, (state, jnp.array(True)), jax.random.split(key, settings.epochs))
    metrics |= jax.tree.map(jnp.mean, told)
    return settled(before, state._replace(updates=state.updates + 1), metrics)


def settled(before: State, after: State, metrics: Any) -> tuple[State, Any]:
    """The new state if all its numbers are numbers, else the one before; `finite` tells which.

    The metrics are asked too: an update that stops because its KL is none leaves the state as it was.
    """
    numbers = jax.tree.leaves((after, metrics))
    finite = functools.reduce(jnp.logical_and, [jnp.isfinite(leaf).all() for leaf in numbers])
    state = jax.tree.map(lambda new, old: jnp.where(finite, new, old), after, before)
    return state, metrics | {"finite": finite.astype(jnp.float32)}


def minibatch(settings: PPO, agent: DeepAgent, batch: Batch, fixed: Any, rates: Any, carry: Any, now: Any) -> Any:
    """Follow the gradient of some rows, unless the policy has moved far enough."""
    (state, moving), (rows, key) = carry, now
    parameters = learned(state.agent, state.curiosity)
    gradient, told, statistics = gradient_of(settings, agent, state, parameters, batch, fixed, rates, rows, key)
    gradient, told = total(gradient), total(told)
    changes, optimiser = optimiser_of(settings).update(gradient, state.optimiser, parameters)
    changes = jax.tree.map(lambda change: -rates["learning_rate"] * change, changes)
    stepped = with_learned(state, optax.apply_updates(parameters, changes), total(statistics, mean=True))
    stepped = stepped._replace(optimiser=optimiser)
    if settings.kl_stop:
        moving = moving & (told["kl"] <= settings.kl_stop)
        stepped = jax.tree.map(lambda new, old: jnp.where(moving, new, old), stepped, state)
        told["moving"] = moving.astype(jnp.float32)
    return (stepped, moving), told | {"gradient": length_of(gradient)}


def gradient_of(
    settings: PPO, agent: DeepAgent, state: State, parameters: Any, batch: Batch, fixed: Any, rates: Any, rows: Array,
    key: Array,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradient, metrics and statistics of some rows: at once, or piece by piece and summed, in less memory."""
    valid = returns.valid_steps(batch.steps.first)[settings.burn_in :, rows]
    counts = total(valid.sum()), total((valid & batch.own[settings.burn_in :, rows]).sum())

    def piece(rows: Array, key: Array) -> tuple[Any, Any, Any]:
        part, estimated = some_rows(batch, rows), jax.tree.map(lambda array: array[:, rows], fixed)
        objective = functools.partial(loss_of, settings, agent, state.agent, part, estimated, rates, counts, key)
        gradient, (told, statistics) = jax.grad(objective, has_aux=True)(parameters)
        return gradient, told, statistics

    if settings.pieces == 1:
        return piece(rows, key)

    def add(sums: Any, now: Any) -> tuple[Any, Any]:
        gradient, told, statistics = piece(*now)
        return jax.tree.map(jnp.add, sums, (gradient, told)), statistics

    pieces = rows.reshape(settings.pieces, -1), jax.random.split(key, settings.pieces)
    nothing = jax.tree.map(lambda like: jnp.zeros(like.shape, like.dtype), jax.eval_shape(piece, pieces[0][0], key)[:2])
    (gradient, told), statistics = jax.lax.scan(add, nothing, pieces)
    return gradient, told, jax.tree.map(lambda array: array.mean(axis=0), statistics)


def learned(variables: Any, curiosity: Any) -> dict[str, Any]:
    """What gradients change."""
    return {"agent": variables["params"]} | ({"curiosity": curiosity.predictor} if curiosity else {})


def with_learned(state: State, parameters: Any, statistics: Any) -> State:
    agent = {**state.agent, **statistics, "params": parameters["agent"]}
    curiosity = state.curiosity._replace(predictor=parameters["curiosity"]) if state.curiosity else ()
    return state._replace(agent=agent, curiosity=curiosity)


@functools.cache
def optimiser_of(settings: PPO) -> optax.GradientTransformation:
    """Adam behind a bound on the gradient's length; the learning rate comes with every update."""
    return optax.chain(optax.clip_by_global_norm(settings.max_gradient), optax.scale_by_adam(eps=1e-5))


def length_of(gradient: Any) -> Array:
    """The square root of the sum of all its squares."""
    return jnp.sqrt(jnp.sum(jnp.array([jnp.square(part).sum() for part in jax.tree.leaves(gradient)])))
