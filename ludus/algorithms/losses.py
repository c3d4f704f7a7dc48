"""Losses and metrics of policy gradient methods, as weighted means over the decisions of a rollout.

Arguments have one number per decision, [T, N], or per decision and seat, [T, N, P]. `weights` [T, N] are the weights of
the decisions, for example `valid_steps`; None weights all equally. Decisions with weight 0 affect neither value nor
gradient, even if their numbers are NaN or infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

Array = jax.Array

Total = Callable[[Array], Array]

LARGEST_LOG_RATIO = 20.0
"""Log ratios are clipped to ±20: float32 can square e^20, and no 0 × infinity enters a gradient."""


def spread(weights: Array | None, like: Array) -> Array:
    """Weights as floats, broadcast to the shape of `like`: the weight of a decision applies to all seats."""
    if weights is None:
        return jnp.ones_like(like)
    weights = jnp.asarray(weights, like.dtype)
    return jnp.broadcast_to(weights.reshape(weights.shape + (1,) * (like.ndim - weights.ndim)), like.shape)


def counted(numbers: Array, weights: Array | None) -> Array:
    """The numbers, with 0 where the weight is 0; applied before operations that could overflow."""
    numbers = jnp.asarray(numbers)
    return numbers if weights is None else jnp.where(spread(weights, numbers) == 0, 0.0, numbers)


def weighted_mean(numbers: Array, weights: Array | None = None, total: Total = lambda number: number) -> Array:
    """Σ w x / Σ w; 0 if all weights are 0. `total` sums a number over devices."""
    numbers = jnp.asarray(numbers)
    share = spread(weights, numbers)
    weight = total(share.sum())
    return total((share * counted(numbers, weights)).sum()) / jnp.where(weight == 0, 1.0, weight)


def log_ratio(log_prob: Array, behaviour_log_prob: Array, weights: Array | None = None) -> Array:
    """log π(a)/μ(a), clipped to ±20; μ is the behaviour policy and has no gradient."""
    old = counted(jax.lax.stop_gradient(behaviour_log_prob), weights)
    return jnp.clip(counted(log_prob, weights) - old, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def policy_gradient(log_prob: Array, advantage: Array, weights: Array | None = None) -> Array:
    """-mean(A log π(a)), the loss of REINFORCE; all [T, N]. With V-trace, A is its advantage times its weight.

    Williams 1992, https://doi.org/10.1007/BF00992696
    """
    return -weighted_mean(jax.lax.stop_gradient(counted(advantage, weights)) * counted(log_prob, weights), weights)


def clipped_surrogate(
    log_prob: Array, behaviour_log_prob: Array, advantage: Array, clip: float | Array, weights: Array | None = None
) -> Array:
    """PPO: -mean min(r A, clip(r, 1 - ε, 1 + ε) A), where r = π(a)/μ(a) and ε is `clip`; all [T, N].

    Schulman et al. 2017, https://arxiv.org/abs/1707.06347
    """
    return -weighted_mean(_surrogate(log_prob, behaviour_log_prob, advantage, clip, weights), weights)


def dual_clipped_surrogate(
    log_prob: Array,
    behaviour_log_prob: Array,
    advantage: Array,
    clip: float | Array,
    dual_clip: float | Array = 3.0,
    weights: Array | None = None,
) -> Array:
    """Dual-clip PPO: for A < 0 the surrogate is max(min(r A, clip(r) A), c A) with c > 1, so its loss is bounded.

    Without this bound, a bad decision that has become likely (large r) has an unbounded loss. All [T, N].
    Ye et al. 2020, https://arxiv.org/abs/1912.09729
    """
    surrogate = _surrogate(log_prob, behaviour_log_prob, advantage, clip, weights)
    fixed = jax.lax.stop_gradient(counted(advantage, weights))
    return -weighted_mean(jnp.where(fixed < 0, jnp.maximum(surrogate, dual_clip * fixed), surrogate), weights)


def _surrogate(
    log_prob: Array, behaviour: Array, advantage: Array, clip: float | Array, weights: Array | None
) -> Array:
    ratio = jnp.exp(log_ratio(log_prob, behaviour, weights))
    fixed = jax.lax.stop_gradient(counted(advantage, weights))
    return jnp.minimum(ratio * fixed, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * fixed)


def clip_fraction(
    log_prob: Array, behaviour_log_prob: Array, clip: float | Array, weights: Array | None = None
) -> Array:
    """The fraction of decisions whose ratio is outside [1 - ε, 1 + ε]."""
    ratio = jnp.exp(log_ratio(log_prob, behaviour_log_prob, weights))
    return weighted_mean(jnp.asarray(jnp.abs(ratio - 1.0) > clip, ratio.dtype), weights)


def value_loss(value: Array, target: Array, weights: Array | None = None) -> Array:
    """½ mean (V - G)²; value and target [T, N, P]."""
    return weighted_mean(0.5 * jnp.square(_value_error(value, target, weights)), weights)


def clipped_value_loss(
    value: Array, behaviour_value: Array, target: Array, clip: float | Array, weights: Array | None = None
) -> Array:
    """½ mean max((V - G)², (V_old + clip(V - V_old, -ε, ε) - G)²): the value is moved at most ε per update.

    All [T, N, P]. From the published code of Schulman et al. 2017; see https://arxiv.org/abs/2005.12729
    """
    old = jax.lax.stop_gradient(counted(behaviour_value, weights))
    near = old + jnp.clip(counted(value, weights) - old, -clip, clip)
    errors = _value_error(value, target, weights), _value_error(near, target, weights)
    return weighted_mean(0.5 * jnp.maximum(jnp.square(errors[0]), jnp.square(errors[1])), weights)


def huber_value_loss(value: Array, target: Array, width: float | Array, weights: Array | None = None) -> Array:
    """mean of ½ e² where |e| ≤ width, else width (|e| - ½ width), with e = V - G [T, N, P].

    The gradient of large errors is bounded by `width`.

    Huber 1964, https://doi.org/10.1214/aoms/1177703732
    """
    error = _value_error(value, target, weights)
    inner = jnp.clip(error, -width, width)
    return weighted_mean(inner * (error - 0.5 * inner), weights)


def _value_error(value: Array, target: Array, weights: Array | None) -> Array:
    return counted(value, weights) - jax.lax.stop_gradient(counted(target, weights))


def entropy_bonus(entropy: Array, weights: Array | None = None) -> Array:
    """mean H(π), from entropies [T, N]; subtracted from the loss."""
    return weighted_mean(entropy, weights)


def approximate_kl(log_prob: Array, behaviour_log_prob: Array, weights: Array | None = None) -> Array:
    """KL(μ ‖ π) estimated from decisions of μ: mean(r - 1 - log r), r = π(a)/μ(a); unbiased, and no term is negative.

    The estimator k3 of Schulman 2020, http://joschu.net/blog/kl-approx.html
    """
    log = log_ratio(log_prob, behaviour_log_prob, weights)
    return weighted_mean(jnp.expm1(log) - log, weights)


def normalised(
    advantage: Array, weights: Array | None = None, epsilon: float = 1e-8, total: Total = lambda number: number
) -> Array:
    """(A - mean) / sqrt(variance + epsilon), with weighted mean and variance; 0 where the weight is 0.

    `total` sums a number over all devices that hold decisions.
    """
    centred = counted(advantage - weighted_mean(advantage, weights, total), weights)
    variance = weighted_mean(jnp.square(centred), weights, total)
    return centred * jax.lax.rsqrt(variance + epsilon)


def explained_variance(value: Array, target: Array, weights: Array | None = None) -> Array:
    """1 - Var(G - V) / Var(G): 1 for a perfect critic, 0 for a constant one, and 0 if G is constant."""
    total, left = _variance(target, weights), _variance(counted(target, weights) - counted(value, weights), weights)
    return jnp.where(total == 0, 0.0, 1.0 - left / jnp.where(total == 0, 1.0, total))


def _variance(numbers: Array, weights: Array | None) -> Array:
    return weighted_mean(jnp.square(counted(numbers - weighted_mean(numbers, weights), weights)), weights)
