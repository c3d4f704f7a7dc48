"""What every form is handed, looked at once: compiled code trusts its indices, and a refused batch changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ludus.types import Array, LudusError

LARGEST_REWARD = 1e20
"""illegal actions stand at -1e30, and no value may ever come near"""


@dataclass(frozen=True)
class Rates:
    """How fast is learned, what a step later is worth, and how often something is tried."""

    learning_rate: float = 0.1
    gamma: float = 0.99
    exploration: float = 0.1

    def __post_init__(self) -> None:
        for name in ("learning_rate", "gamma", "exploration"):
            object.__setattr__(self, name, float(getattr(self, name)))  # compiled code tells 1 from 1.0
        if not 0.0 < self.learning_rate <= 1.0:
            raise LudusError(f"the learning rate lies above 0 and is at most 1; {self.learning_rate:g} does not")
        for name in ("gamma", "exploration"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise LudusError(f"{name} lies between 0 and 1; {getattr(self, name):g} does not")


class Batch(NamedTuple):
    """N updates."""

    states: Array
    actions: Array
    rewards: Array
    next_states: Array
    terminated: Array
    next_masks: Array
    """[N, A] booleans, or [0, A] where everything is legal"""
    signs: Array
    """[N] 1 or -1, or [0] where nobody is opposed"""


def checked_batch(
    shape: tuple[int, int], states: Any, actions: Any, rewards: Any, next_states: Any, terminated: Any,
    next_masks: Any, signs: Any, masks: Any,
) -> Batch:  # fmt: skip
    """N updates of a table of [states, actions], in the types that the forms read."""
    here = whole_numbers("states", states, shape[0])
    count = len(here)
    chosen = whole_numbers("actions", actions, shape[1], count)
    gained = real_numbers("rewards", rewards, count)
    following = whole_numbers("next_states", next_states, shape[0], count)
    ended = np.ascontiguousarray(as_array("terminated", terminated, "biu", "booleans", (count,)), bool)
    after = checked_masks("next_masks", next_masks, count, shape[1], ended)
    opposed = np.zeros(0) if signs is None else real_numbers("signs", signs, count)
    if not np.isin(opposed, (-1.0, 1.0)).all():
        raise LudusError("signs are 1, or -1 where the opponent is to move next; another number was given")
    legal = checked_masks("masks", masks, count, shape[1], np.zeros(count, bool))
    if len(legal) and not legal[np.arange(count), chosen].all():
        first = int(np.argmin(legal[np.arange(count), chosen]))
        raise LudusError(f"update {first} is of action {chosen[first]}, which its mask does not allow")
    return Batch(here, chosen, gained, following, ended, after, opposed)


def as_array(what: str, given: Any, kinds: str, wanted: str, shape: tuple[int, ...] | None = None) -> Array:
    """An array of one of these kinds; an empty list is of every kind."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise LudusError(f"{what} must be {wanted} in rows of one length") from None
    if array.size and array.dtype.kind not in kinds:
        raise LudusError(f"{what} must be {wanted}, not {array.dtype.name}")
    if array.ndim != 1 if shape is None else array.shape != shape:
        raise LudusError(f"{what} must have the shape {shape or '(N,)'}, not {array.shape}")
    return array


def whole_numbers(what: str, given: Any, below: int, count: int | None = None) -> Array:
    """Numbers from 0 up to `below`."""
    shape = None if count is None else (count,)
    array = as_array(what, given, "iu", "whole numbers", shape)
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < below:
        place = int(np.argmax((array < 0) | (array >= below)))
        raise LudusError(f"{what} lie between 0 and {below - 1}; {array[place]} at place {place} does not")
    return np.ascontiguousarray(array, np.int64)


def real_numbers(what: str, given: Any, count: int) -> Array:
    """Numbers that a table can hold."""
    array = np.ascontiguousarray(as_array(what, given, "iuf", "numbers", (count,)), np.float64)
    # A NaN is neither above nor below, so it is refused as well.
    if array.size and not -LARGEST_REWARD <= float(array.min()) <= float(array.max()) <= LARGEST_REWARD:
        place = int(np.argmin(np.abs(array) <= LARGEST_REWARD))
        raise LudusError(f"{what} are finite and at most {LARGEST_REWARD:g}; {array[place]} at place {place} is not")
    return array


def checked_masks(what: str, given: Any, count: int, actions: int, ended: Array) -> Array:
    """[N, A] what is legal, something in every row that has not ended; [0, A] where nothing is given."""
    if given is None:
        return np.zeros((0, actions), bool)
    array = as_array(what, given, "biu", "booleans", (count, actions))
    masks = np.ascontiguousarray(array, bool)
    empty = ~(masks.any(axis=1) | ended)
    if empty.any():
        raise LudusError(
            f"{what}: nothing is allowed at place {int(np.argmax(empty))}; at least one action must be legal"
        )
    return masks


def check_number(what: str, given: Any, below: int) -> None:
    """The same for a single state or action, quickly."""
    if not isinstance(given, int | np.integer) or not 0 <= given < below:
        raise LudusError(f"{what} is a whole number from 0 to {below - 1}, not {given!r}")


def checked_mask(what: str, given: Any, actions: int) -> Array | None:
    """[A] what is legal, or None."""
    if given is None:
        return None
    mask: Array = checked_masks(what, np.asarray(given)[None], 1, actions, np.zeros(1, bool))[0]
    return mask
