"""How the arrays of an observation become features: categories, scaled numbers, soft bins, tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.networks.layout import Entities, Field

Array = jax.Array


def values_of(field: Field, array: Array) -> Array:
    """The values [..., size] of a field among the columns [..., K] of its array."""
    whole = field.at == 0 and field.columns == array.shape[-1]
    columns = array if whole else array[..., field.at : field.at + field.columns]
    if not field.pair:
        return columns
    high, low = columns[..., 0::2].astype(jnp.int32), columns[..., 1::2].astype(jnp.int32)
    return high * 256 + low


def tokens_of(part: Entities, observation: Mapping[str, Array]) -> Array:
    """The columns [B, L, K] of a set of tokens."""
    array = observation[part.name]
    return array.reshape(array.shape[0], -1, part.columns)


def indices_of(field: Field, array: Array) -> Array:
    """Which category each value is, counted from 0; what is out of range is taken for the nearest."""
    low = int(min(field.low))
    return jnp.clip(values_of(field, array).astype(jnp.int32) - low, 0, field.categories - 1)


def scaled(field: Field, array: Array) -> Array:
    """Numbers [..., size] as floats: from -1 to 1 between finite bounds, else as they are.

    Integers without bounds can be of any size, so of them the logarithm is read: sign(x) log(1 + |x|).
    """
    values = values_of(field, array)
    low, high = np.asarray(field.low), np.asarray(field.high)
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    middle = np.where(known, (np.where(known, low, 0.0) + np.where(known, high, 0.0)) / 2, 0.0)
    half = np.where(known, (np.where(known, high, 1.0) - np.where(known, low, -1.0)) / 2, 1.0)
    numbers = values.astype(jnp.float32)
    fitted = (numbers - jnp.asarray(middle, jnp.float32)) * jnp.asarray(1.0 / half, jnp.float32)
    if known.all() or jnp.issubdtype(values.dtype, jnp.floating):
        return fitted
    return jnp.where(jnp.asarray(known), fitted, jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers)))


def soft_bins(field: Field, array: Array) -> Array:
    """How far each value has climbed every step of its range: clip((x - p + w) / w, 0, 1), [..., size, bins].

    Steps of width w end at p = low + w, low + 2w, ..., high.
    """
    values = values_of(field, array).astype(jnp.float32)[..., None]
    low, high = (np.broadcast_to(end, (field.size,))[:, None] for end in (field.low, field.high))
    width = np.where(high > low, (high - low) / field.bins, 1.0)
    starts = low + width * np.arange(field.bins)
    return jnp.clip((values - jnp.asarray(starts, jnp.float32)) * jnp.asarray(1.0 / width, jnp.float32), 0.0, 1.0)


def one_hot(field: Field, array: Array, dtype: Any) -> Array:
    """A column for every category but the lowest, which a bias can say: [..., size · (categories - 1)].

    Of a constant there is one column, of zeros.
    """
    indices = indices_of(field, array)
    if field.categories <= 2:
        return indices.astype(dtype)
    columns = (indices[..., None] == jnp.arange(1, field.categories)).astype(dtype)
    return columns.reshape(*columns.shape[:-2], math.prod(columns.shape[-2:]))
