"""MultiDiscrete spaces flattened to Discrete, without integer overflow.

The order is row-major (the last part varies fastest). Sizes are multiplied as Python integers, so they cannot overflow.
"""

from __future__ import annotations

import math
from typing import TypeVar

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError

LARGEST = 2**63 - 1
"""the largest int64"""
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


def combinations(sizes: ArrayLike) -> int:
    """The number of ways to choose one of `sizes[k]` values for every k."""
    return math.prod(_counts(sizes))


def flatten_index(parts: ArrayLike, sizes: ArrayLike) -> Array | int:
    """[..., k] numbers, each below its size, as one number [...] below the product of the sizes."""
    counts, whole = _counts(sizes), _whole(parts)
    if whole.shape[-1:] != (len(counts),):
        raise LudusError(f"{len(counts)} sizes need {len(counts)} parts in the last axis, not shape {whole.shape}")
    _check_range(whole, np.array(counts, np.int64))
    index = np.zeros(whole.shape[:-1], np.int64)
    for part, count in zip(np.moveaxis(whole, -1, 0), counts, strict=True):
        index = index * count + part  # below the product of the sizes so far, so it cannot overflow
    return index if whole.ndim > 1 else int(index)


def unflatten_index(index: ArrayLike, sizes: ArrayLike) -> Array:
    """The inverse of `flatten_index`: the [..., k] parts of the numbers [...]."""
    counts, rest = _counts(sizes), _whole(index)
    _check_range(rest, math.prod(counts))
    parts = np.empty((*rest.shape, len(counts)), np.int64)
    for place in range(len(counts) - 1, -1, -1):
        rest, parts[..., place] = np.divmod(rest, counts[place])
    return parts


def choices(space: gymnasium.Space[object]) -> tuple[Array, Array]:
    """The sizes and the smallest values of a space of several choices, both int64 in the shape of the space."""
    if isinstance(space, gymnasium.spaces.MultiBinary):
        return np.full(space.shape, 2, np.int64), np.zeros(space.shape, np.int64)
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return space.nvec.astype(np.int64), space.start.astype(np.int64)
    raise LudusError(f"{space} is not MultiDiscrete or MultiBinary, so there is nothing to flatten; use it as it is")


class FlattenMultiDiscreteActions(gymnasium.ActionWrapper[ObsType, int | np.int64, Array], RecordConstructorArgs):
    """A MultiDiscrete (or MultiBinary) action space offered as one Discrete."""

    def __init__(self, env: gymnasium.Env[ObsType, Array]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._sizes, self._start = choices(env.action_space)
        self.action_space = gymnasium.spaces.Discrete(combinations(self._sizes))

    def action(self, action: int | np.int64) -> Array:
        """The parts of a flat action, in the form of the inner environment."""
        parts = unflatten_index(action, self._sizes).reshape(self._sizes.shape) + self._start
        return parts.astype(self.env.action_space.dtype)


class FlattenMultiDiscreteObservations(gymnasium.ObservationWrapper[np.int64, ActType, Array], RecordConstructorArgs):
    """A MultiDiscrete (or MultiBinary) observation space offered as one Discrete."""

    def __init__(self, env: gymnasium.Env[Array, ActType]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._sizes, self._start = choices(env.observation_space)
        self.observation_space = gymnasium.spaces.Discrete(combinations(self._sizes))

    def observation(self, observation: Array) -> np.int64:
        """All parts of the observation as one number."""
        parts = np.asarray(observation).astype(np.int64) - self._start
        return np.int64(flatten_index(parts.ravel(), self._sizes))


def _counts(sizes: ArrayLike) -> list[int]:
    counts = [int(size) for size in _whole(sizes).ravel()]
    if any(count < 1 for count in counts):
        raise LudusError(f"every size must be at least 1, not {counts[:8]}")
    if math.prod(counts) > LARGEST:
        raise LudusError(
            f"sizes {counts[:8]} make {math.prod(counts)} combinations, more than the largest int64, {LARGEST}; "
            "flatten fewer parts together"
        )
    return counts


def _whole(numbers: ArrayLike) -> Array:
    array = np.asarray(numbers)
    if array.dtype.kind not in "iub" and array.size:
        raise LudusError(f"only whole numbers below 2^63 can be flattened, not {array.dtype.name} numbers")
    return array.astype(np.int64)


def _check_range(numbers: Array, below: Array | int) -> None:
    wrong = (numbers < 0) | (numbers >= below)
    if wrong.any():
        limit = np.broadcast_to(np.asarray(below, np.int64), numbers.shape)[wrong][0]
        raise LudusError(f"{numbers[wrong][0]} is not a number from 0 to {limit - 1}")
