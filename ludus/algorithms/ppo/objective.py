"""The loss of PPO, computed from rows of a rollout: clipped surrogate, value loss and entropy bonus.

Schulman et al. 2017, https://arxiv.org/abs/1707.06347
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ludus.agents.neural import distributions
from ludus.agents.neural.agent import DeepAgent, Judgement, value_columns
from ludus.algorithms import losses, returns
from ludus.algorithms.ppo import PPO, rnd
from ludus.algorithms.ppo.sharding import Batch, total
from ludus.types import PyTree

Array = jax.Array
Scalars = dict[str, Array]
Rates = dict[str, Array]
"""current values of the schedules, and of the coefficient of the KL penalty"""
MOST_WEIGHT = 2.0
"""upper bound of the importance weight π/μ of decisions made with older parameters"""


class Estimate(NamedTuple):
    """Advantages and value targets of a rollout."""

    advantage: Array
    """[T, N] for the seat that acted"""
    target: Array
    """[T, N, P(+1)] targets of the critic, one per seat, and one for intrinsic rewards"""


def loss_of(
    settings: PPO, agent: DeepAgent, others: PyTree, part: Batch, fixed: Estimate | None, rates: Rates,
    counts: tuple[Array, Array], key: Array, parameters: PyTree,
) -> tuple[Array, tuple[Scalars, PyTree]]:  # fmt: skip
    """The loss, and metrics and batch statistics; summed over all parts and devices, loss and metrics are means.

    `counts` are the steps that the critic and the actor learn from, in all parts on all devices. `others` are the
    variables that have no gradient. `fixed` are precomputed advantages; without them they are computed here.
    """
    variables = {**others, "params": parameters["agent"]}
    part, fixed = after_burn_in(settings, agent, variables, part, fixed)
    steps = part.steps if fixed is None else first_steps(part.steps)
    judged = agent.evaluate(variables, part.memory, steps, train=True)
    policy, value = decided(judged, part.own.shape[0])
    log_prob = distributions.log_prob(policy, part.decisions.action)
    if fixed is None:
        # Moves of opponents are part of the environment, so their ratio is 1.
        ratio = jnp.where(part.own, jnp.exp(losses.log_ratio(log_prob, part.decisions.log_prob, part.own)), 1.0)
        fixed = estimate(settings, agent, part, judged.value, jax.lax.stop_gradient(ratio))
    valid = critic_steps(settings, part.steps.first, part.own)
    own = valid & part.own
    critic_share, actor_share = (
        weights.sum() / jnp.maximum(count, 1) for weights, count in zip((valid, own), counts, strict=True)
    )
    policy_loss = actor_share * surrogate(settings, log_prob, part.decisions.log_prob, fixed.advantage, own)
    critic_loss = critic_share * value_loss(settings, value, part.decisions.value[:-1], fixed.target, valid)
    entropy = actor_share * losses.entropy_bonus(distributions.entropy(policy), own)
    loss = policy_loss + settings.vf_coef * critic_loss - rates["ent_coef"] * entropy
    metrics = {"policy_loss": policy_loss, "value_loss": critic_loss, "entropy": entropy}
    metrics["approx_kl"] = actor_share * losses.approximate_kl(log_prob, part.decisions.log_prob, own)
    metrics["clip_fraction"] = actor_share * losses.clip_fraction(
        log_prob, part.decisions.log_prob, settings.clip_coef, own
    )
    metrics["explained_variance"] = critic_share * losses.explained_variance(value, fixed.target, valid)
    if settings.kl_coef:
        loss = loss + rates["kl_coef"] * metrics["approx_kl"]
    if settings.uses_rnd:
        rnd_loss = rnd.loss(agent, parameters["curiosity"], part.steps, settings.update_proportion, key)
        rnd_loss = rnd_loss / (settings.gradient_accumulation * total(1.0))
        loss, metrics["rnd_loss"] = loss + rnd_loss, rnd_loss
    return loss, (metrics, judged.statistics)


def estimate(settings: PPO, agent: DeepAgent, batch: Batch, value: Array, ratio: Array | None) -> Estimate:
    """Advantages and targets of T decisions from T+1 steps and their values; `ratio` [T, N] is π/μ, if known."""
    steps, seats = batch.steps, agent.spec.seats
    value = jax.lax.stop_gradient(value)
    predicted, decay, acts = value, jnp.asarray(settings.gae_lambda), returns.acts(steps.seat, seats)
    if settings.own_turns_only:
        own_steps = (steps.reward, steps.discount, steps.first, value[..., :seats], steps.seat, settings.gamma)
        value = jnp.concatenate([returns.own_values(*own_steps), value[..., seats:]], axis=-1)
        decay = jnp.where(acts[:-1], decay, 1.0)
    chain = (steps.reward, steps.discount, steps.first, value[..., :seats], settings.gamma)
    if settings.advantage_estimator == "vtrace" and ratio is not None:
        found = returns.vtrace(
            *chain[:4], returns.seat_ratios(ratio, steps.seat, seats), settings.gamma, settings.gae_lambda,
            settings.rho_clip, settings.c_clip,
        )  # fmt: skip
        advantage, target = found.advantage, found.target
    else:
        advantage = returns.gae(*chain, decay)
        target = advantage + value[:-1, :, :seats]
    if settings.own_turns_only:
        # Seats that do not act: with one value for both seats their target is the opposite, else the prediction itself.
        others = -target[..., ::-1] if value_columns(agent.spec) < seats else predicted[:-1, :, :seats]
        target = jnp.where(acts[:-1], target, others)
    if settings.upgo:
        advantage = advantage + returns.upgo(*chain[:4], steps.seat, settings.gamma) - value[:-1, :, :seats]
    acting = returns.acting(advantage, steps.seat)
    if settings.uses_rnd:
        # Intrinsic rewards are not episodic: their returns continue from game to game.
        endless = jnp.ones_like(steps.discount), jnp.zeros_like(steps.first)
        intrinsic = returns.gae(batch.intrinsic, *endless, value[..., seats:], settings.int_gamma, settings.gae_lambda)
        acting = acting + settings.int_coef * intrinsic[..., 0]
        target = jnp.concatenate([target, intrinsic + value[:-1, :, seats:]], axis=-1)
    if settings.norm_adv:
        acting = losses.normalised(acting, returns.valid_steps(steps.first) & batch.own, total=total)
    return Estimate(acting if isinstance(batch.weight, tuple) else acting * batch.weight, target)


def surrogate(settings: PPO, log_prob: Array, behaviour: Array, advantage: Array, weights: Array) -> Array:
    """The policy loss: the clipped surrogate, or the dual-clipped one."""
    if settings.dual_clip:
        return losses.dual_clipped_surrogate(
            log_prob, behaviour, advantage, settings.clip_coef, settings.dual_clip, weights
        )
    return losses.clipped_surrogate(log_prob, behaviour, advantage, settings.clip_coef, weights)


def value_loss(settings: PPO, value: Array, behaviour: Array, target: Array, weights: Array) -> Array:
    if settings.clip_range_vf:
        return losses.clipped_value_loss(value, behaviour, target, settings.clip_range_vf, weights)
    return losses.value_loss(value, target, weights)


def refreshed(settings: PPO, agent: DeepAgent, variables: PyTree, batch: Batch) -> Batch:
    """The batch with log-probabilities and values of the newest parameters, so that clipping is relative to these.

    Decisions of older parameters get the weight π/μ, at most 2. Without this, rollouts that are one version old have
    already used up much of the clipping range. Hilton et al. 2021, https://arxiv.org/abs/2110.00641
    """
    times, rows = batch.own.shape

    def evaluate(rows: Array) -> tuple[Array, Array]:
        part = some_rows(batch, rows)
        policy, _ = decided(judged := agent.evaluate(variables, part.memory, part.steps), times)
        return distributions.log_prob(policy, part.decisions.action), judged.value

    # The same number of rows at a time as a gradient step uses, so that no more memory is needed.
    parts = jax.lax.map(
        evaluate, jnp.arange(rows).reshape(settings.num_minibatches * settings.gradient_accumulation, -1)
    )
    log_prob, value = (jnp.moveaxis(part, 0, 1).reshape(part.shape[1], rows, *part.shape[3:]) for part in parts)
    older = batch.decisions.log_prob
    weight = jnp.minimum(jnp.exp(losses.log_ratio(log_prob, older, batch.own)), MOST_WEIGHT)
    decisions = batch.decisions._replace(log_prob=jnp.where(batch.own, log_prob, older), value=value)
    return batch._replace(decisions=decisions, weight=jnp.where(batch.own, weight, 1.0))


def after_burn_in(
    settings: PPO, agent: DeepAgent, variables: PyTree, part: Batch, fixed: Estimate | None
) -> tuple[Batch, Estimate | None]:
    """The rows without their first steps, and the memory after these; gradients do not flow back into them."""
    begin = settings.burn_in
    if not begin:
        return part, fixed
    skipped = jax.tree.map(lambda array: array[:begin], part.steps)
    memory = jax.lax.stop_gradient(agent.evaluate(variables, part.memory, skipped).memory)
    later = jax.tree.map(lambda array: array[begin:], part._replace(memory=()))
    return later._replace(memory=memory), jax.tree.map(lambda array: array[begin:], fixed)


def critic_steps(settings: PPO, first: Array, own: Array) -> Array:
    """The steps [T, N] that the critic learns from: all decisions, or with `own_turns_only` the agent's own."""
    valid = returns.valid_steps(first)
    return valid & own if settings.own_turns_only else valid


def recomputed(settings: PPO) -> bool:
    """Whether every minibatch recomputes its advantages."""
    return settings.recompute_advantages or settings.advantage_estimator == "vtrace"


def first_steps(steps: PyTree) -> PyTree:
    """All steps but the last."""
    return jax.tree.map(lambda array: array[:-1], steps)


def decided(judged: Judgement, times: int) -> tuple[distributions.Policy, Array]:
    """Policy and value at the first `times` steps."""
    if isinstance(judged.policy, distributions.SquashedGaussian):
        mean, log_std = judged.policy.mean[:times], judged.policy.log_std[:times]
        return judged.policy._replace(mean=mean, log_std=log_std), judged.value[:times]
    return judged.policy[:times], judged.value[:times]


def some_rows(batch: Batch, rows: Array) -> Batch:
    by_time = jax.tree.map(lambda array: jnp.take(array, rows, axis=1), batch._replace(memory=()))
    return by_time._replace(memory=jax.tree.map(lambda array: jnp.take(array, rows, axis=0), batch.memory))
