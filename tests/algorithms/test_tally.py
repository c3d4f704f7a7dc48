"""Tallies of ended games: exact moments of returns, however the games are split among workers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.algorithms import tally as tallies

GAMES = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 50)), max_size=20)


def tally_of(games):
    tally = tallies.empty(2)
    for *returns, length in games:
        tallies.count(tally, np.array([returns], float), np.array([length]))
    return tally


@given(GAMES, GAMES)
def test_merged_tallies_equal_the_tally_of_all_games(one, other):
    merged, whole = tallies.merged([tally_of(one), tally_of(other)]), tally_of(one + other)
    assert merged.tolist() == whole.tolist()


@given(GAMES.filter(len))
def test_metrics_are_the_moments_of_the_returns(games):
    first, second, lengths = np.array(games, float).T
    metrics = tallies.means(tally_of(games))
    assert metrics["episodes"] == len(games)
    assert metrics["episode_length"] == pytest.approx(lengths.mean())
    assert metrics["episode_return/seat0"] == pytest.approx(first.mean())
    assert metrics["episode_return/seat1"] == pytest.approx(second.mean())
    assert metrics["return_std"] == pytest.approx(first.std(), abs=1e-6)
    assert (metrics["return_min"], metrics["return_max"]) == (first.min(), first.max())


def test_without_ended_games_there_are_no_means():
    assert tallies.means(tallies.empty(1)) == {"decisions": 0.0, "episodes": 0.0}


def test_a_game_for_one_has_one_return():
    tally = tallies.empty(1)
    tallies.count(tally, np.array([[3.0], [5.0]]), np.array([2, 4]))
    assert tallies.means(tally) == {
        "decisions": 0.0, "episodes": 2.0, "episode_length": 3.0, "episode_return": 4.0, "return_std": 1.0,
        "return_min": 3.0, "return_max": 5.0,
    }  # fmt: skip
