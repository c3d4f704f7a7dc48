"""Transformer layers over sets and sequences: classic ones, and "noam" ones in the style of Llama.

Padding is never attended to, and sums and exponentials are computed in float32 for any dtype.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.types import LudusError

Array = jax.Array


class Film(NamedTuple):
    """Scales and biases [B, c] for the outputs of attention and MLP, computed from a conditioning input.

    Perez et al. 2017, https://arxiv.org/abs/1709.07871
    """

    attention_scale: Array
    attention_bias: Array
    mlp_scale: Array
    mlp_bias: Array


def heads_for(channels: int) -> int:
    """The number of heads of a layer of this width: one per 128 channels, at least two."""
    return max(2, channels // 128)


def head_width(channels: int, heads: int) -> int:
    """The channels of one head; all heads must be equally wide."""
    if channels < 1 or heads < 1 or channels % heads:
        raise LudusError(f"{channels} channels cannot be split into {heads} heads; choose a multiple of {heads}")
    return channels // heads


class RMSNorm(nn.Module):
    """x / √(mean x² + ε) · scale, over the last axis. Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467"""

    epsilon: float = 1e-6
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],), self.param_dtype)
        x = x.astype(jnp.float32)
        x = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + self.epsilon)
        return (x * scale.astype(jnp.float32)).astype(self.dtype)


class GLU(nn.Module):
    """W₃ (W₁x · silu(W₂x)), without biases. Shazeer 2020, https://arxiv.org/abs/2002.05202"""

    features: int
    hidden: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        dense = partial(nn.Dense, use_bias=False, **kinds_of(self))
        linear = dense(self.hidden, name="linear")(x)
        return dense(self.features, name="out")(linear * nn.silu(dense(self.hidden, name="gate")(x)))


def rotary(x: Array, positions: Array) -> Array:
    """Rotary embedding: rotate the pairs (xᵢ, xᵢ₊ₖ), k = d/2, of [..., L, H, d] by position · 10000^(-i/k).

    Su et al. 2021, https://arxiv.org/abs/2104.09864
    """
    half = x.shape[-1] // 2
    if 2 * half != x.shape[-1]:
        raise LudusError(f"rotary positions need an even number of channels per head, not {x.shape[-1]}")
    speed = jnp.asarray(10000.0 ** (-np.arange(half) / half), jnp.float32)
    angle = jnp.asarray(positions, jnp.float32)[..., None, None] * speed
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    turned = jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=-1)
    return turned.astype(x.dtype)


def sinusoid(length: int, channels: int) -> Array:
    """Positions for classic layers, [length, channels]: alternating sines and cosines of l · 10000^(-2i/c).

    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
    """
    angle = np.arange(length)[:, None] * 10000.0 ** (-2.0 * np.arange((channels + 1) // 2) / channels)
    waves = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, -1)
    return jnp.asarray(waves[:, :channels], jnp.float32)


def attend(query: Array, key: Array, value: Array, valid: Array | None = None) -> Array:
    """softmax(q k / √d) v over the valid keys: [B, Q, H, d] and twice [B, K, H, d] to [B, Q, H, d].

    If no key is valid, the result is zero.
    """
    batch, _, heads, width = query.shape
    # Merging heads with rows, and dividing Q × d instead of Q × K numbers by the sum, is fastest on a CPU.
    query, key, value = (x.swapaxes(1, 2).reshape(batch * heads, -1, width) for x in (query, key, value))
    scores = jnp.einsum("nqd,nkd->nqk", query * width**-0.5, key, preferred_element_type=jnp.float32)
    if valid is not None:
        scores = jnp.where(jnp.repeat(valid, heads, axis=0)[:, None, :], scores, -jnp.inf)
    peak = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True))
    weights = jnp.exp(scores - jnp.where(jnp.isfinite(peak), peak, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    mixed = jnp.einsum("nqk,nkd->nqd", weights.astype(value.dtype), value, preferred_element_type=jnp.float32)
    mixed = mixed / jnp.where(total == 0.0, 1.0, total)
    return mixed.astype(value.dtype).reshape(batch, heads, -1, width).swapaxes(1, 2)


class Attention(nn.Module):
    """Self-attention to all valid tokens: [B, L, c] to [B, L, c]."""

    channels: int
    heads: int
    rope: bool = False
    bias: bool = False
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, valid: Array | None = None, positions: Array | None = None) -> Array:
        width = head_width(self.channels, self.heads)
        dense = partial(nn.Dense, use_bias=self.bias, **kinds_of(self))
        parts = dense(3 * self.channels, name="query_key_value")(x)
        query, key, value = (part.reshape(*x.shape[:-1], self.heads, width) for part in jnp.split(parts, 3, axis=-1))
        if self.rope:
            positions = jnp.arange(x.shape[-2]) if positions is None else positions
            query, key = rotary(query, positions), rotary(key, positions)
        return dense(self.channels, name="out")(attend(query, key, value, valid).reshape(*x.shape[:-1], self.channels))


class EncoderLayer(nn.Module):
    """x + attention(norm x), then x + MLP(norm x): [B, L, c] to [B, L, c]. `noam`: RMSNorm, GLU of 2c, no biases."""

    channels: int
    heads: int
    noam: bool = True
    rope: bool = False
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(
        self, x: Array, valid: Array | None = None, film: Film | None = None, positions: Array | None = None
    ) -> Array:
        attention = Attention(self.channels, self.heads, self.rope, not self.noam, **kinds_of(self), name="attention")
        change = attention(norm_of(self, "attention_norm")(x), valid, positions)
        x = x + (change if film is None else modulate(change, film.attention_scale, film.attention_bias))
        change = refined(self, x)
        return x + (change if film is None else modulate(change, film.mlp_scale, film.mlp_bias))


class LastLayer(nn.Module):
    """An encoder layer that computes only the first token: [B, L, c] to [B, c]."""

    channels: int
    heads: int
    noam: bool = True
    rope: bool = False
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, valid: Array | None = None) -> Array:
        shape = (x.shape[0], -1, self.heads, head_width(self.channels, self.heads))
        dense = partial(nn.Dense, use_bias=not self.noam, **kinds_of(self))
        seen = norm_of(self, "attention_norm")(x)
        query = dense(self.channels, name="query")(seen[:, 0]).reshape(shape)
        both = jnp.split(dense(2 * self.channels, name="key_value")(seen), 2, axis=-1)
        key, value = (part.reshape(shape) for part in both)
        if self.rope:  # the query is at position 0, where the rotation is the identity
            key = rotary(key, jnp.arange(x.shape[1]))
        answer = attend(query, key, value, valid).reshape(x.shape[0], self.channels)
        first = x[:, 0] + dense(self.channels, name="out")(answer)
        return first + refined(self, first)


def norm_of(layer: EncoderLayer | LastLayer, name: str) -> RMSNorm | nn.LayerNorm:
    """A norm in the style of a layer."""
    return (RMSNorm if layer.noam else nn.LayerNorm)(**kinds_of(layer), name=name)


def refined(layer: EncoderLayer | LastLayer, x: Array) -> Array:
    """MLP(norm x) in the style of a layer: gated and 2c wide, or classic and 4c wide."""
    x, channels = norm_of(layer, "mlp_norm")(x), layer.channels
    if layer.noam:
        return GLU(channels, 2 * channels, **kinds_of(layer), name="mlp")(x)
    dense = partial(nn.Dense, **kinds_of(layer))
    return dense(channels, name="mlp_out")(nn.relu(dense(4 * channels, name="mlp_in")(x)))


def modulate(x: Array, scale: Array, bias: Array) -> Array:
    """x · scale + bias, the same [B, c] for all tokens [B, L, c]."""
    return x * scale[:, None, :] + bias[:, None, :]
