"""What training makes small: policy, value and entropy terms as weighted means, and the numbers worth watching.

Every term is a number per decision, [T, N] or [T, N, P]; `weights` [T, N] says how much each counts (`valid_steps`, for
one) and None that all do. What has weight 0 takes no part in value or gradient, even where it is infinite or NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

Array = jax.Array

Total = Callable[[Array], Array]

LARGEST_LOG_RATIO = 20.0
"""Beyond e^20 a ratio is held: float32 can still square it, and 0 × infinity never gets into a gradient."""


def spread(weights: Array | None, like: Array) -> Array:
    """Weights as floats of the shape of `like`; a weight for a decision counts for all its seats alike."""
    if weights is None:
        return jnp.ones_like(like)
    weights = jnp.asarray(weights, like.dtype)
    return jnp.broadcast_to(weights.reshape(weights.shape + (1,) * (like.ndim - weights.ndim)), like.shape)


def counted(numbers: Array, weights: Array | None) -> Array:
    """The numbers, with 0 where the weight is 0; done before anything that could make an infinity of them."""
    numbers = jnp.asarray(numbers)
    return numbers if weights is None else jnp.where(spread(weights, numbers) == 0, 0.0, numbers)


def weighted_mean(numbers: Array, weights: Array | None = None, total: Total = lambda number: number) -> Array:
    """Σ w x / Σ w, and 0 where nothing counts."""
    numbers = jnp.asarray(numbers)
    share = spread(weights, numbers)
    weight = total(share.sum())
    return total((share * counted(numbers, weights)).sum()) / jnp.where(weight == 0, 1.0, weight)


def log_ratio(log_prob: Array, behaviour_log_prob: Array, weights: Array | None = None) -> Array:
    """log π(a)/μ(a), held within ±20; μ is what acted, and has no gradient."""
    old = counted(jax.lax.stop_gradient(behaviour_log_prob), weights)
    return jnp.clip(counted(log_prob, weights) - old, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)


def policy_gradient(log_prob: Array, advantage: Array, weights: Array | None = None) -> Array:
    """-mean(A log π(a)), whose gradient is REINFORCE's; all [T, N]. With V-trace, A is its advantage times its weight.

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
    """PPO that also bounds what one bad decision may cost: -mean max(min(r A, clip(r) A), c A) where A < 0, c > 1.

    Without it a decision that has become likely (r large) and was bad pulls without limit. All [T, N].
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
    """The part of the decisions whose ratio has left [1 - ε, 1 + ε]."""
    ratio = jnp.exp(log_ratio(log_prob, behaviour_log_prob, weights))
    return weighted_mean(jnp.asarray(jnp.abs(ratio - 1.0) > clip, ratio.dtype), weights)


def value_loss(value: Array, target: Array, weights: Array | None = None) -> Array:
    """½ mean (V - G)²; value and target [T, N, P]."""
    return weighted_mean(0.5 * jnp.square(_value_error(value, target, weights)), weights)


def clipped_value_loss(
    value: Array, behaviour_value: Array, target: Array, clip: float | Array, weights: Array | None = None
) -> Array:
    """½ mean max((V - G)², (V_old + clip(V - V_old, -ε, ε) - G)²): no gain from moving further than ε in one update.

    All [T, N, P]. Schulman et al. 2017 in its published code; see https://arxiv.org/abs/2005.12729
    """
    old = jax.lax.stop_gradient(counted(behaviour_value, weights))
    near = old + jnp.clip(counted(value, weights) - old, -clip, clip)
    errors = _value_error(value, target, weights), _value_error(near, target, weights)
    return weighted_mean(0.5 * jnp.maximum(jnp.square(errors[0]), jnp.square(errors[1])), weights)


def huber_value_loss(value: Array, target: Array, width: float | Array, weights: Array | None = None) -> Array:
    """mean of ½ e² where |e| ≤ width, else width (|e| - ½ width), with e = V - G [T, N, P]: outliers pull evenly.

    Huber 1964, https://doi.org/10.1214/aoms/1177703732
    """
    error = _value_error(value, target, weights)
    inner = jnp.clip(error, -width, width)
    return weighted_mean(inner * (error - 0.5 * inner), weights)


def _value_error(value: Array, target: Array, weights: Array | None) -> Array:
    return counted(value, weights) - jax.lax.stop_gradient(counted(target, weights))


def entropy_bonus(entropy: Array, weights: Array | None = None) -> Array:
    """mean H(π), from entropies [T, N]; taken from the loss, as it is to grow."""
    return weighted_mean(entropy, weights)


def approximate_kl(log_prob: Array, behaviour_log_prob: Array, weights: Array | None = None) -> Array:
    """KL(μ ‖ π) from the decisions of μ alone: mean(r - 1 - log r), r = π(a)/μ(a); unbiased, and no term below 0.

    The estimator k3 of Schulman 2020, http://joschu.net/blog/kl-approx.html
    """
    log = log_ratio(log_prob, behaviour_log_prob, weights)
    return weighted_mean(jnp.expm1(log) - log, weights)


def normalised(
    advantage: Array, weights: Array | None = None, epsilon: float = 1e-8, total: Total = lambda number: number
) -> Array:
    """(A - mean) / sqrt(variance + epsilon), both over what counts; 0 where nothing does.

    Where the decisions lie on several devices, `total` sums a number over them.
    """
    centred = counted(advantage - weighted_mean(advantage, weights, total), weights)
    variance = weighted_mean(jnp.square(centred), weights, total)
    return centred * jax.lax.rsqrt(variance + epsilon)


def explained_variance(value: Array, target: Array, weights: Array | None = None) -> Array:
    """1 - Var(G - V) / Var(G): 1 for a perfect critic, 0 for one that knows only the mean, or where G never varies."""
    total, left = _variance(target, weights), _variance(counted(target, weights) - counted(value, weights), weights)
    return jnp.where(total == 0, 0.0, 1.0 - left / jnp.where(total == 0, 1.0, total))


def _variance(numbers: Array, weights: Array | None) -> Array:
    return weighted_mean(jnp.square(counted(numbers - weighted_mean(numbers, weights), weights)), weights)
