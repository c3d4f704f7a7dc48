"""The network of `ludus.algorithms.rllib_ppo.modules.BalatroNet` in Flax: encoders of cards and jokers, shared layers.

Same weights, same outputs, so an agent that RLlib has trained plays here, and both can be trained and compared. Like
that one it reads neither the order of the hand nor `game_state`; the network of Ludus is `balatro`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.heads import masked
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Layout, check_shapes
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.types import Discrete

Array = jax.Array

CARDS, JOKERS, SHARED = (256, 128), (512, 256), (512, 512)
"""widths of the layers"""
EMBEDDING = 128
"""numbers of a graph embedding, which is 0 where the observation has none"""


class BalatroEncoders(nn.Module):
    """Observation to policy and value; the sizes are fixed, so `args` only selects this network."""

    layout: Layout
    args: MLPArgs
    outputs: int
    actions: Discrete
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """No memory."""
        return ()

    @nn.compact
    def __call__(
        self, x: Mapping[str, Array], rstate: tuple[()] = (), done: Array | None = None,
        switch_or_main: Array | None = None, train: bool = False, legal: Array | None = None,
    ) -> tuple[tuple[()], Array, Array, Array]:  # fmt: skip
        """(rstate, logits [B, A], value [B, outputs], valid [B])."""
        rows = check_shapes(self.layout, x)
        cards, jokers = (x[name].reshape(rows, -1).astype(self.dtype) for name in ("cards", "jokers"))
        embedding = x.get("memgraph_embedding", jnp.zeros((rows, EMBEDDING)))
        parts = [self._dense("cards_1", CARDS[1], nn.relu(self._dense("cards_0", CARDS[0], cards)))]
        parts.append(self._dense("jokers_1", JOKERS[1], nn.relu(self._dense("jokers_0", JOKERS[0], jokers))))
        hidden = jnp.concatenate([*parts, embedding.astype(self.dtype)], axis=-1)
        for layer, width in enumerate(SHARED):
            hidden = nn.relu(self._dense(f"shared_{layer}", width, hidden))
        logits = self._dense("policy", self.actions.n, hidden, 0.01).astype(jnp.float32)
        value = self._dense("value", self.outputs, hidden, 1.0).astype(jnp.float32)
        return rstate, logits if legal is None else masked(logits, legal), value, jnp.ones(rows, bool)

    def _dense(self, name: str, width: int, x: Array, gain: float = math.sqrt(2)) -> Array:
        made: Array = nn.Dense(width, kernel_init=orthogonal(gain), **kinds_of(self), name=name)(x)
        return made


NETWORK = BalatroEncoders
