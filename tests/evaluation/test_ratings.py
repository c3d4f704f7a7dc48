"""Ratings: numbers worked by hand, and known strengths found again from simulated games."""

import math

import numpy as np
import pytest

from ludus.evaluation import ratings
from ludus.evaluation.ratings import SCALE, bradley_terry, elo, expected
from ludus.types import LudusError


def test_two_players_by_hand():
    """With t = ln 2 and -ln 2, s(2 ln 2) = 4/5 and s(ln 2) = 2/3: 8.5 of 10 and a prior of 3 balance exactly.

    8.5 - 10 * 4/5 + 3 * (1/2 - 2/3) = 0.
    """
    first, second = bradley_terry([[0, 8.5], [1.5, 0]], prior=3)
    assert first.rating == pytest.approx(1500 + SCALE * math.log(2), abs=1e-6)
    assert second.rating == pytest.approx(1500 - SCALE * math.log(2), abs=1e-6)
    # Curvature [[a + p, -a], [-a, a + p]], a = 10 * 4/25, p = 3 * 2/9: the difference of both has 2 / (2 a + p),
    # and half of that difference, which is the distance to the mean, a quarter of it.
    error = math.sqrt(2 / (2 * 1.6 + 2 / 3) / 4)
    assert first.high - first.rating == pytest.approx(ratings.SURE * SCALE * error, abs=1e-6)
    assert first.rating - first.low == pytest.approx(first.high - first.rating)


def test_a_small_prior_gives_the_odds():
    first, second = bradley_terry([[0, 10], [1, 0]], prior=1e-9)
    assert first.rating - second.rating == pytest.approx(400, abs=1e-3), "400 points are ten times the odds"


def test_three_players_with_consistent_odds():
    """Odds of 4, 2 and 8 = 4 * 2 between three players: strengths of 8, 2 and 1 explain them exactly."""
    points = np.array([[0, 800, 800], [200, 0, 600], [100, 300, 0]], float)
    strengths = np.log([8, 2, 1])
    found = bradley_terry(points, prior=1e-9)
    np.testing.assert_allclose([one.rating for one in found], 1500 + SCALE * (strengths - strengths.mean()), atol=1e-3)


def test_draws_are_half_a_point_and_the_diagonal_is_ignored():
    even = bradley_terry([[7, 5], [5, 9]])
    assert [one.rating for one in even] == [1500, 1500]


@pytest.mark.parametrize("games", [1, 1000, 10**7])
def test_the_undefeated_stay_finite_and_in_order(games):
    found = bradley_terry(np.triu(np.full((5, 5), float(games)), 1))
    numbers = [one.rating for one in found]
    assert np.isfinite(found).all() and numbers == sorted(numbers, reverse=True)
    assert numbers[0] - numbers[1] > 40 and sum(numbers) / 5 == pytest.approx(1500)
    assert all(one.low < one.rating < one.high for one in found)


def test_the_undefeated_by_hand():
    """One win to none: 1 - s(2 t) + prior (1/2 - s(t)) = 0; x = e^t, prior 1: x^3 - x^2 - x - 3 = 0, x = 2.1304."""
    first, _ = bradley_terry([[0, 1], [0, 0]])
    root = max(np.roots([1, -1, -1, -3]).real)
    assert root == pytest.approx(2.1304, abs=1e-4)
    assert first.rating == pytest.approx(1500 + SCALE * math.log(root), abs=1e-6)


def test_known_strengths_are_recovered():
    dice = np.random.default_rng(1)
    truth = np.array([1900, 1700, 1600, 1500, 1350, 1250, 1200])
    truth = truth - truth.mean() + 1500
    points = np.zeros((7, 7))
    for one in range(7):
        for other in range(one + 1, 7):
            points[one, other] = dice.binomial(2000, expected(truth[one], truth[other]))
            points[other, one] = 2000 - points[one, other]
    found = bradley_terry(points)
    np.testing.assert_allclose([one.rating for one in found], truth, atol=15)
    assert all(one.high - one.low < 40 for one in found)
    assert sum(one.low <= real <= one.high for one, real in zip(found, truth, strict=True)) >= 6


def test_intervals_have_the_stated_coverage():
    dice, truth = np.random.default_rng(2), np.array([1600.0, 1500.0, 1400.0])
    inside = 0
    for _ in range(300):
        points = np.zeros((3, 3))
        for one, other in ((0, 1), (0, 2), (1, 2)):
            points[one, other] = dice.binomial(100, expected(truth[one], truth[other]))
            points[other, one] = 100 - points[one, other]
        inside += sum(r.low <= real <= r.high for r, real in zip(bradley_terry(points), truth, strict=True))
    assert 0.92 <= inside / 900 <= 0.98


def test_players_who_never_met():
    first, second, third, fourth = bradley_terry([[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 1, 0]])
    assert first.rating == pytest.approx(third.rating) and second.rating == pytest.approx(fourth.rating)


def test_elo_by_hand():
    assert elo([0], [1], [1.0], 2, k=32) == [1516, 1484]
    assert elo([0], [1], [0.5], 2) == [1500, 1500]
    # The favourite of 32 points is expected to take 1 / (1 + 10^(-32 / 400)) = 0.545922 of the next one.
    after = elo([0, 1], [1, 0], [1.0, 1.0], 2, k=32)
    assert after[1] == pytest.approx(1484 + 32 * (1 - 0.454078), abs=1e-4) and sum(after) == pytest.approx(3000)


def test_elo_drifts_to_the_strengths():
    dice = np.random.default_rng(3)
    points = dice.random(20_000) < expected(1700, 1500)
    first, second = elo(np.zeros(20_000, int), np.ones(20_000, int), points, 2, k=2)
    assert first - second == pytest.approx(200, abs=40)


def test_expected_never_overflows():
    assert expected(0, 1e9) == pytest.approx(0) and expected(1e9, 0) == 1 and expected(1500, 1500) == 0.5


@pytest.mark.parametrize(
    ("points", "prior"),
    [([1, 2], 1), ([[0, 1, 2]], 1), (np.zeros((0, 0)), 1), ([[0, -1], [1, 0]], 1), ([[0, math.nan], [1, 0]], 1),
     ([[0, 1], [1, 0]], 0), ([[0, 1], [1, 0]], math.inf)],
)  # fmt: skip
def test_invalid_points_raise_an_error(points, prior):
    with pytest.raises(LudusError, match="points"):
        bradley_terry(points, prior)


@pytest.mark.parametrize("k", [0, -1, math.inf, math.nan])
def test_an_invalid_k_raises_an_error(k):
    with pytest.raises(LudusError, match="k"):
        elo([0], [1], [1], 2, k)
