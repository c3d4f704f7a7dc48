"""Records as Gymnasium's spaces, and what the pool shows and takes fitted to them.

A record of one field is that field's space, several fields are a Dict; ranges and types are those the record declares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ludus.types import Array, Continuous, Discrete, LudusError
from ludus.words import bounds

Space = spaces.Space[Any]

MOST_CHOICES = 256
"""A number with more values is a quantity: learners give every value of a Discrete an input of its own."""


def observation_space(record: np.dtype[Any]) -> Space:
    """The space of a record's observations."""
    fields = {name: field_space(record, name) for name in record.names or ()}
    return next(iter(fields.values())) if len(fields) == 1 else spaces.Dict(fields)


def field_space(record: np.dtype[Any], name: str) -> Space:
    """A single whole number of few values is a Discrete, all else a Box."""
    low, high = bounds(record, name)
    if low.shape == () and low.dtype.kind in "iu" and int(high) - int(low) < MOST_CHOICES:
        return spaces.Discrete(int(high) - int(low) + 1, start=int(low))
    return spaces.Box(low.copy(), high.copy(), dtype=low.dtype.type)


def action_space(actions: Discrete | Continuous) -> Space:
    """The space of one action."""
    if isinstance(actions, Discrete):
        return spaces.Discrete(actions.n)
    return spaces.Box(np.array(actions.low, np.float32), np.array(actions.high, np.float32), dtype=np.float32)


def fit_batch(observation: dict[str, Array], space: Space) -> Any:
    """[N, ...] arrays as the batched form of `space` holds them."""
    if isinstance(space, spaces.Dict):
        return {name: _fit(values, space.spaces[name]) for name, values in observation.items()}
    (values,) = observation.values()
    return _fit(values, space)


def fit_row(observation: dict[str, Array], space: Space, row: int = 0) -> Any:
    """One row as `space` holds it."""
    if isinstance(space, spaces.Dict):
        return {name: _pick(values, space.spaces[name], row) for name, values in observation.items()}
    (values,) = observation.values()
    return _pick(values, space, row)


def fit_actions(actions: Discrete | Continuous, given: Any) -> Array:
    """Actions for the pool, which judges them; finite floats are clipped, as rounding may carry a bound past itself."""
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
    # The pool's types carry their ranges along; a plain type is what other people's code expects to meet.
    return values.view(np.dtype(space.dtype))


def _pick(values: Array, space: Space, row: int) -> Any:
    """A Discrete wants a number, a Box an array even if it has no axes."""
    fitted = _fit(values, space)
    return fitted[row] if isinstance(space, spaces.Discrete) else fitted[row, ...]
