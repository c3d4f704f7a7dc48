"""Random network distillation: the error in predicting a fixed random network measures novelty.

Burda et al. 2018, https://arxiv.org/abs/1810.12894
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.encoders import Encoder
from ludus.agents.neural.networks.heads import MLP
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Layout, check_shapes
from ludus.agents.neural.networks.settings import EncoderArgs

Array = jax.Array


class RNDModel(nn.Module):
    """(prediction [B, outputs], target [B, outputs]); the target network gets no gradient."""

    layout: Layout
    channels: int = 128
    outputs: int = 128
    embedding_shape: int | tuple[int, ...] = ()
    """as in `ModelArgs`, for games with ids"""
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

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
        """One layer over the entities, without actions."""
        args = EncoderArgs(
            num_layers=1,
            num_channels=self.channels,
            action_feats=False,
            card_mask=True,  # padding may have been cut off
            freeze_id=True,
            embedding_shape=self.embedding_shape,
        )
        return Encoder(self.layout, args, 0, 2 * self.channels, **kinds_of(self), name=name)
