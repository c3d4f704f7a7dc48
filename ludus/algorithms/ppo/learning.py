"""One update of PPO, top to bottom: advantages, then epochs of minibatches, on all devices at once.

Rows are dealt to the devices, so sequences stay whole; what is averaged over rows is averaged over devices (`total`),
and every device ends with the same parameters. Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding

from ludus import devices
from ludus.agents import distributions
from ludus.agents.deep import DeepAgent, Judgement
from ludus.algorithms import losses, returns
from ludus.algorithms.ppo import PPO, novelty
from ludus.algorithms.tally import means
from ludus.types import LudusError, Rollout

Array = jax.Array
MOST_WEIGHT = 2.0
ROWS = "rows"
"""the axis of the mesh of devices, over which rows are dealt"""
PartitionSpec: Any = jax.sharding.PartitionSpec  # JAX has no types for it


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


class Batch(NamedTuple):
    """The part of a rollout that one device learns from, [T+1, N, …] and [T, N, …]."""

    steps: Any
    """`Step`"""
    decisions: Any
    """`Decision`"""
    own: Any
    """[T, N] decisions that were the agent's own"""
    memory: Any
    """[N, …]"""
    news: Any = ()
    """[T+1, N, 1] how new what is seen was; () where nobody asks"""
    weight: Any = ()
    """[T, N] how much more likely each decision has become since it was made; () where nobody asks"""


class Estimate(NamedTuple):
    """What the decisions of a rollout turned out to be worth."""

    advantage: Array
    """[T, N] to who decided"""
    target: Array
    """[T, N, P(+1)] what the critic should have said"""


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


def on(sharding: NamedSharding, array: Any) -> Any:
    """The shape of an array that lies there."""
    like: Any = jax.ShapeDtypeStruct  # JAX has no types for it
    return like(array.shape, jax.dtypes.canonicalize_dtype(array.dtype), sharding=sharding)


def check_rows(settings: PPO, rows: int, copies: int = 1) -> None:
    """A sentence where the rows, of which every actor and every seat that acts at once has a copy, cannot be dealt."""
    learners = len(devices.learners(settings.devices, settings.actor_devices)) // devices.processes()
    parts = learners * settings.minibatches * settings.pieces
    if rows * copies % parts:
        step = parts // math.gcd(parts, copies)
        raise LudusError(
            f"{rows * copies} rows cannot be dealt evenly to {settings.minibatches} minibatches of {settings.pieces} "
            f"on {learners} devices; take --rows {rows + -rows % step}, or other parts"
        )


@functools.cache
def mesh_of(wanted: int, acting: int = 0) -> Mesh:
    """The devices that learn, in a row, those of a process side by side."""
    return Mesh(np.array(devices.learners(wanted, acting)), (ROWS,))


def dealt(mesh: Mesh, rollout: Rollout) -> Batch:
    """The rollout on the devices, each with its rows."""
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    return jax.tree.map(lambda array, spec: devices.put(array, NamedSharding(mesh, spec)), batch, placed(batch))


def placed(batch: Batch) -> Batch:
    """Where the rows are in each part of a batch: the second axis, but the first in the memory."""
    by_time = jax.tree.map(lambda _: PartitionSpec(None, ROWS), batch._replace(memory=()))
    memory = jax.tree.map(lambda _: PartitionSpec(ROWS), batch.memory)
    return by_time._replace(memory=memory)


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


def refreshed(settings: PPO, agent: DeepAgent, variables: Any, batch: Batch) -> Batch:
    """The batch as the newest parameters see it, which then are the ones that an update is held near to.

    What older parameters decided counts π/μ as much, at most twice. Without this, one version of age has used up much
    of the way that clipping allows. Hilton et al. 2021, https://arxiv.org/abs/2110.00641
    """
    times, rows = batch.own.shape

    def seen(rows: Array) -> tuple[Array, Array]:
        part = some_rows(batch, rows)
        policy, _ = decided(judged := agent.evaluate(variables, part.memory, part.steps), times)
        return distributions.log_prob(policy, part.decisions.action), judged.value

    # As many rows at a time as a gradient is taken of, so that it needs no more memory.
    found = jax.lax.map(seen, jnp.arange(rows).reshape(settings.minibatches * settings.pieces, -1))
    log_prob, value = (jnp.moveaxis(part, 0, 1).reshape(part.shape[1], rows, *part.shape[3:]) for part in found)
    older = batch.decisions.log_prob
    weight = jnp.minimum(jnp.exp(losses.log_ratio(log_prob, older, batch.own)), MOST_WEIGHT)
    decisions = batch.decisions._replace(log_prob=jnp.where(batch.own, log_prob, older), value=value)
    return batch._replace(decisions=decisions, weight=jnp.where(batch.own, weight, 1.0))


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
        objective = functools.partial(loss_of, settings, agent, state, part, estimated, rates, counts, key)
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


def loss_of(
    settings: PPO, agent: DeepAgent, state: State, part: Batch, fixed: Any, rates: Any, counts: Any, key: Array,
    parameters: Any,
) -> tuple[Array, Any]:  # fmt: skip
    """What is made small, and the numbers worth watching: summed over pieces and devices, they are means.

    `counts` are the steps that count in all pieces on all devices, and those of them that were decided by the agent.
    """
    variables = {**state.agent, "params": parameters["agent"]}
    part, fixed = after_burn_in(settings, agent, variables, part, fixed)
    shown = part.steps if fixed is None else first_steps(part.steps)
    judged = agent.evaluate(variables, part.memory, shown, train=True)
    policy, value = decided(judged, part.own.shape[0])
    log_prob = distributions.log_prob(policy, part.decisions.action)
    if fixed is None:
        # What an opponent did was never the agent's to decide: it is part of the world, as it was met.
        ratio = jnp.where(part.own, jnp.exp(losses.log_ratio(log_prob, part.decisions.log_prob, part.own)), 1.0)
        fixed = estimate(settings, agent, part, judged.value, jax.lax.stop_gradient(ratio))
    valid = returns.valid_steps(part.steps.first)
    own = valid & part.own
    ours, mine = (weights.sum() / jnp.maximum(count, 1) for weights, count in zip((valid, own), counts, strict=True))
    actor = mine * surrogate(settings, log_prob, part.decisions.log_prob, fixed.advantage, own)
    critic = ours * value_loss(settings, value, part.decisions.value[:-1], fixed.target, valid)
    undecided = mine * losses.entropy_bonus(distributions.entropy(policy), own)
    loss = actor + settings.value_weight * critic - rates["entropy"] * undecided
    told = {
        "policy_loss": actor,
        "value_loss": critic,
        "undecided": undecided,
        "kl": mine * losses.approximate_kl(log_prob, part.decisions.log_prob, own),
        "clipped": mine * losses.clip_fraction(log_prob, part.decisions.log_prob, settings.clip, own),
        "explained": ours * losses.explained_variance(value, fixed.target, valid),
    }
    if settings.curious:
        predictor = parameters["curiosity"]
        surprise = novelty.loss(agent, predictor, part.steps, settings.novelty_share, key)
        surprise = surprise / (settings.pieces * total(1.0))
        loss, told["novelty_loss"] = loss + surprise, surprise
    return loss, (told, judged.statistics)


def estimate(settings: PPO, agent: DeepAgent, batch: Batch, value: Array, ratio: Array | None) -> Estimate:
    """Advantages and targets from T+1 steps and a value for each; `ratio` [T, N] is π/μ, where it is known."""
    steps, seats = batch.steps, agent.spec.seats
    value = jax.lax.stop_gradient(value)
    chain = (steps.reward, steps.discount, steps.first, value[..., :seats], settings.discount)
    if settings.target == "vtrace" and ratio is not None:
        found = returns.vtrace(
            *chain[:4], returns.seat_ratios(ratio, steps.seat, seats), settings.discount, settings.trace,
            settings.rho_clip, settings.c_clip,
        )  # fmt: skip
        advantage, target = found.advantage, found.target
    else:
        advantage = returns.gae(*chain, settings.trace)
        target = advantage + value[:-1, :, :seats]
    if settings.upgo:
        advantage = advantage + returns.upgo(*chain[:4], steps.seat, settings.discount) - value[:-1, :, :seats]
    worth = returns.acting(advantage, steps.seat)
    if settings.curious:
        # What is new is new for good: its chain goes on from game to game.
        endless = jnp.ones_like(steps.discount), jnp.zeros_like(steps.first)
        news = returns.gae(batch.news, *endless, value[..., seats:], settings.novelty_discount, settings.trace)
        worth = worth + settings.novelty * news[..., 0]
        target = jnp.concatenate([target, news + value[:-1, :, seats:]], axis=-1)
    if settings.normalise:
        worth = losses.normalised(worth, returns.valid_steps(steps.first) & batch.own, total=total)
    return Estimate(worth if isinstance(batch.weight, tuple) else worth * batch.weight, target)


def surrogate(settings: PPO, log_prob: Array, behaviour: Array, advantage: Array, weights: Array) -> Array:
    """The actor's loss, clipped once or twice."""
    if settings.dual_clip:
        return losses.dual_clipped_surrogate(log_prob, behaviour, advantage, settings.clip, settings.dual_clip, weights)
    return losses.clipped_surrogate(log_prob, behaviour, advantage, settings.clip, weights)


def value_loss(settings: PPO, value: Array, behaviour: Array, target: Array, weights: Array) -> Array:
    if settings.value_clip:
        return losses.clipped_value_loss(value, behaviour, target, settings.value_clip, weights)
    return losses.value_loss(value, target, weights)


def after_burn_in(settings: PPO, agent: DeepAgent, variables: Any, part: Batch, fixed: Any) -> tuple[Batch, Any]:
    """The rows without their first steps, with a memory that has seen those; no gradient goes back there."""
    begin = settings.burn_in
    if not begin:
        return part, fixed
    seen = jax.tree.map(lambda array: array[:begin], part.steps)
    memory = jax.lax.stop_gradient(agent.evaluate(variables, part.memory, seen).memory)
    later = jax.tree.map(lambda array: array[begin:], part._replace(memory=()))
    return later._replace(memory=memory), jax.tree.map(lambda array: array[begin:], fixed)


def recomputed(settings: PPO) -> bool:
    """Whether every minibatch reckons its advantages anew."""
    return settings.recompute or settings.target == "vtrace"


def first_steps(steps: Any) -> Any:
    """All but the last."""
    return jax.tree.map(lambda array: array[:-1], steps)


def decided(judged: Judgement, times: int) -> tuple[distributions.Policy, Array]:
    """Policy and value of the steps at which something was decided."""
    if isinstance(judged.policy, distributions.SquashedGaussian):
        mean, log_std = judged.policy.mean[:times], judged.policy.log_std[:times]
        return judged.policy._replace(mean=mean, log_std=log_std), judged.value[:times]
    return judged.policy[:times], judged.value[:times]


def some_rows(batch: Batch, rows: Array) -> Batch:
    by_time = jax.tree.map(lambda array: jnp.take(array, rows, axis=1), batch._replace(memory=()))
    return by_time._replace(memory=jax.tree.map(lambda array: jnp.take(array, rows, axis=0), batch.memory))


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


def total(tree: Any, mean: bool = False) -> Any:
    """Summed over the devices, or their mean."""
    over_devices: Any = jax.lax.pmean if mean else jax.lax.psum
    return over_devices(tree, ROWS)
