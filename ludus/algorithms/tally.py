"""Tallies: counts and moments of the games that ended, as one array that workers return.

[games ended, their steps, decisions, then for each of P seats: sum of returns, sum of squares, lowest, highest return].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ludus.types import Array

EPISODES, LENGTHS, DECISIONS, RETURNS = 0, 1, 2, 3
"""indices into a tally; the sums of returns begin at RETURNS, the squares P later, the lowest and highest after them"""


def empty(seats: int) -> Array:
    """The tally of no games."""
    return np.concatenate([np.zeros(RETURNS + 2 * seats), np.full(seats, np.inf), np.full(seats, -np.inf)])


def count(tally: Array, returns: Array, lengths: Array) -> None:
    """Add ended games to a tally: returns [n, P] and lengths [n].

    Games are added one after the other, as compiled loops do it, because a sum of floats depends on the order.
    """
    sums, squares, lows, highs = moments(tally)
    tally[EPISODES] += len(lengths)
    tally[LENGTHS] += lengths.sum()
    sums[:] = np.cumsum(np.vstack([sums, returns]), axis=0)[-1]
    squares[:] = np.cumsum(np.vstack([squares, returns * returns]), axis=0)[-1]
    np.minimum(lows, returns.min(axis=0, initial=np.inf), out=lows)
    np.maximum(highs, returns.max(axis=0, initial=-np.inf), out=highs)


def merged(tallies: Sequence[Array]) -> Array:
    """One tally of all games."""
    total = np.sum(tallies, axis=0)
    _, _, lows, highs = moments(total)
    lows[:] = np.min([moments(tally)[2] for tally in tallies], axis=0)
    highs[:] = np.max([moments(tally)[3] for tally in tallies], axis=0)
    return total


def moments(tally: Array) -> tuple[Array, Array, Array, Array]:
    """Views of the sums, squares, lowest and highest returns, each [P]."""
    sums, squares, lows, highs = tally[RETURNS:].reshape(4, -1)
    return sums, squares, lows, highs


def means(tally: Array) -> dict[str, float]:
    """The metrics of a tally: means over the ended games, if there are any, and the spread of the first return."""
    episodes = float(tally[EPISODES])
    metrics = {"decisions": float(tally[DECISIONS]), "episodes": episodes}
    if not episodes:
        return metrics
    sums, squares, lows, highs = (part.tolist() for part in moments(tally))
    mean = sums[0] / episodes
    metrics |= {"episode_length": float(tally[LENGTHS]) / episodes}
    metrics |= (
        {"episode_return": mean}
        if len(sums) == 1
        else {f"episode_return/seat{seat}": total / episodes for seat, total in enumerate(sums)}
    )
    spread = math.sqrt(max(squares[0] / episodes - mean * mean, 0.0))
    return metrics | {"return_std": spread, "return_min": lows[0], "return_max": highs[0]}
