"""Gymnasium spaces of records, and conversion of observations and actions to them.

A record with one field becomes that field's space, several fields a Dict, with the ranges and types of the record.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from ludus.dsl import bounds
from ludus.types import Array, Continuous, Discrete, DType, LudusError

Space = spaces.Space[object]
Action = int | np.int64 | Array
Observation = np.int64 | Array | dict[str, np.int64 | Array]
Batch = Array | dict[str, Array]

MAX_CHOICES = 256
"""numbers with more values become a Box, since algorithms use a separate input for each value of a Discrete"""


def observation_space(record: DType) -> Space:
    """The space of observations with this record."""
    fields = {name: field_space(record, name) for name in record.names or ()}
    return next(iter(fields.values())) if len(fields) == 1 else spaces.Dict(fields)


def field_space(record: DType, name: str) -> Space:
    """The space of a field: Discrete for a single whole number from 0 to below MAX_CHOICES, else Box.

    A Discrete always starts at 0, because Stable-Baselines3 supports no other.
    """
    low, high = bounds(record, name)
    if low.shape == () and low.dtype.kind in "iu" and int(low) >= 0 and int(high) < MAX_CHOICES:
        return spaces.Discrete(int(high) + 1)
    return spaces.Box(low.copy(), high.copy(), dtype=low.dtype.type)


def action_space(actions: Discrete | Continuous) -> spaces.Space[Action]:
    """The space of one action."""
    if isinstance(actions, Discrete):
        return spaces.Discrete(actions.n)
    return spaces.Box(np.array(actions.low, np.float32), np.array(actions.high, np.float32), dtype=np.float32)


def fit_batch(observation: dict[str, Array], space: Space) -> Batch:
    """[N, ...] arrays in the batched form of `space`."""
    if isinstance(space, spaces.Dict):
        return {name: _fit(values, space.spaces[name]) for name, values in observation.items()}
    (values,) = observation.values()
    return _fit(values, space)


def fit_row(observation: dict[str, Array], space: Space, row: int = 0) -> Observation:
    """One row in the form of `space`."""
    if isinstance(space, spaces.Dict):
        return {name: _pick(values, space.spaces[name], row) for name, values in observation.items()}
    (values,) = observation.values()
    return _pick(values, space, row)


def fit_actions(actions: Discrete | Continuous, given: object) -> Array:
    """Actions for the pool, which checks them; finite floats are clipped, since rounding may exceed a bound."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise LudusError(f"actions must be numbers in rows of equal length, not {given!r}") from None
    if isinstance(actions, Discrete) or array.dtype.kind not in "iuf" or array.shape[-1:] != (len(actions.low),):
        return array
    return np.where(np.isfinite(array), np.clip(array, actions.low, actions.high), array)


def _fit(values: Array, space: Space) -> Array:
    if isinstance(space, spaces.Discrete):
        return values.astype(np.int64)
    # The pool's dtypes carry ranges as metadata; other code expects plain dtypes.
    return values.view(np.dtype(space.dtype))


def _pick(values: Array, space: Space, row: int) -> np.int64 | Array:
    """One row: a number for a Discrete, an array (even with no axes) for a Box."""
    fitted = _fit(values, space)
    return fitted[row] if isinstance(space, spaces.Discrete) else fitted[row, ...]
