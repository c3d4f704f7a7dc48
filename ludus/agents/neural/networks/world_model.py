"""The networks of a world model: an encoder, latent dynamics, heads that read the latent, an actor and critics.

Latents are normalised in groups (SimNorm), so that latents predicted over many steps keep the scale of encoded ones.
Hafner et al. 2020, https://arxiv.org/abs/1912.01603; Hansen et al. 2024, https://arxiv.org/abs/2310.16828
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.world_model_args import WorldModelArgs

Array = jax.Array


class Layers(nn.Module):
    """Dense layers with ReLU between them."""

    dims: tuple[int, ...]
    """units of each layer; the last one has no activation"""
    last_scale: float = 1.0
    """scale of the initial weights of the last layer"""
    layer_norm: bool = False
    """apply layer normalisation before each ReLU"""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        for dim in self.dims[:-1]:
            x = nn.Dense(dim, kernel_init=orthogonal(2.0**0.5))(x)
            x = nn.relu(nn.LayerNorm()(x) if self.layer_norm else x)
        return nn.Dense(self.dims[-1], kernel_init=orthogonal(self.last_scale))(x)


class WorldModel(nn.Module):
    """Encoder, dynamics, reward head, continue head and decoder."""

    args: WorldModelArgs
    observation_size: int
    action_size: int

    def setup(self) -> None:
        args = self.args
        self.encoder = Layers((args.encoder_dim, args.latent_dim))
        self.dynamics = Layers((args.dynamics_dim, args.latent_dim))
        # Flax derives initial weights from parameter names: another name here would change the result of every seed.
        self.reward_head = Layers((args.reward_dim, 1), last_scale=0.01, name="paid")
        self.continue_head = Layers((args.reward_dim, 1), last_scale=0.01, name="going")
        self.decoder = Layers((args.decoder_dim, self.observation_size))

    def encode(self, observation: Array) -> Array:
        """Latent of an observation, [..., D] to [..., L]."""
        return simnorm(self.encoder(observation), self.args.simnorm_dim)

    def next(self, latent: Array, action: Array) -> Array:
        """Predicted next latent."""
        return simnorm(self.dynamics(jnp.concatenate([latent, action], axis=-1)), self.args.simnorm_dim)

    def reward(self, next_latent: Array) -> Array:
        """Predicted reward of the step that led to a latent, [..., L] to [...]."""
        return self.reward_head(next_latent)[..., 0]

    def continue_logit(self, next_latent: Array) -> Array:
        """Logit of the probability that the episode continues from a latent, [..., L] to [...]."""
        return self.continue_head(next_latent)[..., 0]

    def decode(self, latent: Array) -> Array:
        """Predicted observation, [..., L] to [..., D]."""
        return self.decoder(latent)

    def __call__(self, observation: Array, action: Array) -> tuple[Array, Array, Array]:
        """Call every network once, to initialise the parameters."""
        next_latent = self.next(self.encode(observation), action)
        return self.reward(next_latent), self.continue_logit(next_latent), self.decode(next_latent)


class Actor(nn.Module):
    """Deterministic policy: latent to an action with components between -1 and 1."""

    args: WorldModelArgs
    action_size: int

    def setup(self) -> None:
        self.layers = Layers((*self.args.actor_dims, self.action_size), last_scale=0.01)

    def __call__(self, latent: Array) -> Array:
        return nn.tanh(self.layers(latent))

    def pre_tanh(self, latent: Array) -> Array:
        """Actions before the final tanh, whose gradient vanishes for large inputs."""
        return self.layers(latent)


class Critics(nn.Module):
    """An ensemble of Q functions: latent and action to [critics, ...] values."""

    args: WorldModelArgs

    @nn.compact
    def __call__(self, latent: Array, action: Array) -> Array:
        ensemble = nn.vmap(
            Layers, in_axes=None, axis_size=self.args.num_critics, variable_axes={"params": 0},
            split_rngs={"params": True},
        )  # fmt: skip
        layers = ensemble((*self.args.critic_dims, 1), last_scale=0.01, layer_norm=True)
        return layers(jnp.concatenate([latent, action], axis=-1))[..., 0]


def simnorm(latent: Array, group: int) -> Array:
    """SimNorm: the softmax over each group of `group` neighbours, multiplied by `group`, so that each group has mean 1.

    Without the factor, inputs of 1/8 on average slow down the learning of every network that reads a latent.
    """
    groups = latent.reshape(*latent.shape[:-1], -1, group)
    return group * jax.nn.softmax(groups, axis=-1).reshape(latent.shape)
