"""Checks of the arguments of all forms. Compiled code checks no indices, and an invalid batch must change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError

LARGEST_REWARD = 1e20
"""limit of rewards, so that values stay far from -1e30, which marks illegal actions"""


@dataclass(frozen=True)
class Rates:
    """Learning rate α, discount factor γ and exploration rate ε."""

    learning_rate: float = 0.1
    gamma: float = 0.99
    exploration: float = 0.1

    def __post_init__(self) -> None:
        for name in ("learning_rate", "gamma", "exploration"):
            object.__setattr__(
                self, name, float(getattr(self, name))
            )  # so that compiled code is not compiled again for integers
        if not 0.0 < self.learning_rate <= 1.0:
            raise LudusError(f"learning_rate must be above 0 and at most 1, not {self.learning_rate:g}")
        for name in ("gamma", "exploration"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise LudusError(f"{name} must be between 0 and 1, not {getattr(self, name):g}")


class Batch(NamedTuple):
    """N updates."""

    states: Array
    actions: Array
    rewards: Array
    next_states: Array
    terminated: Array
    next_masks: Array
    """[N, A] booleans, or [0, A] if all actions are legal"""
    signs: Array
    """[N] 1 or -1, or [0] if there is no opponent"""


def checked_batch(
    shape: tuple[int, int], states: ArrayLike, actions: ArrayLike, rewards: ArrayLike, next_states: ArrayLike,
    terminated: ArrayLike, next_masks: ArrayLike | None, signs: ArrayLike | None, masks: ArrayLike | None,
) -> Batch:  # fmt: skip
    """N updates of a table of [states, actions], converted to the types that the forms need."""
    here = whole_numbers("states", states, shape[0])
    count = len(here)
    chosen = whole_numbers("actions", actions, shape[1], count)
    gained = real_numbers("rewards", rewards, count)
    following = whole_numbers("next_states", next_states, shape[0], count)
    ended = np.ascontiguousarray(as_array("terminated", terminated, "biu", "booleans", (count,)), bool)
    after = checked_masks("next_masks", next_masks, count, shape[1], ended)
    opposed = np.zeros(0) if signs is None else real_numbers("signs", signs, count)
    if not np.isin(opposed, (-1.0, 1.0)).all():
        raise LudusError("signs must be 1, or -1 if the opponent is to move next")
    legal = checked_masks("masks", masks, count, shape[1], np.zeros(count, bool))
    if len(legal) and not legal[np.arange(count), chosen].all():
        first = int(np.argmin(legal[np.arange(count), chosen]))
        raise LudusError(f"update {first} has the action {chosen[first]}, which is not legal in its mask")
    return Batch(here, chosen, gained, following, ended, after, opposed)


def as_array(what: str, given: ArrayLike, kinds: str, wanted: str, shape: tuple[int, ...] | None = None) -> Array:
    """An array of one of these kinds of dtype; an empty list is accepted as any kind."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise LudusError(f"{what} must be {wanted} in rows of the same length") from None
    if array.size and array.dtype.kind not in kinds:
        raise LudusError(f"{what} must be {wanted}, not {array.dtype.name}")
    if array.ndim != 1 if shape is None else array.shape != shape:
        raise LudusError(f"{what} must have the shape {shape or '(N,)'}, not {array.shape}")
    return array


def whole_numbers(what: str, given: ArrayLike, below: int, count: int | None = None) -> Array:
    """Whole numbers from 0 to `below` - 1."""
    shape = None if count is None else (count,)
    array = as_array(what, given, "iu", "whole numbers", shape)
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < below:
        place = int(np.argmax((array < 0) | (array >= below)))
        raise LudusError(f"{what} must be between 0 and {below - 1}, not {array[place]} at index {place}")
    return np.ascontiguousarray(array, np.int64)


def real_numbers(what: str, given: ArrayLike, count: int) -> Array:
    """Finite numbers of at most LARGEST_REWARD."""
    array = np.ascontiguousarray(as_array(what, given, "iuf", "numbers", (count,)), np.float64)
    # Comparisons with NaN are false, so NaN is rejected too.
    if array.size and not -LARGEST_REWARD <= float(array.min()) <= float(array.max()) <= LARGEST_REWARD:
        place = int(np.argmin(np.abs(array) <= LARGEST_REWARD))
        raise LudusError(f"{what} must be finite and at most {LARGEST_REWARD:g}, not {array[place]} at index {place}")
    return array


def checked_masks(what: str, given: ArrayLike | None, count: int, actions: int, ended: Array) -> Array:
    """[N, A] legal actions, at least one in each row that has not ended; [0, A] if `given` is None."""
    if given is None:
        return np.zeros((0, actions), bool)
    array = as_array(what, given, "biu", "booleans", (count, actions))
    masks = np.ascontiguousarray(array, bool)
    empty = ~(masks.any(axis=1) | ended)
    if empty.any():
        raise LudusError(f"{what}: no action is legal at index {int(np.argmax(empty))}; at least one must be")
    return masks


def check_number(what: str, given: object, below: int) -> None:
    """A faster check for a single state or action."""
    if not isinstance(given, int | np.integer) or not 0 <= given < below:
        raise LudusError(f"{what} must be a whole number from 0 to {below - 1}, not {given!r}")


def checked_mask(what: str, given: ArrayLike | None, actions: int) -> Array | None:
    """[A] legal actions, or None."""
    if given is None:
        return None
    mask: Array = checked_masks(what, np.asarray(given)[None], 1, actions, np.zeros(1, bool))[0]
    return mask
