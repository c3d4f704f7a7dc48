"""Random numbers from the state: a counter in `state.key` is mixed into 64 random bits (SplitMix64).

The same key and the same actions give the same game, on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludus.dsl import rule
from ludus.types import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)
UNIT = 1.0 / 9007199254740992.0


@rule
def mix(bits):
    """The mixing function of SplitMix64, a bijection on 64 bits."""
    bits = (bits ^ (bits >> S30)) * FIRST
    bits = (bits ^ (bits >> S27)) * SECOND
    return bits ^ (bits >> S31)


@rule
def combine(seed, index):
    """The key of stream `index` of `seed`; streams of neighbouring seeds are unrelated."""
    return mix(mix(np.uint64(seed) + GOLDEN) + np.uint64(index) * GOLDEN)


@rule
def bits(state):
    """64 random bits."""
    state.key = state.key + GOLDEN
    return mix(state.key)


@rule
def scale(random_bits, count):
    """Map random bits to an integer in 0 .. count-1 (count < 2^31)."""
    return np.int64(((random_bits >> S32) * np.uint64(count)) >> S32)


@rule
def below(state, count):
    """A random integer in 0 .. count-1."""
    return scale(bits(state), count)


@rule
def uniform(state, low, high):
    """A random float from low to high."""
    return low + (high - low) * (np.float64(bits(state) >> S11) * UNIT)


@rule
def normal(state):
    """A random float from the standard normal distribution (Box-Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state, 0.0, 1.0)))
    return radius * math.cos(2.0 * math.pi * uniform(state, 0.0, 1.0))


@rule
def shuffle(state, items, count):
    """Put the first `count` items in random order (Fisher-Yates)."""
    for last in range(count - 1, 0, -1):
        other = below(state, last + 1)
        item = items[last]
        items[last] = items[other]
        items[other] = item


def keys(seed: int, count: int) -> NDArray[np.uint64]:
    """`count` unrelated keys from one seed."""
    with np.errstate(over="ignore"):
        start = _mix_array(np.array([seed % 2**64], np.uint64) + GOLDEN)
        return _mix_array(start + np.arange(count, dtype=np.uint64) * GOLDEN)


def seeded(seeds: Iterable[int]) -> NDArray[np.uint64]:
    """One key per seed: row i of a batch plays the same game as a single game with `seeds[i]`."""
    with np.errstate(over="ignore"):
        whole = np.array([int(seed) % 2**64 for seed in seeds], np.uint64)
        return _mix_array(_mix_array(whole + GOLDEN))


def uniforms(keys: ArrayLike, count: int) -> Array:
    """[N, count] floats from 0 to 1; row i depends only on key i."""
    with np.errstate(over="ignore"):
        counters = np.asarray(keys, np.uint64)[:, None] + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
        return (_mix_array(counters) >> S11) * UNIT


def next_keys(streams: NDArray[np.uint64], chosen: Array) -> NDArray[np.uint64]:
    """Advance the chosen streams of keys in place; returns the current key of all N streams."""
    with np.errstate(over="ignore"):
        streams[chosen] += GOLDEN
        return _mix_array(streams)


def _mix_array(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> S30)) * FIRST
    values = (values ^ (values >> S27)) * SECOND
    return values ^ (values >> S31)
