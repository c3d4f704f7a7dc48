"""Agents that draw random numbers in JAX: with one key for each row, a row depends on its own key only."""

from dataclasses import replace

import numpy as np
import pytest

from ludus import agents
from ludus.pool import Pool


def actions(agent, params, pool, keys):
    decision, _ = agent.act(params, agent.memory(len(pool.step.seat)), pool.step, keys)
    assert np.isfinite(decision.log_prob).all()
    return np.asarray(decision.action)


@pytest.mark.parametrize("game", ["goofspiel", "car"])
def test_a_network_samples_each_row_from_its_own_key(game):
    trained = agents.load("trained", game)
    sampling, pool = replace(trained.agent, greedy=False), Pool(game, 16, [0] * 16)
    keys = np.arange(len(pool.step.seat), dtype=np.uint64)
    found = actions(sampling, trained.params, pool, keys)
    assert len(np.unique(found, axis=0)) > 1, "equal positions, different keys"
    np.testing.assert_array_equal(actions(sampling, trained.params, pool, keys[::-1].copy()), found[::-1])


def test_a_planner_plans_each_row_with_its_own_key():
    dreamer = agents.load("dreamer", "car")
    planner = replace(dreamer.agent.planner, num_samples=8, num_elites=4, iterations=1)
    planning, pool = replace(dreamer.agent, planner=planner, plan_at_evaluation=True), Pool("car", 4, [0] * 4)
    keys = np.arange(4, dtype=np.uint64)
    found = actions(planning, dreamer.params, pool, keys)
    assert len(np.unique(found, axis=0)) == 4
    np.testing.assert_allclose(actions(planning, dreamer.params, pool, keys[::-1].copy()), found[::-1], atol=1e-5)
