"""A world model learns the dynamics of the car from scripted drives and predicts drives on other tracks."""

import dataclasses

import pytest

from ludus.algorithms.world_model.update import prediction_errors
from ludus.bench.world_model import held_out
from ludus.bridges import open_pool
from ludus.training import config


@pytest.fixture(scope="module")
def learned():
    """The agent, its learner before training, and after one update on 2000 scripted steps."""
    settings = dataclasses.replace(config.resolve("car", "world_model").settings, learning_starts=0, utd_ratio=0.3)
    agent = settings.new_agent(open_pool("car", 1, 0))
    before = settings.new_learner(agent, 1)
    after, metrics = settings.update(agent, before, [held_out(seed=5)])
    return agent, before, after, metrics


def test_prediction_errors_fall_by_a_factor_of_five(learned):
    """One and ten steps ahead, on tracks that were not trained on."""
    agent, before, after, _ = learned
    first, last = (prediction_errors(agent, learner.params, held_out()) for learner in (before, after))
    assert last[0] < first[0] / 5 and last[1] < first[1] / 5


def test_an_update_returns_metrics(learned):
    _, _, after, metrics = learned
    assert metrics["finite"] == 1.0 and metrics["replay_steps"] == 2000
    assert metrics["one_step_error"] > 0.3, "the error must be measured before learning"
    assert after.replay is not None
