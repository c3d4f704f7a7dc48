"""Curiosity: how badly a trained network foretells a random one says how new an observation is.

Burda et al. 2018, https://arxiv.org/abs/1810.12894
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from ludus.agents.networks import kinds_of
from ludus.agents.networks.arguments import EncoderArgs
from ludus.agents.networks.encoders import Encoder
from ludus.agents.networks.heads import MLP
from ludus.agents.networks.initial import orthogonal
from ludus.agents.networks.layout import Layout, check_shapes

Array = jax.Array


class RNDModel(nn.Module):
    """(prediction [B, outputs], target [B, outputs]); no gradient reaches what makes the target."""

    layout: Layout
    channels: int = 128
    outputs: int = 128
    embedding_shape: int | tuple[int, ...] = ()
    """as in `ModelArgs`, where the game has ids"""
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array]) -> tuple[Array, Array]:
        check_shapes(self.layout, x)
        dense = nn.Dense(self.outputs, kernel_init=orthogonal(math.sqrt(2)), **kinds_of(self), name="target")
        target = jax.lax.stop_gradient(dense(self._encoder("target_encoder")(x).state))
        layers = (2 * self.channels, 2 * self.channels)
        hidden = MLP(layers, nn.relu, True, orthogonal(math.sqrt(2)), **kinds_of(self), name="predictor_layers")(
            self._encoder("predictor_encoder")(x).state
        )
        prediction = nn.Dense(self.outputs, **kinds_of(self), name="predictor")(hidden)
        return prediction.astype(jnp.float32), target.astype(jnp.float32)

    def _encoder(self, name: str) -> Encoder:
        """One layer over the entities; actions are no part of where one is."""
        args = EncoderArgs(
            num_layers=1,
            num_channels=self.channels,
            action_feats=False,
            card_mask=True,  # padding may be left out of what it is shown
            freeze_id=True,
            embedding_shape=self.embedding_shape,
        )
        return Encoder(self.layout, args, 0, 2 * self.channels, **kinds_of(self), name=name)
