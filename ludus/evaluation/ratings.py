"""Ratings from games between many players: Bradley-Terry, fitted to all games at once, and Elo, game by game.

Both use the scale of chess: a difference of 400 points means odds of 10 to 1, and the average player has 1500.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError

MIDDLE, TEN_TIMES = 1500.0, 400.0
SCALE = TEN_TIMES / math.log(10)
"""rating points of one unit of log odds"""
PRIOR = 1.0
"""number of virtual games of each player against an average one, half of them won"""
SURE = 1.959964
"""standard errors of a 95 % interval"""


class Rating(NamedTuple):
    """The rating of a player and its 95 % interval."""

    rating: float
    low: float
    high: float


def bradley_terry(points: ArrayLike, prior: float = PRIOR) -> list[Rating]:
    """Ratings from [n, n] points that the player of the row won against that of the column; a draw is half a point.

    With s(x) = 1 / (1 + exp(-x)), player i beats j with the probability s(t_i - t_j) (Bradley and Terry 1952), and t
    maximizes

        L(t) = sum_{i, j} points_ij log s(t_i - t_j) + prior / 2 sum_i (log s(t_i) + log s(-t_i))

    The second part is `prior` games of each player, half of them won, against an average one with t = 0. It keeps the
    ratings of players who never lost finite, and those of players who never met comparable. L is concave; Newton's
    method finds its maximum, and the inverse of its curvature is the covariance. The rating is
    1500 + 400 (t - mean of t) / ln 10; its interval is that of the distance to the mean of these players.
    """
    won = _checked(points, prior)
    strength = np.zeros(len(won))
    for _ in range(200):
        move = np.linalg.solve(_curvature(won, strength, prior), _gradient(won, strength, prior))
        strength = _newton_step(won, strength, move, prior)
        if np.abs(move).max() < 1e-9:
            break
    centred = np.eye(len(won)) - 1 / len(won)
    spread = centred @ np.linalg.inv(_curvature(won, strength, prior)) @ centred
    errors = np.sqrt(np.diag(spread).clip(0))
    return [_rating(*pair) for pair in zip((centred @ strength).tolist(), errors.tolist(), strict=True)]


def elo(
    first: Sequence[int] | Array, second: Sequence[int] | Array, points: ArrayLike, players: int, k: float = 16.0
) -> list[float]:
    """Ratings after [games] games in order: first player, second player, and points of the first (1, 0.5 or 0).

    After each game (Elo 1978), r_i += k (points - e) and r_j -= k (points - e), e = 1 / (1 + 10^((r_j - r_i) / 400)).
    """
    if not 0 < k < math.inf:
        raise LudusError(f"k of Elo must be finite and above 0, not {k:g}; 16 is usual")
    ratings = [MIDDLE] * players
    for one, other, point in zip(
        np.asarray(first).tolist(), np.asarray(second).tolist(), np.asarray(points), strict=True
    ):
        surprise = k * (float(point) - expected(ratings[one], ratings[other]))
        ratings[one] += surprise
        ratings[other] -= surprise
    return ratings


def expected(rating: float, other: float) -> float:
    """The expected points of a game against the other player."""
    return 1 / (1 + 10 ** min((other - rating) / TEN_TIMES, 300.0))


def _checked(points: ArrayLike, prior: float) -> Array:
    won = np.array(points, np.float64)
    if won.ndim != 2 or won.shape[0] != won.shape[1] or not len(won):
        raise LudusError(f"points must be a square matrix, row against column, not of shape {won.shape}")
    if not (np.isfinite(won) & (won >= 0)).all() or not 0 < prior < math.inf:
        raise LudusError(
            "points must be finite and not negative, and the prior finite and above 0; count a draw as 0.5"
        )
    np.fill_diagonal(won, 0.0)
    return won


def _share(strength: Array) -> Array:
    """[n, n] s(t_i - t_j), computed without overflow."""
    return 0.5 * (1 + np.tanh((strength[:, None] - strength) / 2))


def _likelihood(won: Array, strength: Array, prior: float) -> float:
    """L(t)."""
    games = won * np.logaddexp(0, strength - strength[:, None])
    return -float(games.sum() + prior / 2 * (np.logaddexp(0, strength) + np.logaddexp(0, -strength)).sum())


def _newton_step(won: Array, strength: Array, move: Array, prior: float) -> Array:
    """Newton's step, halved until L does not decrease: far from the maximum a whole step may overshoot."""
    before = _likelihood(won, strength, prior)
    room = 1e-12 * abs(before)
    while _likelihood(won, strength + move, prior) < before - room and np.abs(move).max() > 1e-12:
        move = move / 2
    climbed: Array = strength + move
    return climbed


def _gradient(won: Array, strength: Array, prior: float) -> Array:
    """dL/dt_i = sum_j (points_ij - games_ij s(t_i - t_j)) + prior (1/2 - s(t_i))."""
    played = (won - (won + won.T) * _share(strength)).sum(axis=1)
    slope: Array = played - prior * np.tanh(strength / 2) / 2
    return slope


def _curvature(won: Array, strength: Array, prior: float) -> Array:
    """-d2L/dt_i dt_j, with games_ij s (1 - s) between two players."""
    share = _share(strength)
    between = (won + won.T) * share * (1 - share)
    alone = prior * (1 - np.tanh(strength / 2) ** 2) / 4
    curvature: Array = np.diag(between.sum(axis=1) + alone) - between
    return curvature


def _rating(strength: float, error: float) -> Rating:
    low, high = strength - SURE * error, strength + SURE * error
    return Rating(*(MIDDLE + SCALE * t for t in (strength, low, high)))
