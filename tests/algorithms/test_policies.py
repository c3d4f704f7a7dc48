"""Policies: the frequency of each action against the exact distribution, ties, illegal actions."""

import functools
import math

import numpy as np
import pytest

from ludus.agents.table import ILLEGAL, highest, row_dtype
from ludus.algorithms.tabular import Tabular, names, part
from ludus.dsl import rule
from ludus.dsl.random import GOLDEN, mix
from ludus.dsl.rows import new_rows

DRAWS = 40_000
VALUES = [0.3, ILLEGAL, 0.7, -1.2, 0.7, ILLEGAL, 0.65]
LEGAL = [0, 2, 3, 4, 6]


@functools.cache
def loop_of(policy):
    """Many draws from the first row; with `fresh`, the row is reset before each, including its counts."""
    choose, actions = part("policy", policy).choose, len(VALUES)

    @rule
    def draw(rows, settings, dice, fresh, times, seen):
        for k in range(times):
            if fresh:
                rows[0] = rows[1]
            row = rows[0]
            bits = mix(np.uint64(dice) + np.uint64(k) * GOLDEN)
            seen[k] = choose(row, actions, highest(row, actions), settings[0], bits)

    return draw


def new_pair(policy, values, counts=None):
    rows = new_rows(2, row_dtype(len(values), getattr(part("policy", policy), "EXTRA", ())))
    rows["values"] = values
    if counts is not None:
        rows["counts"] = counts
    return rows


def settings_with(exploration):
    """The record of the compiled loop with this value of exploration."""
    settings = Tabular().settings()
    settings["exploration"], settings["explore_below"] = exploration, math.ceil(exploration * 2**32)
    return settings


def chosen(policy, exploration, values=VALUES, counts=None, fresh=True, times=DRAWS, dice=11):
    rows, settings, seen = new_pair(policy, values, counts), settings_with(exploration), np.zeros(times, np.int64)
    loop_of(policy)(rows, settings, dice, fresh, times, seen)
    return seen, rows


def counts_of(policy, exploration, **others):
    return np.bincount(chosen(policy, exploration, **others)[0], minlength=len(VALUES))


def assert_drawn_from(counts, distribution):
    """Pearson's χ² test with a margin of six standard deviations; actions of probability 0 must never occur."""
    distribution = np.asarray(distribution, float)
    possible = distribution > 0
    assert distribution.sum() == pytest.approx(1) and not counts[~possible].any()
    expected = distribution[possible] * counts.sum()
    freedom = possible.sum() - 1
    assert ((counts[possible] - expected) ** 2 / expected).sum() <= freedom + 6 * math.sqrt(2 * max(freedom, 1))


def softmax(temperature):
    weights = np.exp((np.array(VALUES, float) - 0.7) / temperature)
    return weights / weights.sum()


def greedy_with(epsilon):
    distribution = np.zeros(len(VALUES))
    distribution[LEGAL] = epsilon / len(LEGAL)
    distribution[[2, 4]] += (1 - epsilon) / 2
    return distribution


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0])
def test_epsilon_greedy(epsilon):
    assert_drawn_from(counts_of("epsilon_greedy", epsilon), greedy_with(epsilon))


@pytest.mark.parametrize("temperature", [0.05, 0.3, 1.0, 1e6])
def test_boltzmann(temperature):
    assert_drawn_from(counts_of("boltzmann", temperature), softmax(temperature))


@pytest.mark.parametrize("temperature", [0.0, 1e-40, 1e-9])
def test_boltzmann_at_temperature_zero_is_greedy(temperature):
    assert_drawn_from(counts_of("boltzmann", temperature), greedy_with(0.0))


def test_boltzmann_does_not_overflow():
    values = [3e8, ILLEGAL, -2e20, 3e8, 1e5, ILLEGAL, -1e28]
    assert_drawn_from(counts_of("boltzmann", 1e-3, values=values), [0.5, 0, 0, 0.5, 0, 0, 0])
    wins = [-5e8, ILLEGAL, -5e8, ILLEGAL, ILLEGAL, ILLEGAL, -5e8]
    assert_drawn_from(counts_of("boltzmann", 1.0, values=wins), [1 / 3, 0, 1 / 3, 0, 0, 0, 1 / 3])


def test_ucb_tries_every_legal_action_once_before_any_twice():
    seen, rows = chosen("ucb", 0.1, fresh=False, times=len(LEGAL))
    assert sorted(seen.tolist()) == LEGAL
    assert rows["counts"][0].tolist() == [1, 0, 1, 1, 1, 0, 1]


def test_ucb_tries_untried_actions_in_random_order():
    untried = np.zeros(len(VALUES))
    untried[LEGAL] = 1 / len(LEGAL)
    assert_drawn_from(counts_of("ucb", 0.1, counts=np.zeros(len(VALUES))), untried)
    assert_drawn_from(counts_of("ucb", 0.0, counts=[4, 0, 3, 0, 3, 0, 0]), [0, 0, 0, 0.5, 0, 0, 0.5])


def test_ucb_chooses_the_highest_bound():
    counts = [2, 0, 50, 1, 30, 0, 40]
    bound = {a: VALUES[a] + 0.4 * math.sqrt(math.log(sum(counts)) / counts[a]) for a in LEGAL}
    best = max(bound, key=bound.get)
    assert best == 0  # neither the highest value nor the least tried
    assert set(chosen("ucb", 0.4, counts=counts, times=50)[0]) == {best}


def test_ucb_counts_its_choices_and_prefers_the_best_actions():
    seen, rows = chosen("ucb", 0.5, fresh=False)
    np.testing.assert_array_equal(rows["counts"][0], np.bincount(seen, minlength=len(VALUES)))
    counts = rows["counts"][0]
    assert counts[2] + counts[4] > 0.8 * DRAWS and abs(counts[2] - counts[4]) <= 2
    bound = [VALUES[a] + 0.5 * math.sqrt(math.log(DRAWS) / counts[a]) for a in (0, 2, 4, 6)]
    assert max(bound) - min(bound) < 0.02  # the bounds of all actions become equal
    assert counts[3] <= 2  # except that of the bad one, which is far below


@pytest.mark.parametrize("policy", names("policy"))
def test_a_single_legal_action_is_always_chosen(policy):
    values = [ILLEGAL] * len(VALUES)
    values[3] = -7e6
    for exploration in (0.0, 0.5, 1.0):
        assert set(chosen(policy, exploration, values=values, times=200)[0]) == {3}


@functools.cache
def expected_of(policy):
    """A compiled function that returns the expected value of the first row."""
    expected, actions = part("policy", policy).expected, len(VALUES)

    @rule
    def value(rows, settings):
        return expected(rows[0], actions, settings[0])

    return value


@pytest.mark.parametrize("policy", ["epsilon_greedy", "boltzmann"])
@pytest.mark.parametrize("exploration", [0.0, 0.2, 1.0])
def test_expected_is_the_mean_value_of_the_chosen_actions(policy, exploration):
    distribution = greedy_with(exploration) if policy == "epsilon_greedy" or exploration == 0 else softmax(exploration)
    exact = sum(distribution[a] * np.float32(VALUES[a]) for a in LEGAL)
    assert expected_of(policy)(new_pair(policy, VALUES), settings_with(exploration)) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "exact"),
    [
        ([1, 0, 1, 1, 1, 0, 0], 0.65),
        ([1, 0, 0, 0, 1, 0, 1], (0.7 - 1.2) / 2),
        ([2, 0, 50, 1, 30, 0, 40], 0.3),
    ],
)
def test_expected_of_ucb_is_the_value_of_its_next_choice(counts, exact):
    assert expected_of("ucb")(new_pair("ucb", VALUES, counts), settings_with(0.4)) == pytest.approx(exact, abs=1e-6)
