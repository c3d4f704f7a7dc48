"""What PPO makes small: the surrogate, the critic's error and the entropy, reckoned from rows of a rollout.

Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ludus.agents.neural import distributions
from ludus.agents.neural.agent import DeepAgent, Judgement, value_columns
from ludus.algorithms import losses, returns
from ludus.algorithms.ppo import PPO, rnd
from ludus.algorithms.ppo.sharding import Batch, total

Array = jax.Array
MOST_WEIGHT = 2.0
"""how much an older decision may count at most, against one of today"""


class Estimate(NamedTuple):
    """What the decisions of a rollout turned out to be worth."""

    advantage: Array
    """[T, N] to who decided"""
    target: Array
    """[T, N, P(+1)] what the critic should have said"""


def loss_of(
    settings: PPO, agent: DeepAgent, others: Any, part: Batch, fixed: Any, rates: Any, counts: Any, dice: Array,
    parameters: Any,
) -> tuple[Array, Any]:  # fmt: skip
    """What is made small, and the numbers worth watching: summed over pieces and devices, they are means.

    `counts` are the steps that count in all pieces on all devices, and those of them that were decided by the agent;
    `others` are the variables that no gradient changes.
    """
    variables = {**others, "params": parameters["agent"]}
    part, fixed = after_burn_in(settings, agent, variables, part, fixed)
    shown = part.steps if fixed is None else first_steps(part.steps)
    judged = agent.evaluate(variables, part.memory, shown, train=True)
    policy, value = decided(judged, part.own.shape[0])
    log_prob = distributions.log_prob(policy, part.decisions.action)
    if fixed is None:
        # What an opponent did was never the agent's to decide: it is part of the world, as it was met.
        ratio = jnp.where(part.own, jnp.exp(losses.log_ratio(log_prob, part.decisions.log_prob, part.own)), 1.0)
        fixed = estimate(settings, agent, part, judged.value, jax.lax.stop_gradient(ratio))
    valid = heard_steps(settings, part.steps.first, part.own)
    own = valid & part.own
    ours, mine = (weights.sum() / jnp.maximum(count, 1) for weights, count in zip((valid, own), counts, strict=True))
    actor = mine * surrogate(settings, log_prob, part.decisions.log_prob, fixed.advantage, own)
    critic = ours * value_loss(settings, value, part.decisions.value[:-1], fixed.target, valid)
    undecided = mine * losses.entropy_bonus(distributions.entropy(policy), own)
    loss = actor + settings.value_weight * critic - rates["entropy"] * undecided
    told = {"policy_loss": actor, "value_loss": critic, "undecided": undecided}
    told["kl"] = mine * losses.approximate_kl(log_prob, part.decisions.log_prob, own)
    told["clipped"] = mine * losses.clip_fraction(log_prob, part.decisions.log_prob, settings.clip, own)
    told["explained"] = ours * losses.explained_variance(value, fixed.target, valid)
    if settings.curious:
        predictor = parameters["curiosity"]
        surprise = rnd.loss(agent, predictor, part.steps, settings.novelty_share, dice)
        surprise = surprise / (settings.pieces * total(1.0))
        loss, told["novelty_loss"] = loss + surprise, surprise
    return loss, (told, judged.statistics)


def estimate(settings: PPO, agent: DeepAgent, batch: Batch, value: Array, ratio: Array | None) -> Estimate:
    """Advantages and targets from T+1 steps and a value for each; `ratio` [T, N] is π/μ, where it is known."""
    steps, seats = batch.steps, agent.spec.seats
    value = jax.lax.stop_gradient(value)
    said, trace, acts = value, jnp.asarray(settings.trace), returns.acts(steps.seat, seats)
    if settings.own_chain:
        mine = (steps.reward, steps.discount, steps.first, value[..., :seats], steps.seat, settings.discount)
        value = jnp.concatenate([returns.own_values(*mine), value[..., seats:]], axis=-1)
        trace = jnp.where(acts[:-1], trace, 1.0)
    chain = (steps.reward, steps.discount, steps.first, value[..., :seats], settings.discount)
    if settings.target == "vtrace" and ratio is not None:
        found = returns.vtrace(
            *chain[:4], returns.seat_ratios(ratio, steps.seat, seats), settings.discount, settings.trace,
            settings.rho_clip, settings.c_clip,
        )  # fmt: skip
        advantage, target = found.advantage, found.target
    else:
        advantage = returns.gae(*chain, trace)
        target = advantage + value[:-1, :, :seats]
    if settings.own_chain:
        # Where one number tells all, what it is worth to the other is its opposite; else nothing is asked of them.
        theirs = -target[..., ::-1] if value_columns(agent.spec) < seats else said[:-1, :, :seats]
        target = jnp.where(acts[:-1], target, theirs)
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


def after_burn_in(settings: PPO, agent: DeepAgent, variables: Any, part: Batch, fixed: Any) -> tuple[Batch, Any]:
    """The rows without their first steps, with a memory that has seen those; no gradient goes back there."""
    begin = settings.burn_in
    if not begin:
        return part, fixed
    seen = jax.tree.map(lambda array: array[:begin], part.steps)
    memory = jax.lax.stop_gradient(agent.evaluate(variables, part.memory, seen).memory)
    later = jax.tree.map(lambda array: array[begin:], part._replace(memory=()))
    return later._replace(memory=memory), jax.tree.map(lambda array: array[begin:], fixed)


def heard_steps(settings: PPO, first: Array, own: Array) -> Array:
    """The steps [T, N] that the critic learns from: all decisions, or with `own_chain` the agent's own."""
    valid = returns.valid_steps(first)
    return valid & own if settings.own_chain else valid


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
