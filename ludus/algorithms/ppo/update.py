"""One update of PPO, top to bottom: advantages, then epochs of minibatches, on all devices at once.

Every device ends with the same parameters. Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding

from ludus.agents.neural import devices
from ludus.agents.neural.agent import DeepAgent
from ludus.agents.neural.networks import IN_A_HURRY, initialised
from ludus.algorithms.opponents import has_past, with_snapshot
from ludus.algorithms.ppo import PPO, rnd
from ludus.algorithms.ppo.objective import estimate, heard_steps, loss_of, recomputed, refreshed, some_rows
from ludus.algorithms.ppo.sharding import (
    ROWS,
    Batch,
    Order,
    PartitionSpec,
    dealt,
    mesh_of,
    on,
    placed,
    shuffled,
    total,
)
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
    """The progress of a run."""

    state: State
    seed: int
    steps: int
    episodes: int
    snapshots: Mapping[str, Any] = MappingProxyType({})
    """former parameters to play against, by the number of updates that they had"""

    @property
    def params(self) -> Any:
        """The agent's variables, on one device of this process."""
        return jax.tree.map(lambda array: array.addressable_data(0), self.state.agent)

    @property
    def updates(self) -> int:
        return int(self.state.updates.addressable_data(0))


def start(settings: PPO, agent: DeepAgent, seed: int) -> Learner:
    """A learner that knows nothing yet."""
    devices.start()
    return Learner(everywhere(settings, _beginning(settings, agent)(np.uint32(seed % 2**32))), seed, 0, 0)


def with_snapshots(settings: PPO, learner: Learner) -> Learner:
    """The learner with a snapshot of its parameters, if one is due and past selves are among the opponents."""
    due = learner.updates % settings.past_every == 0 and f"{learner.updates:09d}" not in learner.snapshots
    if not due or not has_past(settings.opponents):
        return learner
    snapshots = with_snapshot(learner.snapshots, learner.params, learner.updates, settings.past_kept)
    return learner._replace(snapshots=snapshots)


@functools.cache
def _beginning(settings: PPO, agent: DeepAgent) -> Any:
    return jax.jit(functools.partial(new_state, settings, agent), compiler_options=IN_A_HURRY)


def new_state(settings: PPO, agent: DeepAgent, seed: Array) -> State:
    """The state before the first update."""
    variables = initialised(agent.network, jax.random.key(seed))
    curiosity = rnd.start(agent, jax.random.fold_in(jax.random.key(seed), 1)) if settings.curious else ()
    optimiser = optimiser_of(settings).init(learned(variables, curiosity))
    return State(variables, curiosity, optimiser, jnp.zeros((), jnp.int32))


def everywhere(settings: PPO, state: State) -> State:
    """A state on all devices that learn, where an update leaves it: elsewhere all would be compiled twice."""
    whole = NamedSharding(mesh_of(settings.devices, settings.actor_devices), PartitionSpec())
    placed: State = jax.tree.map(lambda array: devices.put(array, whole), state)
    return placed


def update(settings: PPO, agent: DeepAgent, learner: Learner, rollout: Rollout) -> tuple[Learner, dict[str, float]]:
    """Learn from a rollout; the metrics are means over its minibatches.

    Where one of them is no finite number, nothing is taken over, and `finite` is 0.
    """
    mesh = mesh_of(settings.devices, settings.actor_devices)
    batch = dealt(mesh, rollout._replace(steps=agent.packed(rollout.steps)))
    rates = settings.rates(learner.steps)
    program = _program(settings, agent, mesh)
    order = in_order(settings, mesh, rollout, learner)
    state, metrics = program(learner.state, batch, order, {name: np.float32(rate) for name, rate in rates.items()})
    played = np.sum(devices.gathered(rollout.tally), axis=0)
    steps, episodes = learner.steps + int(played[2]), learner.episodes + int(played[0])
    told = {name: float(number) for name, number in jax.device_get(metrics).items()}
    finite = all(map(math.isfinite, told.values()))
    state, told["finite"] = state if finite else learner.state, float(finite)
    learned = learner._replace(state=state, steps=steps, episodes=episodes)
    return learned, told | rates | means(played) | rollout.notes


def in_order(settings: PPO, mesh: Mesh, rollout: Rollout, learner: Learner) -> Order:
    """What the devices of this process learn from first, and what next: another order in every update."""
    ours, updates = mesh.size // devices.processes(), learner.updates
    order = shuffled(settings, mesh.size, rollout.own.shape[1] // ours, learner.seed % 2**32, updates)
    first = devices.process() * ours
    place = NamedSharding(mesh, PartitionSpec(ROWS))
    return Order(*(devices.put(array[first : first + ours], place) for array in order))


def compile_start(settings: PPO, agent: DeepAgent) -> None:
    """Have the state before the first update compiled."""
    _beginning(settings, agent).lower(np.uint32(0)).compile()


def compile_update(settings: PPO, agent: DeepAgent, rollout: Rollout) -> None:
    """Have the update compiled for rollouts of these shapes; `rollout` may be shapes alone."""
    mesh = mesh_of(settings.devices, settings.actor_devices)
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    begun = jax.eval_shape(functools.partial(new_state, settings, agent), np.uint32(0))
    state = jax.tree.map(lambda array: on(NamedSharding(mesh, PartitionSpec()), array), begun)
    parts = jax.tree.map(lambda array, spec: on(NamedSharding(mesh, spec), array), batch, placed(batch))
    order = shuffled(settings, mesh.size, batch.own.shape[1] // mesh.size, 0)
    places = jax.tree.map(lambda array: on(NamedSharding(mesh, PartitionSpec(ROWS)), array), order)
    rates = {name: np.float32(rate) for name, rate in settings.rates(0).items()}
    _program(settings, agent, mesh).lower(state, parts, places, rates).compile()


@functools.cache
def _program(settings: PPO, agent: DeepAgent, mesh: Mesh) -> Any:
    """The compiled update, the same on all devices of the mesh."""

    def update_all(state: State, batch: Batch, order: Order, rates: Any) -> Any:
        on_one = functools.partial(learn, settings, agent)
        whole, given = PartitionSpec(), (PartitionSpec(), placed(batch), PartitionSpec(ROWS), PartitionSpec())
        return jax.shard_map(on_one, mesh=mesh, in_specs=given, out_specs=whole, check_vma=False)(
            state, batch, order, rates
        )

    return jax.jit(update_all, compiler_options=devices.lightly())


def learn(settings: PPO, agent: DeepAgent, state: State, batch: Batch, order: Order, rates: Any) -> tuple[State, Any]:
    """The update as one device does it, with its part of the rows."""
    metrics = {}
    if settings.curious:
        news, curiosity = rnd.rewards(agent, state.curiosity, batch.steps, settings.novelty_discount, total)
        batch, state = batch._replace(news=news), state._replace(curiosity=curiosity)
        metrics["novelty"] = total(news[1:].mean()) / total(1.0)
    if settings.refresh and not recomputed(settings):
        batch = refreshed(settings, agent, state.agent, batch)
    fixed = None if recomputed(settings) else estimate(settings, agent, batch, batch.decisions.value, None)
    follow = functools.partial(minibatch, settings, agent, batch, fixed, rates)
    (state, _), told = jax.lax.scan(follow, (state, jnp.array(True)), (order.rows[0], order.dice[0]))
    metrics |= jax.tree.map(jnp.mean, told) | {"weights": length_of(state.agent)}
    return state._replace(updates=state.updates + 1), metrics


def minibatch(settings: PPO, agent: DeepAgent, batch: Batch, fixed: Any, rates: Any, carry: Any, now: Any) -> Any:
    """Follow the gradient of some rows, unless the policy has moved far enough."""
    (state, moving), (rows, dice) = carry, now
    parameters = learned(state.agent, state.curiosity)
    gradient, told, statistics = gradient_of(settings, agent, state, parameters, batch, fixed, rates, rows, dice)
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
    dice: Array,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradient, metrics and statistics of some rows: at once, or piece by piece and summed, in less memory."""
    valid = heard_steps(settings, batch.steps.first, batch.own)[settings.burn_in :, rows]
    counts = total(valid.sum()), total((valid & batch.own[settings.burn_in :, rows]).sum())

    def piece(rows: Array, dice: Array) -> tuple[Any, Any, Any]:
        part, estimated = some_rows(batch, rows), jax.tree.map(lambda array: array[:, rows], fixed)
        objective = functools.partial(loss_of, settings, agent, state.agent, part, estimated, rates, counts, dice)
        gradient, (told, statistics) = jax.grad(objective, has_aux=True)(parameters)
        return gradient, told, statistics

    if settings.pieces == 1:
        return piece(rows, dice[0])

    def add(sums: Any, now: Any) -> tuple[Any, Any]:
        gradient, told, statistics = piece(*now)
        return jax.tree.map(jnp.add, sums, (gradient, told)), statistics

    pieces = rows.reshape(settings.pieces, -1), dice
    shapes = jax.eval_shape(piece, pieces[0][0], dice[0])[:2]
    nothing = jax.tree.map(lambda like: jnp.zeros(like.shape, like.dtype), shapes)
    (gradient, told), statistics = jax.lax.scan(add, nothing, pieces)
    return gradient, told, jax.tree.map(lambda array: array.mean(axis=0), statistics)


def learned(variables: Any, curiosity: Any) -> dict[str, Any]:
    """What gradients change."""
    return {"agent": variables["params"]} | ({"curiosity": curiosity.predictor} if curiosity else {})


def with_learned(state: State, parameters: Any, statistics: Any) -> State:
    """The state with new parameters and statistics; averaged integers, such as a count of steps, stay integers."""
    before = {name: state.agent[name] for name in statistics}
    statistics = jax.tree.map(lambda new, old: new.astype(old.dtype), statistics, before)
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
