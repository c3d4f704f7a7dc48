"""Distributions of actions: a masked categorical, and a squashed Gaussian for continuous actions between bounds.

A categorical is represented by log-probabilities [..., A], -inf for illegal actions; a Gaussian by a tuple. Illegal
actions have probability 0 and gradient 0, and never produce NaN.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array


def log_probabilities(logits: Array, mask: Array) -> Array:
    """log softmax over the legal actions, [..., A]: z_a - log Σ_legal exp z_b, and -inf if `mask` is 0.

    A row without legal actions is -inf everywhere and cannot be sampled.
    """
    legal = jnp.asarray(mask, bool)
    peak = jax.lax.stop_gradient(jnp.max(jnp.where(legal, logits, -jnp.inf), axis=-1, keepdims=True))
    # Illegal logits are replaced both before exp, which could overflow, and after it; one alone leaves NaN gradients.
    shifted = jnp.where(legal, logits - jnp.where(jnp.isfinite(peak), peak, 0.0), 0.0)
    total = jnp.where(legal, jnp.exp(shifted), 0.0).sum(axis=-1, keepdims=True)
    return jnp.where(legal, shifted - jnp.log(jnp.where(total == 0, 1.0, total)), -jnp.inf)


def categorical_log_prob(log_probs: Array, action: Array) -> Array:
    """The log-probability of the actions taken: [..., A] and [...] to [...]."""
    return jnp.take_along_axis(log_probs, jnp.asarray(action, jnp.int32)[..., None], axis=-1)[..., 0]


MANY, BLOCK = 64, 32
"""number of actions above which one random number is drawn per row instead of per action, and the size of a block"""


def categorical_sample(key: Array, log_probs: Array) -> Array:
    """Actions [...] sampled with the Gumbel trick: argmax_a (log p_a + g_a), g ~ -log(-log U)."""
    if log_probs.shape[-1] > MANY:
        return categorical_sample_of_many(key, log_probs)
    return jnp.argmax(log_probs + jax.random.gumbel(key, log_probs.shape, log_probs.dtype), axis=-1)


def categorical_sample_of_many(key: Array, log_probs: Array) -> Array:
    """Actions [...] sampled by inverting the cumulative distribution: first the block, then the action in it."""
    *rows, actions = log_probs.shape
    padded = jnp.pad(jnp.exp(log_probs), [(0, 0)] * len(rows) + [(0, -actions % BLOCK)])
    blocks = padded.reshape(*rows, -1, BLOCK)
    block, rest = _find_interval(blocks.sum(axis=-1), jax.random.uniform(key, tuple(rows)))
    inside = jnp.take_along_axis(blocks, block[..., None, None], axis=-2)[..., 0, :]
    return block * BLOCK + _find_interval(inside, rest)[0]


def _find_interval(weights: Array, uniform: Array) -> tuple[Array, Array]:
    """The index whose cumulative interval contains `uniform`, and the relative position in it, both from 0 to 1."""
    sums = jnp.cumsum(weights, axis=-1)
    # Rounding must not move the number to the end of the last interval.
    point = jnp.minimum(uniform * sums[..., -1], jnp.nextafter(sums[..., -1], 0.0))
    index = jnp.argmax(sums > point[..., None], axis=-1)
    chosen = partial(jnp.take_along_axis, indices=index[..., None], axis=-1)
    before, part = chosen(sums - weights)[..., 0], chosen(weights)[..., 0]
    return index, jnp.clip((point - before) / part, 0.0, 1.0)


def categorical_mode(log_probs: Array) -> Array:
    """The most likely action [...]; the lowest index if several are equal."""
    return jnp.argmax(log_probs, axis=-1)


def categorical_entropy(log_probs: Array) -> Array:
    """-Σ p log p, [..., A] to [...], with 0 log 0 = 0."""
    logs = jnp.where(log_probs > -jnp.inf, log_probs, 0.0)
    return -jnp.where(log_probs > -jnp.inf, jnp.exp(logs) * logs, 0.0).sum(axis=-1)


def categorical_kl(log_p: Array, log_q: Array) -> Array:
    """KL(p ‖ q) = Σ p (log p - log q), [..., A] to [...]; infinite if q is 0 for an action with p > 0."""
    possible, shared = log_p > -jnp.inf, (log_p > -jnp.inf) & (log_q > -jnp.inf)
    logs, others = jnp.where(shared, log_p, 0.0), jnp.where(shared, log_q, 0.0)
    finite = jnp.where(shared, jnp.exp(logs) * (logs - others), 0.0).sum(axis=-1)
    return jnp.where((possible & ~shared).any(axis=-1), jnp.inf, finite)


class SquashedGaussian(NamedTuple):
    """a = low + ½ (high - low) (1 + tanh u) with u ~ N(mean, exp(log_std)²), component by component."""

    mean: Array
    """[..., k] of u"""
    log_std: Array
    """[..., k] of u"""
    low: Array
    """[k]"""
    high: Array
    """[k]"""


EDGE = 1.0 - 1e-6
"""limit of |tanh u|: for a float32 nearer to 1, u cannot be recovered"""

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
"""Gauss-Hermite: E f(ε) ≈ Σ weight f(node) for ε ~ N(0, 1)."""


def squash(raw: Array, low: Array, high: Array) -> Array:
    """Map any float u to an action strictly between low and high."""
    low, high = jnp.asarray(low, raw.dtype), jnp.asarray(high, raw.dtype)
    return low + 0.5 * (high - low) * (1.0 + jnp.clip(jnp.tanh(raw), -EDGE, EDGE))


def unsquash(action: Array, low: Array, high: Array) -> Array:
    """The u of an action, artanh((2a - low - high) / (high - low))."""
    low, high = jnp.asarray(low, action.dtype), jnp.asarray(high, action.dtype)
    return jnp.arctanh(jnp.clip((2.0 * action - low - high) / (high - low), -EDGE, EDGE))


def log_slope(raw: Array) -> Array:
    """log(1 - tanh² u) = 2 (log 2 - u - softplus(-2u)), accurate also if 1 - tanh² u underflows to 0."""
    return 2.0 * (math.log(2.0) - raw - jax.nn.softplus(-2.0 * raw))


def squashed_raw_sample(key: Array, gaussian: SquashedGaussian) -> Array:
    """u = mean + std ε, [..., k]; `squash` maps it to an action, and gradients flow through both."""
    noise = jax.random.normal(key, gaussian.mean.shape, gaussian.mean.dtype)
    return gaussian.mean + jnp.exp(gaussian.log_std) * noise


def squashed_raw_log_prob(gaussian: SquashedGaussian, raw: Array) -> Array:
    """The log-density of the action of u, [..., k] to [...].

    log p(a) = Σ_k log N(u; mean, std²) - log(1 - tanh² u) - log(½ (high - low)).
    Haarnoja et al. 2018, appendix C, https://arxiv.org/abs/1801.01290
    """
    noise = (raw - gaussian.mean) * jnp.exp(-gaussian.log_std)
    normal = -0.5 * jnp.square(noise) - gaussian.log_std - 0.5 * math.log(2.0 * math.pi)
    return (normal - log_slope(raw) - _log_half_width(gaussian)).sum(axis=-1)


def squashed_log_prob(gaussian: SquashedGaussian, action: Array) -> Array:
    """The log-density of an action, [..., k] to [...], differentiable in mean and log_std."""
    return squashed_raw_log_prob(gaussian, unsquash(action, gaussian.low, gaussian.high))


def squashed_sample(key: Array, gaussian: SquashedGaussian) -> tuple[Array, Array]:
    """An action [..., k] and its log-density [...].

    The density is that of the rounded action, which a learner sees, so that its importance ratio starts at 1.
    """
    action = squash(squashed_raw_sample(key, gaussian), gaussian.low, gaussian.high)
    return action, squashed_log_prob(gaussian, action)


def squashed_mode(gaussian: SquashedGaussian) -> Array:
    """The squashed mean, [..., k]: the median of every component, because the mode has no closed form."""
    return squash(gaussian.mean, gaussian.low, gaussian.high)


def squashed_entropy(gaussian: SquashedGaussian) -> Array:
    """H = Σ_k ½ log(2πe) + log std + log(½ (high - low)) + E log(1 - tanh² u), [..., k] to [...].

    The expectation has no closed form; it is computed by Gauss-Hermite quadrature with 20 nodes.
    """
    nodes = jnp.asarray(NODES, gaussian.mean.dtype)
    raw = gaussian.mean[..., None] + jnp.exp(gaussian.log_std)[..., None] * nodes
    slope = (log_slope(raw) * jnp.asarray(NODE_WEIGHTS, raw.dtype)).sum(axis=-1)
    normal = 0.5 * math.log(2.0 * math.pi * math.e) + gaussian.log_std
    return (normal + _log_half_width(gaussian) + slope).sum(axis=-1)


def _log_half_width(gaussian: SquashedGaussian) -> Array:
    low, high = (jnp.asarray(bound, gaussian.mean.dtype) for bound in (gaussian.low, gaussian.high))
    return jnp.log(0.5 * (high - low))


Policy = Array | SquashedGaussian
"""the policy of a network: log-probabilities [..., A], or a Gaussian for continuous actions"""


def sample(key: Array, policy: Policy) -> tuple[Array, Array]:
    """An action [...(, k)] and its log-probability [...]."""
    if isinstance(policy, SquashedGaussian):
        return squashed_sample(key, policy)
    action = categorical_sample(key, policy)
    return action, categorical_log_prob(policy, action)


def mode(policy: Policy) -> Array:
    """The greedy action [...(, k)]."""
    return squashed_mode(policy) if isinstance(policy, SquashedGaussian) else categorical_mode(policy)


def log_prob(policy: Policy, action: Array) -> Array:
    """The log-probability [...] of an action."""
    if isinstance(policy, SquashedGaussian):
        return squashed_log_prob(policy, action)
    return categorical_log_prob(policy, action)


def entropy(policy: Policy) -> Array:
    """The entropy [...]."""
    return squashed_entropy(policy) if isinstance(policy, SquashedGaussian) else categorical_entropy(policy)
