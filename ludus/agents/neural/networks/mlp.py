"""A plain network without memory: the whole observation as one vector, a few layers, a policy and a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.features import indices_of, one_hot, scaled, tokens_of
from ludus.agents.neural.networks.heads import GaussianActor, masked
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Field, Layout, check_shapes
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.types import Continuous, Discrete, LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.networks import NetworkPolicy

Array = jax.Array

MOST_COLUMNS = 1024
"""number of one-hot columns above which rows of the first layer are looked up instead of multiplied"""

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": nn.tanh,
    "relu": nn.relu,
    "silu": nn.silu,
    "gelu": nn.gelu,
}


class MLPAgent(nn.Module):
    """Observation to policy and value, with two separate towers or one shared one."""

    layout: Layout
    args: MLPArgs
    outputs: int
    """number of value outputs; the first is for the player to move"""
    actions: Discrete | Continuous
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """No memory."""
        return ()

    @nn.compact
    def __call__(
        self,
        x: Mapping[str, Array],
        rstate: tuple[()] = (),
        done: Array | None = None,
        switch_or_main: Array | None = None,
        train: bool = False,
        legal: Array | None = None,
    ) -> tuple[tuple[()], NetworkPolicy, Array, Array]:
        """(rstate, logits [B, A] or (mean, log deviation), value [B, outputs], valid [B])."""
        rows = check_shapes(self.layout, x)
        dense = partial(nn.Dense, **kinds_of(self))
        for_actor = self._tower(x, "actor")
        for_critic = for_actor if self.args.shared else self._tower(x, "critic")
        value = dense(self.outputs, kernel_init=orthogonal(1.0), name="value")(for_critic).astype(jnp.float32)
        return rstate, self._policy(for_actor, legal), value, jnp.ones(rows, bool)

    def _tower(self, x: Mapping[str, Array], name: str) -> Array:
        """The layers before a head: [B, width]."""
        bend, gain = ACTIVATIONS[self.args.activation], orthogonal(math.sqrt(2))
        hidden = bend(InputLayer(self.layout, self.args.width, self.dtype, self.param_dtype, name=f"{name}_0")(x))
        for layer in range(1, self.args.depth):
            dense = nn.Dense(self.args.width, kernel_init=gain, **kinds_of(self), name=f"{name}_{layer}")
            hidden = bend(dense(hidden))
        return hidden

    def _policy(self, hidden: Array, legal: Array | None) -> NetworkPolicy:
        if isinstance(self.actions, Continuous):
            return GaussianActor(len(self.actions.low), **kinds_of(self), name="policy")(hidden)
        logits = nn.Dense(self.actions.n, kernel_init=orthogonal(0.01), **kinds_of(self), name="policy")(hidden)
        return logits.astype(jnp.float32) if legal is None else masked(logits, legal)


class InputLayer(nn.Module):
    """The first layer, on every field of a layout: [B, width]."""

    layout: Layout
    width: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array]) -> Array:
        narrow, wide = [], []
        for field, columns in flat_fields(self.layout, x):
            if field.kind == "number":
                narrow.append(scaled(field, columns).astype(self.dtype).reshape(len(columns), -1))
            elif one_hot_columns(field, columns) <= MOST_COLUMNS:
                narrow.append(one_hot(field, columns, self.dtype).reshape(len(columns), -1))
            else:
                wide.append(self._lookup(field, columns))
        dense = nn.Dense(self.width, kernel_init=orthogonal(math.sqrt(2)), **kinds_of(self), name="dense")
        if not narrow:  # keep the bias
            narrow.append(jnp.zeros((len(wide[0]), 1), self.dtype))
        return sum(wide, dense(narrow[0] if len(narrow) == 1 else jnp.concatenate(narrow, axis=-1)))

    def _lookup(self, field: Field, columns: Array) -> Array:
        """The output of a dense layer for one-hot columns, without multiplying zeros."""
        indices = indices_of(field, columns).reshape(len(columns), -1)
        places = indices.shape[1]
        initial = nn.initializers.normal(math.sqrt(2 / max(places, self.width)))
        table = self.param(f"{field.name}_table", initial, (places * field.categories, self.width), self.param_dtype)
        return table.astype(self.dtype)[indices + jnp.arange(places) * field.categories].sum(axis=1)


def flat_fields(layout: Layout, x: Mapping[str, Array]) -> list[tuple[Field, Array]]:
    """All fields with their columns, including tokens; raises LudusError for ids, which this network cannot read."""
    found = [(field, _row(x[field.source or field.name])) for field in layout.globals]
    for part in (*layout.entities, *filter(None, (layout.history, layout.actions))):
        if part.ids:
            raise LudusError(
                f"{part.name} has ids of cards, which an MLPAgent cannot read; use an RNNAgent for this game"
            )
        found += [(field, tokens_of(part, x)) for field in part.fields]
    return found


def _row(array: Array) -> Array:
    return array if array.ndim == 2 else array.reshape(array.shape[0], -1)


def one_hot_columns(field: Field, columns: Array) -> int:
    """The number of one-hot columns of a field per row."""
    return math.prod(columns.shape[1:-1]) * field.size * max(1, field.categories - 1)
