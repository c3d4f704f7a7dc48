"""A world in a few small networks: what is seen becomes a latent, actions move it on, and heads read it.

Latents are normalised in groups (SimNorm), so that steps imagined one after the other stay where they were learned.
Hafner et al. 2020, https://arxiv.org/abs/1912.01603; Hansen et al. 2024, https://arxiv.org/abs/2310.16828
"""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from ludus.agents.networks.initial import orthogonal
from ludus.agents.networks.world_model_args import WorldModelArgs

Array = jax.Array


class Layers(nn.Module):
    """Dense layers with a bend between them."""

    widths: tuple[int, ...]
    last: float = 1.0
    """how large the first weights of the last layer are"""
    normal: bool = False
    """whether the hidden layers are normalised, which keeps critics calm"""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        for width in self.widths[:-1]:
            x = nn.Dense(width, kernel_init=orthogonal(2.0**0.5))(x)
            x = nn.relu(nn.LayerNorm()(x) if self.normal else x)
        return nn.Dense(self.widths[-1], kernel_init=orthogonal(self.last))(x)


class WorldModel(nn.Module):
    """Encoder, dynamics, reward, continuation and decoder."""

    args: WorldModelArgs
    shown: int
    """numbers of an observation"""
    actions: int
    """numbers of an action"""

    def setup(self) -> None:
        args = self.args
        self.encoder = Layers((args.encoder, args.latent))
        self.dynamics = Layers((args.dynamics, args.latent))
        self.paid = Layers((args.reward, 1), last=0.01)
        self.going = Layers((args.reward, 1), last=0.01)
        self.decoder = Layers((args.decoder, self.shown))

    def encode(self, observation: Array) -> Array:
        """The latent of an observation, [..., D] to [..., L]."""
        return simplices(self.encoder(observation), self.args.group)

    def next(self, latent: Array, action: Array) -> Array:
        """The latent that follows."""
        return simplices(self.dynamics(jnp.concatenate([latent, action], axis=-1)), self.args.group)

    def reward(self, following: Array) -> Array:
        """What reaching a latent pays, [..., L] to [...]."""
        return self.paid(following)[..., 0]

    def goes_on(self, following: Array) -> Array:
        """The logit of the chance that the game goes on there."""
        return self.going(following)[..., 0]

    def decode(self, latent: Array) -> Array:
        """What would be seen."""
        return self.decoder(latent)

    def __call__(self, observation: Array, action: Array) -> Any:
        """All of it once, to make parameters."""
        following = self.next(self.encode(observation), action)
        return self.reward(following), self.goes_on(following), self.decode(following)


class Actor(nn.Module):
    """Latent to action: each number between -1 and 1."""

    args: WorldModelArgs
    actions: int

    def setup(self) -> None:
        self.layers = Layers((*self.args.actor, self.actions), last=0.01)

    def __call__(self, latent: Array) -> Array:
        return nn.tanh(self.layers(latent))

    def unbent(self, latent: Array) -> Array:
        """The same before the last bend, where a gradient is left however far an action leans to one side."""
        return self.layers(latent)


class Critics(nn.Module):
    """Latent and action to their worth, by several networks: [critics, ...]."""

    args: WorldModelArgs

    @nn.compact
    def __call__(self, latent: Array, action: Array) -> Array:
        several = nn.vmap(
            Layers, in_axes=None, axis_size=self.args.critics, variable_axes={"params": 0}, split_rngs={"params": True}
        )
        layers = several((*self.args.critic, 1), last=0.01, normal=True)
        return layers(jnp.concatenate([latent, action], axis=-1))[..., 0]


def simplices(latent: Array, group: int) -> Array:
    """SimNorm: the softmax of each group of neighbours, times its size, so that every group has the mean 1.

    Shares of 1/8 would be small inputs to all that reads a latent, which then learns slowly.
    """
    groups = latent.reshape(*latent.shape[:-1], -1, group)
    return group * jax.nn.softmax(groups, axis=-1).reshape(latent.shape)
