"""A world model learns how the car drives, from drives of somebody else; on other tracks it knows what comes."""

import dataclasses

import pytest

from ludus import config
from ludus.algorithms.world_model import craft
from ludus.algorithms.world_model.learning import prediction_errors
from ludus.bench.world_model import held_out
from ludus.bridges import open_pool


@pytest.fixture(scope="module")
def learned():
    """The agent, its learner before anything was seen, and after two thousand steps by rule."""
    settings = dataclasses.replace(config.resolve("car", "world_model").settings, warmup=0, ratio=0.3)
    agent = craft.agent_for(settings, open_pool("car", 1, 0))
    before = craft.begin(settings, agent, 1)
    after, metrics = settings.update(agent, before, held_out(seed=5))
    return agent, before, after, metrics


def test_predictions_become_five_times_as_good(learned):
    """On tracks that were never seen, one and ten steps ahead."""
    agent, before, after, _ = learned
    first, last = (prediction_errors(agent, learner.params, held_out()) for learner in (before, after))
    assert last[0] < first[0] / 5 and last[1] < first[1] / 5


def test_an_update_tells_what_it_learned(learned):
    _, _, after, metrics = learned
    assert metrics["finite"] == 1.0 and metrics["kept"] == 2000
    assert metrics["one_step_error"] > 0.3, "the error is that before anything was learned"
    assert after.ring is not None
