"""How decisions are drawn: one of the legal actions, or a row of floats between bounds.

A categorical is its log-probabilities [..., A], -inf where illegal; a squashed Gaussian is a tuple of its numbers. Both
are safe in value and gradient: what is illegal has probability 0, gradient 0, and never turns anything into NaN.
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
    """log softmax over the legal actions, [..., A]: z_a - log Σ_legal exp z_b, and -inf where `mask` is 0.

    A row without any legal action is -inf throughout: nothing can be drawn from it.
    """
    legal = jnp.asarray(mask, bool)
    peak = jax.lax.stop_gradient(jnp.max(jnp.where(legal, logits, -jnp.inf), axis=-1, keepdims=True))
    # What is illegal is replaced before exp can overflow, and again after: a single guard would leave NaN gradients.
    shifted = jnp.where(legal, logits - jnp.where(jnp.isfinite(peak), peak, 0.0), 0.0)
    total = jnp.where(legal, jnp.exp(shifted), 0.0).sum(axis=-1, keepdims=True)
    return jnp.where(legal, shifted - jnp.log(jnp.where(total == 0, 1.0, total)), -jnp.inf)


def categorical_log_prob(log_probs: Array, action: Array) -> Array:
    """The log-probability of the actions taken: [..., A] and [...] to [...]."""
    return jnp.take_along_axis(log_probs, jnp.asarray(action, jnp.int32)[..., None], axis=-1)[..., 0]


MANY, BLOCK = 64, 32
"""actions beyond which one random number a row is drawn instead of one an action, and of how many a block is made"""


def categorical_sample(key: Array, log_probs: Array) -> Array:
    """Actions [...] drawn by the Gumbel trick: argmax_a (log p_a + g_a), g ~ -log(-log U); the illegal stay at -inf."""
    if log_probs.shape[-1] > MANY:
        return categorical_sample_of_many(key, log_probs)
    return jnp.argmax(log_probs + jax.random.gumbel(key, log_probs.shape, log_probs.dtype), axis=-1)


def categorical_sample_of_many(key: Array, log_probs: Array) -> Array:
    """Actions [...] drawn by where a random number falls in the sums of probabilities: first the block, then within."""
    *rows, actions = log_probs.shape
    padded = jnp.pad(jnp.exp(log_probs), [(0, 0)] * len(rows) + [(0, -actions % BLOCK)])
    blocks = padded.reshape(*rows, -1, BLOCK)
    block, rest = _where_it_falls(blocks.sum(axis=-1), jax.random.uniform(key, tuple(rows)))
    inside = jnp.take_along_axis(blocks, block[..., None, None], axis=-2)[..., 0, :]
    return block * BLOCK + _where_it_falls(inside, rest)[0]


def _where_it_falls(weights: Array, uniform: Array) -> tuple[Array, Array]:
    """The index whose part of the sum a number from 0 to 1 falls into, and where in that part it falls, 0 to 1."""
    sums = jnp.cumsum(weights, axis=-1)
    # Rounding must not carry the number to the very end, where nothing is left.
    point = jnp.minimum(uniform * sums[..., -1], jnp.nextafter(sums[..., -1], 0.0))
    index = jnp.argmax(sums > point[..., None], axis=-1)
    chosen = partial(jnp.take_along_axis, indices=index[..., None], axis=-1)
    before, part = chosen(sums - weights)[..., 0], chosen(weights)[..., 0]
    return index, jnp.clip((point - before) / part, 0.0, 1.0)


def categorical_mode(log_probs: Array) -> Array:
    """The likeliest action [...]; the lowest of equals."""
    return jnp.argmax(log_probs, axis=-1)


def categorical_entropy(log_probs: Array) -> Array:
    """-Σ p log p, [..., A] to [...], where 0 log 0 = 0."""
    logs = jnp.where(log_probs > -jnp.inf, log_probs, 0.0)
    return -jnp.where(log_probs > -jnp.inf, jnp.exp(logs) * logs, 0.0).sum(axis=-1)


def categorical_kl(log_p: Array, log_q: Array) -> Array:
    """KL(p ‖ q) = Σ p (log p - log q), [..., A] to [...]; infinite where q forbids what p allows."""
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
"""How near tanh u may come to ±1: a float32 nearer than this no longer tells which u it came from."""

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
"""Gauss-Hermite: E f(ε) ≈ Σ weight f(node) for ε ~ N(0, 1)."""


def squash(raw: Array, low: Array, high: Array) -> Array:
    """From any float u to an action strictly between low and high."""
    low, high = jnp.asarray(low, raw.dtype), jnp.asarray(high, raw.dtype)
    return low + 0.5 * (high - low) * (1.0 + jnp.clip(jnp.tanh(raw), -EDGE, EDGE))


def unsquash(action: Array, low: Array, high: Array) -> Array:
    """The u that an action came from, artanh((2a - low - high) / (high - low))."""
    low, high = jnp.asarray(low, action.dtype), jnp.asarray(high, action.dtype)
    return jnp.arctanh(jnp.clip((2.0 * action - low - high) / (high - low), -EDGE, EDGE))


def log_slope(raw: Array) -> Array:
    """log(1 - tanh² u) = 2 (log 2 - u - softplus(-2u)), exact where 1 - tanh² u itself would have become 0."""
    return 2.0 * (math.log(2.0) - raw - jax.nn.softplus(-2.0 * raw))


def squashed_raw_sample(key: Array, gaussian: SquashedGaussian) -> Array:
    """u = mean + std ε, [..., k]; `squash` makes an action of it, and gradients flow through both."""
    noise = jax.random.normal(key, gaussian.mean.shape, gaussian.mean.dtype)
    return gaussian.mean + jnp.exp(gaussian.log_std) * noise


def squashed_raw_log_prob(gaussian: SquashedGaussian, raw: Array) -> Array:
    """The log-density of the action that u becomes, [..., k] to [...].

    log p(a) = Σ_k log N(u; mean, std²) - log(1 - tanh² u) - log(½ (high - low)).
    Haarnoja et al. 2018, appendix C, https://arxiv.org/abs/1801.01290
    """
    noise = (raw - gaussian.mean) * jnp.exp(-gaussian.log_std)
    normal = -0.5 * jnp.square(noise) - gaussian.log_std - 0.5 * math.log(2.0 * math.pi)
    return (normal - log_slope(raw) - _log_half_width(gaussian)).sum(axis=-1)


def squashed_log_prob(gaussian: SquashedGaussian, action: Array) -> Array:
    """The log-density of an action, [..., k] to [...]; its gradient goes to the Gaussian's numbers."""
    return squashed_raw_log_prob(gaussian, unsquash(action, gaussian.low, gaussian.high))


def squashed_sample(key: Array, gaussian: SquashedGaussian) -> tuple[Array, Array]:
    """An action [..., k] and its log-density [...].

    The density is that of the action as rounded, which is all that a learner will see: its ratio starts at 1.
    """
    action = squash(squashed_raw_sample(key, gaussian), gaussian.low, gaussian.high)
    return action, squashed_log_prob(gaussian, action)


def squashed_mode(gaussian: SquashedGaussian) -> Array:
    """The squashed mean, [..., k]: the median of every component, for the true peak has no closed form."""
    return squash(gaussian.mean, gaussian.low, gaussian.high)


def squashed_entropy(gaussian: SquashedGaussian) -> Array:
    """H = Σ_k ½ log(2πe) + log std + log(½ (high - low)) + E log(1 - tanh² u), [..., k] to [...].

    The expectation, which has no closed form, by 20 nodes of Gauss-Hermite: deterministic and differentiable.
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
"""what a network says of its next action: log-probabilities [..., A], or a Gaussian for continuous actions"""


def sample(key: Array, policy: Policy) -> tuple[Array, Array]:
    """An action [...(, k)] and its log-probability [...]."""
    if isinstance(policy, SquashedGaussian):
        return squashed_sample(key, policy)
    action = categorical_sample(key, policy)
    return action, categorical_log_prob(policy, action)


def mode(policy: Policy) -> Array:
    """The action [...(, k)] to take when nothing is to be tried out."""
    return squashed_mode(policy) if isinstance(policy, SquashedGaussian) else categorical_mode(policy)


def log_prob(policy: Policy, action: Array) -> Array:
    """The log-probability [...] of an action."""
    if isinstance(policy, SquashedGaussian):
        return squashed_log_prob(policy, action)
    return categorical_log_prob(policy, action)


def entropy(policy: Policy) -> Array:
    """How undecided it is, [...]."""
    return squashed_entropy(policy) if isinstance(policy, SquashedGaussian) else categorical_entropy(policy)
