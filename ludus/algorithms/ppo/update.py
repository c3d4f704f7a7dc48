"""One update of PPO: advantages, then epochs of minibatches, on all devices at once.

All devices end with the same parameters. Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

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
from ludus.algorithms.ppo.objective import (
    Estimate,
    Rates,
    Scalars,
    critic_steps,
    estimate,
    loss_of,
    recomputed,
    refreshed,
    some_rows,
)
from ludus.algorithms.ppo.sharding import (
    ROWS,
    Batch,
    Order,
    PartitionSpec,
    mesh_of,
    on,
    placed,
    shard,
    shuffled,
    total,
)
from ludus.algorithms.tally import means, merged
from ludus.types import PyTree, Rollout

Array = jax.Array
Compiled = jax.stages.Wrapped


class State(NamedTuple):
    """Everything that an update changes, as one pytree; the same on every device."""

    agent: PyTree
    """variables of the agent's network"""
    curiosity: rnd.Curiosity | tuple[()]
    """state of random network distillation; () if it is off"""
    optimiser: optax.OptState
    updates: Array
    kl_coef: Array | tuple[()] = ()
    """coefficient of the KL penalty; () if it is off"""


class Learner(NamedTuple):
    """The progress of a run."""

    state: State
    seed: int
    steps: int
    episodes: int
    snapshots: Mapping[str, PyTree] = MappingProxyType({})
    """earlier parameters to play against, by the number of updates they had"""

    @property
    def params(self) -> PyTree:
        """The agent's variables, on one device of this process."""
        return jax.tree.map(lambda array: array.addressable_data(0), self.state.agent)

    @property
    def updates(self) -> int:
        return int(self.state.updates.addressable_data(0))


def start(settings: PPO, agent: DeepAgent, seed: int) -> Learner:
    """A new learner."""
    devices.start()
    return Learner(everywhere(settings, _new_state(settings, agent)(np.uint32(seed % 2**32))), seed, 0, 0)


def with_snapshots(settings: PPO, learner: Learner) -> Learner:
    """The learner with a snapshot of its parameters, if one is due and "past" is among the opponents."""
    due = learner.updates % settings.snapshot_interval == 0 and f"{learner.updates:09d}" not in learner.snapshots
    if not due or not has_past(settings.opponents):
        return learner
    snapshots = with_snapshot(learner.snapshots, learner.params, learner.updates, settings.max_snapshots)
    return learner._replace(snapshots=snapshots)


@functools.cache
def _new_state(settings: PPO, agent: DeepAgent) -> Compiled:
    return jax.jit(functools.partial(new_state, settings, agent), compiler_options=IN_A_HURRY)


def new_state(settings: PPO, agent: DeepAgent, seed: Array) -> State:
    """The state before the first update."""
    variables = initialised(agent.network, jax.random.key(seed))
    curiosity = rnd.start(agent, jax.random.fold_in(jax.random.key(seed), 1)) if settings.uses_rnd else ()
    optimiser = optimiser_of(settings).init(trainable(variables, curiosity))
    kl_coef = jnp.float32(settings.kl_coef) if settings.kl_coef else ()
    return State(variables, curiosity, optimiser, jnp.zeros((), jnp.int32), kl_coef)


def everywhere(settings: PPO, state: State) -> State:
    """A state on all learner devices, where updates leave it; otherwise the update would be compiled twice."""
    whole = NamedSharding(mesh_of(settings.devices, settings.actor_devices), PartitionSpec())
    placed: State = jax.tree.map(lambda array: devices.put(array, whole), state)
    return placed


def update(settings: PPO, agent: DeepAgent, learner: Learner, rollout: Rollout) -> tuple[Learner, dict[str, float]]:
    """Learn from a rollout; the metrics are means over its minibatches.

    If a metric is NaN or infinite, the update is discarded and `finite` is 0.
    """
    mesh = mesh_of(settings.devices, settings.actor_devices)
    with devices.annotated("transfer"):
        batch = shard(mesh, rollout._replace(steps=agent.packed(rollout.steps)))
    rates = settings.rates(learner.steps)
    program = _program(settings, agent, mesh)
    order = minibatch_order(settings, mesh, rollout, learner)
    state, averages = program(learner.state, batch, order, {name: np.float32(rate) for name, rate in rates.items()})
    tally = merged(devices.gathered(rollout.tally))
    steps, episodes = learner.steps + int(tally[2]), learner.episodes + int(tally[0])
    metrics = {name: float(number) for name, number in jax.device_get(averages).items()}
    finite = all(map(math.isfinite, metrics.values()))
    state, metrics["finite"] = state if finite else learner.state, float(finite)
    learned = learner._replace(state=state, steps=steps, episodes=episodes)
    return learned, metrics | rates | means(tally) | rollout.notes


def minibatch_order(settings: PPO, mesh: Mesh, rollout: Rollout, learner: Learner) -> Order:
    """The rows of each minibatch on the devices of this process, shuffled anew in every update."""
    local, updates = mesh.size // devices.processes(), learner.updates
    order = shuffled(settings, mesh.size, rollout.own.shape[1] // local, learner.seed % 2**32, updates)
    first = devices.process() * local
    place = NamedSharding(mesh, PartitionSpec(ROWS))
    return Order(*(devices.put(array[first : first + local], place) for array in order))


def compile_start(settings: PPO, agent: DeepAgent) -> None:
    """Compile the creation of the first state."""
    _new_state(settings, agent).lower(np.uint32(0)).compile()


def compile_update(settings: PPO, agent: DeepAgent, rollout: Rollout) -> None:
    """Compile the update for rollouts of these shapes; `rollout` may contain shapes only."""
    mesh = mesh_of(settings.devices, settings.actor_devices)
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    fresh = jax.eval_shape(functools.partial(new_state, settings, agent), np.uint32(0))
    state = jax.tree.map(lambda array: on(NamedSharding(mesh, PartitionSpec()), array), fresh)
    parts = jax.tree.map(lambda array, spec: on(NamedSharding(mesh, spec), array), batch, placed(batch))
    order = shuffled(settings, mesh.size, batch.own.shape[1] // mesh.size, 0)
    places = jax.tree.map(lambda array: on(NamedSharding(mesh, PartitionSpec(ROWS)), array), order)
    rates = {name: np.float32(rate) for name, rate in settings.rates(0).items()}
    _program(settings, agent, mesh).lower(state, parts, places, rates).compile()


@functools.cache
def _program(settings: PPO, agent: DeepAgent, mesh: Mesh) -> Compiled:
    """The compiled update, which runs on all devices of the mesh."""

    def update_all(state: State, batch: Batch, order: Order, rates: Rates) -> tuple[State, Scalars]:
        on_device = functools.partial(learn, settings, agent)
        whole, given = PartitionSpec(), (PartitionSpec(), placed(batch), PartitionSpec(ROWS), PartitionSpec())
        return jax.shard_map(on_device, mesh=mesh, in_specs=given, out_specs=whole, check_vma=False)(
            state, batch, order, rates
        )

    return jax.jit(update_all, compiler_options=devices.lightly())


def learn(
    settings: PPO, agent: DeepAgent, state: State, batch: Batch, order: Order, rates: Rates
) -> tuple[State, Scalars]:
    """The update on one device, with its part of the rows."""
    metrics: Scalars = {}
    if isinstance(state.curiosity, rnd.Curiosity):
        intrinsic, curiosity = rnd.rewards(agent, state.curiosity, batch.steps, settings.int_gamma, total)
        batch, state = batch._replace(intrinsic=intrinsic), state._replace(curiosity=curiosity)
        metrics["intrinsic_reward"] = total(intrinsic[1:].mean()) / total(1.0)
    if settings.refresh_rollouts and not recomputed(settings):
        batch = refreshed(settings, agent, state.agent, batch)
    if not isinstance(state.kl_coef, tuple):
        rates = rates | {"kl_coef": state.kl_coef}
    fixed = None if recomputed(settings) else estimate(settings, agent, batch, batch.decisions.value, None)
    apply_minibatch = functools.partial(minibatch, settings, agent, batch, fixed, rates)
    (state, _), averages = jax.lax.scan(apply_minibatch, (state, jnp.array(True)), (order.rows[0], order.keys[0]))
    metrics |= jax.tree.map(jnp.mean, averages) | {"param_norm": optax.tree.norm(state.agent)}
    if not isinstance(state.kl_coef, tuple):
        metrics["kl_coef"] = state.kl_coef
        last_epoch = averages["approx_kl"][-settings.num_minibatches :]
        state = state._replace(kl_coef=adapted(state.kl_coef, last_epoch.mean(), settings.kl_target))
    return state._replace(updates=state.updates + 1), metrics


def adapted(kl_coef: Array, divergence: Array, kl_target: float) -> Array:
    """The coefficient of the KL penalty for the next update: × 1.5 above 2 × the target, × 0.5 below half of it.

    RLlib's rule. Schulman et al. 2017, section 4, doubles and halves it beyond 1.5 × the target and the target / 1.5.
    """
    factor = jnp.where(divergence > 2.0 * kl_target, 1.5, jnp.where(divergence < 0.5 * kl_target, 0.5, 1.0))
    return kl_coef * factor


def minibatch(
    settings: PPO, agent: DeepAgent, batch: Batch, fixed: Estimate | None, rates: Rates, carry: tuple[State, Array],
    now: tuple[Array, Array],
) -> tuple[tuple[State, Array], Scalars]:  # fmt: skip
    """Apply the gradient of some rows, unless the KL divergence of this update has exceeded its target."""
    (state, applied), (rows, keys) = carry, now
    parameters = trainable(state.agent, state.curiosity)
    gradient, metrics, statistics = gradient_of(settings, agent, state, parameters, batch, fixed, rates, rows, keys)
    gradient, metrics = total(gradient), total(metrics)
    changes, optimiser = optimiser_of(settings).update(gradient, state.optimiser, parameters)
    changes = jax.tree.map(lambda change: -rates["learning_rate"] * change, changes)
    stepped = with_trainable(state, optax.apply_updates(parameters, changes), total(statistics, mean=True))
    stepped = stepped._replace(optimiser=optimiser)
    if settings.target_kl:
        applied = applied & (metrics["approx_kl"] <= settings.target_kl)
        stepped = jax.tree.map(lambda new, old: jnp.where(applied, new, old), stepped, state)
        metrics["applied_fraction"] = applied.astype(jnp.float32)
    return (stepped, applied), metrics | {"grad_norm": optax.tree.norm(gradient)}


def gradient_of(
    settings: PPO, agent: DeepAgent, state: State, parameters: PyTree, batch: Batch, fixed: Estimate | None,
    rates: Rates, rows: Array, keys: Array,
) -> tuple[PyTree, Scalars, PyTree]:  # fmt: skip
    """Gradient, metrics and batch statistics of some rows: all at once, or accumulated part by part in less memory."""
    valid = critic_steps(settings, batch.steps.first, batch.own)[settings.burn_in :, rows]
    counts = total(valid.sum()), total((valid & batch.own[settings.burn_in :, rows]).sum())

    def of_part(rows: Array, key: Array) -> tuple[PyTree, Scalars, PyTree]:
        part, estimated = some_rows(batch, rows), jax.tree.map(lambda array: array[:, rows], fixed)
        objective = functools.partial(loss_of, settings, agent, state.agent, part, estimated, rates, counts, key)
        gradient, (metrics, statistics) = jax.grad(objective, has_aux=True)(parameters)
        return gradient, metrics, statistics

    if settings.gradient_accumulation == 1:
        return of_part(rows, keys[0])

    def add(sums: PyTree, part: tuple[Array, Array]) -> tuple[PyTree, tuple[Scalars, PyTree]]:
        gradient, metrics, statistics = of_part(*part)
        return jax.tree.map(jnp.add, sums, gradient), (metrics, statistics)

    parts = rows.reshape(settings.gradient_accumulation, -1), keys
    gradient, (metrics, statistics) = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, parameters), parts)
    summed = jax.tree.map(lambda array: array.sum(axis=0), metrics)
    return gradient, summed, jax.tree.map(lambda array: array.mean(axis=0), statistics)


def trainable(variables: PyTree, curiosity: rnd.Curiosity | tuple[()]) -> dict[str, PyTree]:
    """The parameters that gradients change."""
    return {"agent": variables["params"]} | (
        {"curiosity": curiosity.predictor} if isinstance(curiosity, rnd.Curiosity) else {}
    )


def with_trainable(state: State, parameters: dict[str, PyTree], statistics: PyTree) -> State:
    """The state with new parameters and statistics; averaged integers, such as a count of steps, stay integers."""
    before = {name: state.agent[name] for name in statistics}
    statistics = jax.tree.map(lambda new, old: new.astype(old.dtype), statistics, before)
    agent = {**state.agent, **statistics, "params": parameters["agent"]}
    curiosity = state.curiosity
    if isinstance(curiosity, rnd.Curiosity):
        curiosity = curiosity._replace(predictor=parameters["curiosity"])
    return state._replace(agent=agent, curiosity=curiosity)


@functools.cache
def optimiser_of(settings: PPO) -> optax.GradientTransformation:
    """Adam on clipped gradients; the learning rate is an argument of every update."""
    return optax.chain(optax.clip_by_global_norm(settings.max_grad_norm), optax.scale_by_adam(eps=1e-5))
