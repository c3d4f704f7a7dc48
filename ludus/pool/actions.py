"""Actions at the edge of a pool, ours or foreign: read, refused with a sentence, or drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.types import Array, Continuous, LudusError, Spec


def as_array(actions: Any) -> Array:
    """Actions as an array, unless their rows differ in length."""
    try:
        return np.asarray(actions)
    except ValueError:
        raise LudusError(f"actions must be numbers in rows of equal length, not {actions!r}") from None


def illegal(name: str, spec: Spec, row: int, seat: int, action: Any, legal: list[str]) -> str:
    """The sentence for an action that will not do."""
    if isinstance(spec.actions, Continuous):
        ends = zip(spec.actions.low, spec.actions.high, strict=True)
        ranges = ", ".join(f"{low:g} to {high:g}" for low, high in ends)
        return f"{name}: action {np.asarray(action).tolist()} of row {row} is not within {ranges}"
    shown = ", ".join(legal[:12]) + (", …" if len(legal) > 12 else "")
    return f"{name}: action {int(action)} of row {row} is not legal for seat {seat}; legal are {shown}"


def random_actions(generator: np.random.Generator, spec: Spec, mask: Array) -> Array:
    """[N(, k)] uniform among what the mask [N, A] allows, or within the bounds."""
    if isinstance(spec.actions, Continuous):
        low, high = np.array(spec.actions.low), np.array(spec.actions.high)
        return generator.uniform(low, high, (len(mask), len(low)))
    return (generator.random(mask.shape) * mask).argmax(axis=1)
