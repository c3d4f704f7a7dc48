"""Checks of observations and masks that come from a caller: fields, shapes, types and declared ranges."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ludus.dsl import bounds
from ludus.types import Array, Continuous, Discrete, DType, LudusError

Observation = ArrayLike | Mapping[str, ArrayLike]
"""the array of a game with one field, or a dict of all fields; of one game, or of N games with N as first axis"""


def check_fields(observation: DType, given: Observation, game: str) -> tuple[dict[str, Array], bool]:
    """[N, ...] arrays by field, and whether the observation was that of one game."""
    named = by_name(observation, given, game)
    arrays = {name: numbers(name, value) for name, value in named.items()}
    first = next(iter(arrays))
    single = arrays[first].ndim == len(observation[first].shape)
    fields = {name: check_field(observation[name], name, array, single) for name, array in arrays.items()}
    if len({len(field) for field in fields.values()}) > 1:
        raise LudusError("the fields of the observation have different numbers of rows")
    return fields, single


def by_name(observation: DType, given: Observation, game: str) -> dict[str, ArrayLike]:
    """The fields by name, in the order of the record; an array alone is the only field of a game."""
    names = observation.names or ()
    if not isinstance(given, Mapping) and len(names) == 1:
        return {names[0]: given}
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise LudusError(
            f"an observation of {game} has the fields {', '.join(names)}; "
            + (f"given are {', '.join(map(str, given))}" if isinstance(given, Mapping) else "give a dict")
        )
    return {name: given[name] for name in names}


def check_field(kind: DType, name: str, array: Array, single: bool) -> Array:
    """[N, ...] one field in the type of the record; `single` if the array is that of one game."""
    rows = array[None] if single else array
    if rows.ndim == 0 or rows.shape[1:] != kind.shape:
        raise LudusError(f"{name} has shape {array.shape}; expected {kind.shape}, or N rows of it")
    with np.errstate(invalid="ignore", over="ignore"):
        stored = np.ascontiguousarray(rows, np.dtype(kind.base.str))
    if not (np.isfinite(rows).all() and np.isfinite(stored).all()):
        raise LudusError(f"{name} contains NaN or infinity, or numbers too large for {stored.dtype.name}")
    if stored.dtype.kind != "f" and not np.array_equal(stored, rows):
        raise LudusError(f"{name} contains numbers that are not of type {stored.dtype.name}")
    return stored


def check_range(observation: DType, name: str, array: Array) -> None:
    """Raise LudusError for integers outside the declared range of a field, which no network has learned to read."""
    if array.dtype.kind == "f":
        return
    low, high = bounds(observation, name)
    outside = (array < low) | (array > high)
    if outside.any():
        place = np.argwhere(outside)[0]
        low, high = (np.broadcast_to(end, array.shape)[tuple(place)] for end in (low, high))
        where = f"[{', '.join(map(str, place))}]" if len(place) else ""
        raise LudusError(f"{name}{where} is {array[tuple(place)]}; it must be between {low} and {high}")


def check_mask(actions: Discrete | Continuous, mask: ArrayLike | None, rows: int) -> Array:
    """[N, A] the legal actions; all if there is no mask, [N, 0] for continuous actions."""
    if isinstance(actions, Continuous):
        return np.ones((rows, 0), bool)
    legal = np.ones((rows, actions.n), bool) if mask is None else numbers("the mask", mask).astype(bool)
    legal = legal[None] if legal.ndim == 1 else legal
    if legal.shape != (rows, actions.n):
        raise LudusError(
            f"the mask has shape {legal.shape}; expected {actions.n} legal actions for each of {rows} rows"
        )
    if not legal.any(axis=1).all():
        raise LudusError("the mask allows no action; the game may have ended: reset the environment")
    return legal


def numbers(name: str, value: ArrayLike) -> Array:
    """The value as an array; raises LudusError unless it contains numbers or booleans."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError, RecursionError):  # rows of different lengths, integers beyond all types, nesting
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise LudusError(f"{name} is not an array of numbers: {reprlib.repr(value):.80}")
    return array
