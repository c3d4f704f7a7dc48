"""The compiled form on a table with more rows than are prefetched."""

import numpy as np

from ludus.algorithms.tabular.forms import QLearning, bigtable_rate


def test_prefetched_rows_are_read_when_they_are_used():
    """Rows change between their prefetch and their use: each update reads what the previous one wrote."""
    count = 5000
    chain = np.arange(count)
    q = QLearning("compiled", count + 1, 9, learning_rate=1.0, gamma=1.0)
    rewards = np.ones(count)
    q.batch_update(chain[::-1] + 1, chain % 9, rewards, np.minimum(chain[::-1] + 2, count), chain == 0)
    assert q.table.max(axis=1).tolist() == [0.0, *range(count, 0, -1)]


def test_bigtable_rate_is_positive():
    assert bigtable_rate(states=1000, actions=3, updates=2000) > 0
