"""The compiled form on a table that is larger than what is fetched ahead."""

import numpy as np

from ludus.algorithms.tabular.forms import QLearning, bigtable_rate


def test_rows_fetched_ahead_are_seen_as_they_are_when_needed():
    """Rows that change between being fetched and being needed: each update reads what the one before it wrote."""
    count = 5000
    chain = np.arange(count)
    q = QLearning("compiled", count + 1, 9, learning_rate=1.0, discount=1.0)
    rewards = np.ones(count)
    q.batch_update(chain[::-1] + 1, chain % 9, rewards, np.minimum(chain[::-1] + 2, count), chain == 0)
    assert q.table.max(axis=1).tolist() == [0.0, *range(count, 0, -1)]


def test_the_measure_counts_updates():
    assert bigtable_rate(states=1000, actions=3, updates=2000) > 0
