"""Output heads: logits of actions, a Gaussian, or values; always in float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.settings import LOG_DEVIATIONS
from ludus.agents.neural.networks.transformer import EncoderLayer, Film

Array = jax.Array

ILLEGAL = float(np.finfo(np.float32).min)
"""logit of illegal actions; finite, so that the difference of two of them is not NaN"""

leaky = partial(nn.leaky_relu, negative_slope=0.1)
nearly_uniform = orthogonal(0.01)


class MLP(nn.Module):
    """A dense layer and an activation for each of `channels`: [..., c] to [..., channels[-1]]."""

    channels: Sequence[int]
    activation: Callable[[Array], Array] = leaky
    bias: bool = False
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        for width in self.channels:
            dense = nn.Dense(width, self.bias, self.dtype, self.param_dtype, kernel_init=self.kernel_init)
            x = self.activation(dense(x))
        return x


def masked(logits: Array, legal: Array) -> Array:
    """Logits [B, A] in float32, ILLEGAL for illegal actions."""
    return jnp.where(jnp.asarray(legal, bool), logits.astype(jnp.float32), ILLEGAL)


class FiLMActor(nn.Module):
    """One encoder layer over the action tokens, modulated by the state: [B, r], [B, A, c], [B, A] to logits [B, A]."""

    channels: int
    heads: int
    noam: bool = True
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: Array, actions: Array, legal: Array) -> Array:
        legal = jnp.asarray(legal, bool)
        modulation = nn.Dense(4 * self.channels, **kinds_of(self))(state)
        attention, attention_bias, mlp, mlp_bias = jnp.split(modulation, 4, axis=-1)
        # Scales are differences from 1, so that an output of 0 leaves the layer unchanged.
        film = Film(1 + attention, attention_bias, 1 + mlp, mlp_bias)
        actions = EncoderLayer(self.channels, self.heads, self.noam, **kinds_of(self))(actions, legal, film)
        return masked(nn.Dense(1, kernel_init=nearly_uniform, **kinds_of(self))(actions)[..., 0], legal)


class Actor(nn.Module):
    """(W state) · action / √c for every action token: [B, r], [B, A, c], [B, A] to logits [B, A]."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: Array, actions: Array, legal: Array) -> Array:
        query = nn.Dense(self.channels, **kinds_of(self), kernel_init=nearly_uniform)(state)
        logits = jnp.einsum("bc,bac->ba", query, actions.astype(self.dtype), preferred_element_type=jnp.float32)
        return masked(logits * self.channels**-0.5, legal)


class GaussianActor(nn.Module):
    """Mean and log deviation, each [B, k], of a continuous action before squashing; the deviation ignores the state."""

    dimensions: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, state: Array) -> tuple[Array, Array]:
        mean = nn.Dense(self.dimensions, **kinds_of(self), kernel_init=nearly_uniform)(state).astype(jnp.float32)
        learned = self.param("log_deviation", nn.initializers.zeros, (self.dimensions,), self.param_dtype)
        return mean, jnp.broadcast_to(jnp.clip(learned.astype(jnp.float32), *LOG_DEVIATIONS), mean.shape)


class Critic(nn.Module):
    """Values [B, outputs] of states [B, c]."""

    channels: Sequence[int] = (128, 128, 128)
    outputs: int = 1
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = MLP(self.channels, **kinds_of(self))(x)
        return nn.Dense(self.outputs, kernel_init=orthogonal(1.0), **kinds_of(self))(x).astype(jnp.float32)


class BatchRenorm(nn.Module):
    """y = γ ((x - μ_B) / σ_B · r + d) + β over a batch, y = γ (x - μ) / σ + β by running statistics when not training.

    r = σ_B / σ within [1/R, R], d = (μ_B - μ) / σ within [-D, D], both without gradient; R grows from 1 to 3 and D
    from 0 to 5 over `warm_up` steps, so that it begins as batch normalisation. Ioffe 2017, https://arxiv.org/abs/1702.03275
    """

    momentum: float = 0.99
    warm_up: int = 100_000
    axis_name: str | None = None
    epsilon: float = 1e-3
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, train: bool) -> Array:
        shape = (x.shape[-1],)
        scale = self.param("scale", nn.initializers.ones, shape, self.param_dtype)
        bias = self.param("bias", nn.initializers.zeros, shape, self.param_dtype)
        mean = self.variable("batch_stats", "mean", jnp.zeros, shape, jnp.float32)
        variance = self.variable("batch_stats", "variance", jnp.ones, shape, jnp.float32)
        steps = self.variable("batch_stats", "steps", jnp.zeros, (), jnp.int32)
        x = x.astype(jnp.float32)
        if not train:
            x = (x - mean.value) * jax.lax.rsqrt(variance.value + self.epsilon)
        else:
            batch_mean, batch_variance = self._moments(x)
            ratio, shift = self._corrections(batch_mean, batch_variance, mean.value, variance.value, steps.value)
            x = (x - batch_mean) * jax.lax.rsqrt(batch_variance + self.epsilon) * ratio + shift
            if not self.is_initializing():
                mean.value = self._follow(mean.value, batch_mean)
                variance.value = self._follow(variance.value, batch_variance)
                steps.value = steps.value + 1
        return (x * scale.astype(jnp.float32) + bias.astype(jnp.float32)).astype(self.dtype)

    def _moments(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance over all but the last axis, and over all devices of `axis_name`."""
        axes = tuple(range(x.ndim - 1))
        mean = self._shared(x.mean(axes))
        return mean, self._shared(jnp.square(x - mean).mean(axes))

    def _shared(self, number: Array) -> Array:
        alone = self.axis_name is None or self.is_initializing()
        average: Callable[[Array, str | None], Array] = jax.lax.pmean  # JAX has no types for it
        return number if alone else average(number, self.axis_name)

    def _corrections(
        self, batch_mean: Array, batch_variance: Array, mean: Array, variance: Array, steps: Array
    ) -> tuple[Array, Array]:
        warm = jnp.minimum(1.0, steps / self.warm_up) if self.warm_up else 1.0
        largest_ratio, largest_shift = 1.0 + 2.0 * warm, 5.0 * warm
        deviation = jnp.sqrt(variance + self.epsilon)
        ratio = jnp.clip(jnp.sqrt(batch_variance + self.epsilon) / deviation, 1.0 / largest_ratio, largest_ratio)
        shift = jnp.clip((batch_mean - mean) / deviation, -largest_shift, largest_shift)
        return jax.lax.stop_gradient(ratio), jax.lax.stop_gradient(shift)

    def _follow(self, running: Array, batch: Array) -> Array:
        return self.momentum * running + (1.0 - self.momentum) * jax.lax.stop_gradient(batch)


class CrossCritic(nn.Module):
    """Values [B, outputs] from layers with batch renormalisation, which needs no target network.

    Bhatt et al. 2024, https://arxiv.org/abs/1902.05605
    """

    channels: Sequence[int] = (128, 128, 128)
    outputs: int = 1
    momentum: float = 0.99
    warm_up: int = 100_000
    axis_name: str | None = None
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, train: bool) -> Array:
        renorm = partial(BatchRenorm, self.momentum, self.warm_up, self.axis_name, **kinds_of(self))
        x = renorm()(x, train)
        for width in self.channels:
            x = renorm()(nn.relu(nn.Dense(width, use_bias=False, **kinds_of(self))(x)), train)
        return nn.Dense(self.outputs, kernel_init=orthogonal(1.0), **kinds_of(self))(x).astype(jnp.float32)
