"""Actions given to a pool: converted to arrays, rejected with an error, or drawn at random."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from ludus.dsl import random
from ludus.types import Array, Continuous, DType, LudusError, Spec

INT: DType = np.dtype(np.int64)
FLOAT: DType = np.dtype(np.float64)

Seed = int | np.integer[Any] | Array | np.random.Generator
"""a generator, a seed, or an array of N seeds: then the randomness of row i comes from seed i alone"""


def as_array(actions: ArrayLike) -> Array:
    """Actions as an array; raises LudusError if the rows differ in length."""
    try:
        return np.asarray(actions)
    except ValueError:
        raise LudusError(f"actions must be numbers in rows of equal length, not {actions!r}") from None


def read_actions(name: str, spec: Spec, actions: ArrayLike, rows: int) -> Array:
    """[rows] int64 or [rows, k] float64 actions; raises LudusError if the shape or type differs."""
    given = as_array(actions)
    shape: tuple[int, ...] = (rows,)
    kinds, wanted = "iub", INT
    if isinstance(spec.actions, Continuous):
        shape, kinds, wanted = (rows, len(spec.actions.low)), "iufb", FLOAT
    if given.shape != shape:
        raise LudusError(f"{name} expects actions of shape {shape}, not {given.shape}")
    if given.dtype.kind not in kinds:
        raise LudusError(f"{name} expects {wanted.name} actions, not {given.dtype.name}")
    return np.array(given, wanted, order="C")


def illegal(name: str, spec: Spec, row: int, seat: int, action: int | Array, legal: list[str]) -> str:
    """The error message for an illegal action."""
    if isinstance(spec.actions, Continuous):
        ends = zip(spec.actions.low, spec.actions.high, strict=True)
        ranges = ", ".join(f"{low:g} to {high:g}" for low, high in ends)
        return f"{name}: action {np.asarray(action).tolist()} of row {row} is not within {ranges}"
    shown = ", ".join(legal[:12]) + (", …" if len(legal) > 12 else "")
    return f"{name}: action {int(action)} of row {row} is not legal for seat {seat}; legal actions: {shown}"


def random_actions(key: Seed, spec: Spec, mask: Array) -> Array:
    """[N(, k)] uniform among the actions that the mask [N, A] allows, or within the bounds; `key` as in `uniforms`."""
    if isinstance(spec.actions, Continuous):
        low, high = np.array(spec.actions.low), np.array(spec.actions.high)
        return low + (high - low) * uniforms(key, (len(mask), len(low)))
    return any_of(mask, key)


def any_of(allowed: Array, key: Seed) -> Array:
    """[N] one of the allowed actions [N, A] in each row, at random."""
    return (uniforms(key, allowed.shape) * allowed).argmax(axis=1)


def uniforms(key: Seed, shape: tuple[int, ...]) -> Array:
    """[N, A] random floats from 0 to 1."""
    return random.uniforms(key, shape[1]) if is_per_row(key) else np.random.default_rng(key).random(shape)


def is_per_row(key: Seed) -> TypeGuard[Array]:
    """Whether a key is an array of seeds, one for each row. A list is one seed, as NumPy reads it."""
    return isinstance(key, np.ndarray) and key.ndim == 1
