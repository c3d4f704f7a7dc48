"""Features from the arrays of an observation: embeddings of categories, soft bins of numbers, embeddings of ids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from numpy.typing import NDArray

from ludus.agents.neural.networks import HasDtypes, kinds_of
from ludus.agents.neural.networks.heads import leaky
from ludus.agents.neural.networks.layout import Entities, Field

Array = jax.Array

LEAST = 4
"""minimum dimensions of a feature, because a layer norm turns a single number into a constant"""


def values_of(field: Field, array: Array) -> Array:
    """The values [..., size] of a field among the columns [..., K] of its array."""
    whole = field.at == 0 and field.columns == array.shape[-1]
    columns = array if whole else array[..., field.at : field.at + field.columns]
    if not field.pair:
        return columns
    high, low = columns[..., 0::2].astype(jnp.int32), columns[..., 1::2].astype(jnp.int32)
    return high * 256 + low


def tokens_of(part: Entities, observation: Mapping[str, Array]) -> Array:
    """The columns [B, L, K] of a set of tokens; 0 if the player may not see them."""
    array = observation[part.name]
    tokens = array.reshape(array.shape[0], -1, part.columns)
    if part.mask not in observation:
        return tokens
    seen = jnp.repeat(observation[part.mask] != 0, np.array(part.masked), axis=-1, total_repeat_length=part.columns)
    return jnp.where(seen | ~seen.any(axis=(1, 2), keepdims=True), tokens, 0)


def indices_of(field: Field, array: Array) -> Array:
    """The category of each value, from 0; values out of range are clipped."""
    low = int(min(field.low))
    return jnp.clip(values_of(field, array).astype(jnp.int32) - low, 0, field.categories - 1)


def scaled(field: Field, array: Array) -> Array:
    """Numbers [..., size] as floats: scaled to -1 to 1 if they have finite bounds, else unchanged.

    Integers without bounds may be large, so they are compressed: sign(x) log(1 + |x|).
    """
    values = values_of(field, array)
    known, low, high = bounded(field)
    numbers = values.astype(jnp.float32)
    middle, half = np.where(known, (low + high) / 2, 0.0), np.where(known, (high - low) / 2, 1.0)
    fitted = (numbers - jnp.asarray(middle, jnp.float32)) * jnp.asarray(1.0 / half, jnp.float32)
    if known.all() or jnp.issubdtype(values.dtype, jnp.floating):
        return fitted
    return jnp.where(jnp.asarray(known), fitted, jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers)))


def bounded(field: Field) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Which values have two different finite bounds, and these bounds; 0 if there are none."""
    low, high = (np.broadcast_to(end, (field.size,)) for end in (field.low, field.high))
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    return known, np.where(known, low, 0.0), np.where(known, high, 0.0)


def step_ends(field: Field) -> NDArray[np.float64]:
    """The edges of soft bins, on the scale from -1 to 1."""
    if not field.fine:
        return np.linspace(-1.0, 1.0, field.bins + 1)
    low, high = field.low[0], field.high[0]
    middle, below = 2.0 * (field.fine - low) / (high - low) - 1.0, 3 * field.bins // 4
    return np.concatenate([np.linspace(-1.0, middle, below + 1), np.linspace(middle, 1.0, field.bins - below + 1)[1:]])


def soft_bins(field: Field, array: Array) -> Array:
    """Soft bins of each value: clip((x - p + w) / w, 0, 1), [..., size, bins].

    Bins of width w end at p = low + w, low + 2w, ..., high; values without bounds are mapped by x / (1 + |x|) first. A
    layer norm removes the magnitude of plain numbers, but not that of soft bins.
    """
    numbers, known = scaled(field, array), bounded(field)[0]
    if not known.all():
        numbers = jnp.where(jnp.asarray(known), numbers, numbers / (1.0 + jnp.abs(numbers)))
    ends = step_ends(field)
    left, width = ends[:-1].astype(np.float32), np.diff(ends).astype(np.float32)
    return jnp.clip((numbers[..., None] - left) / width, 0.0, 1.0)


def one_hot(field: Field, array: Array, dtype: DTypeLike) -> Array:
    """A column for every category except the lowest, which the bias represents: [..., size · (categories - 1)].

    A constant has one column of zeros.
    """
    indices = indices_of(field, array)
    if field.categories <= 2:
        return indices.astype(dtype)
    columns = (indices[..., None] == jnp.arange(1, field.categories)).astype(dtype)
    return columns.reshape(*columns.shape[:-2], math.prod(columns.shape[-2:]))


class Features(nn.Module):
    """All fields of one array, concatenated: columns [..., K] to [..., features]."""

    fields: Sequence[Field]
    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, columns: Sequence[Array]) -> Array:
        """`columns` contains the array of each field."""
        parts = [self._feature(field, array) for field, array in zip(self.fields, columns, strict=True)]
        return jnp.concatenate(parts, axis=-1)

    def _feature(self, field: Field, array: Array) -> Array:
        width = max(LEAST, self.channels // field.share)
        if field.kind == "category":
            embed = nn.Embed(field.categories, width, **kinds_of(self), name=field.name)
            found = embed(indices_of(field, array))
        elif field.bins:
            climbed = nn.Dense(max(width, self.channels // 8), **kinds_of(self), name=f"{field.name}_bins")
            steps = leaky(climbed(soft_bins(field, array).astype(self.dtype)))
            found = nn.Dense(width, **kinds_of(self), name=field.name)(steps)
        else:
            return nn.Dense(width, **kinds_of(self), name=field.name)(scaled(field, array).astype(self.dtype))
        return found.reshape(*found.shape[:-2], -1)


class IdEmbedding(nn.Module):
    """A projection of rows of the embedding table of ids: table [R, D], ids [...] to [..., channels].

    If there are fewer ids than tokens, the whole table is projected once and its rows are looked up. The collection
    "folded" can cache these rows between calls.
    """

    channels: int
    swish: bool = False
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, table: Array, ids: Array) -> Array:
        # An id beyond the table would be read as NaN.
        ids = jnp.clip(ids, 0, len(table) - 1)
        if self.has_variable("folded", "rows"):
            return self.get_variable("folded", "rows")[ids]
        dense = nn.Dense(self.channels, use_bias=False, **kinds_of(self))
        bend = nn.swish if self.swish else lambda x: x
        if self.is_mutable_collection("folded") and not self.is_initializing():
            self.put_variable("folded", "rows", bend(dense(table)))
        return bend(dense(table))[ids] if len(table) < ids.size else bend(dense(table[ids]))


def ids_of(part: Entities, tokens: Array) -> Array:
    """The ids [B, L] of tokens [B, L, K]."""
    ids = jnp.zeros(tokens.shape[:-1], jnp.int32)
    for column in part.ids:
        ids = ids * 256 + tokens[..., column].astype(jnp.int32)
    return ids


class TokenModule(HasDtypes, Protocol):
    """A Flax module that reads one set of tokens."""

    @property
    def part(self) -> Entities: ...
    @property
    def channels(self) -> int: ...


def token_features(
    module: TokenModule, tokens: Array, table: Array | None, swish: bool = False
) -> tuple[Array, Array | None]:
    """The features of tokens [B, L, K] and the embedding of their ids, or None; creates submodules of `module`."""
    part, channels = module.part, module.channels
    fields = Features(part.fields, channels, **kinds_of(module), name="features")([tokens] * len(part.fields))
    if not part.ids or table is None:
        return fields, None
    return fields, IdEmbedding(channels, swish, **kinds_of(module), name="id")(table, ids_of(part, tokens))
