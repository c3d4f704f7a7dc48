"""A world model learns: a small run with a fixed seed, and bars that it clears by far."""

import dataclasses

import pytest

from ludus import config, evaluate
from ludus.agents.random import RandomAgent
from ludus.algorithms import craft_of
from ludus.algorithms.world_model.learning import prediction_errors
from ludus.bench.training import learn
from ludus.bench.world_model import held_out
from ludus.bridges import open_pool


@pytest.fixture(scope="module")
def learned():
    """A thousand steps of the car."""
    return learn(dataclasses.replace(config.resolve("car", "world_model"), steps=1_000, seed=2))


def test_predictions_become_five_times_as_good(learned):
    """On drives of somebody else, on tracks that were never seen."""
    agent = dataclasses.replace(learned.player, earnest=False)
    untrained, test = agent.init(agent.spec, 1), held_out()
    before, after = (prediction_errors(agent, params, test) for params in (untrained, learned.params))
    assert after[0] < before[0] / 5 and after[1] < before[1] / 2


def test_a_car_drives_after_a_thousand_steps(learned):
    """A lap is worth about 20; random driving ends below 0."""
    pool = open_pool("car", 1, 0)
    by_chance = evaluate.score("car", RandomAgent(), RandomAgent().init(pool.spec, 0), 20, 1).mean
    assert by_chance < 0
    drives = evaluate.score("car", learned.player, learned.params, 20, 1)
    assert drives.mean > 5


def test_what_was_learned_is_told(learned):
    assert learned.metrics[0]["one_step_error"] > 2 * learned.metrics[-1]["one_step_error"]
    assert craft_of(config.resolve("car", "world_model").settings).player(learned.player) == learned.player
