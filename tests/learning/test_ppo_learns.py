"""PPO learns: small runs with fixed seeds, and bars that they clear by far."""

import dataclasses

import pytest

from ludus import config, evaluate
from ludus.bench.training import learn, match


def run_of(game, settings=None, **changes):
    run = config.resolve(game, "ppo")
    return dataclasses.replace(run, settings=dataclasses.replace(run.settings, **(settings or {})), **changes)


@pytest.mark.parametrize("runtime", ["local", "threads"])
def test_a_pole_stands_ten_times_as_long_as_by_chance(runtime):
    """Random play holds it for about 22 steps."""
    learned = learn(run_of("cartpole", {"length": 64, "pieces": 1}, rows=64, steps=75_000, runtime=runtime))
    assert evaluate.score("cartpole", learned.player, learned.params, 50, 1).interval.estimate > 220


def test_self_play_beats_random_play():
    """Random play against itself is at 0."""
    learned = learn(run_of("tictactoe", rows=128, steps=150_000))
    assert match("tictactoe", learned, "random", 200).interval.estimate > 0.7


def test_a_car_gets_around_by_continuous_actions():
    """A lap is worth about 20; random driving ends below 0."""
    learned = learn(run_of("car", rows=64, steps=150_000))
    assert evaluate.score("car", learned.player, learned.params, 20, 1).interval.estimate > 20


def test_a_memory_remembers_and_none_does_not():
    """Two cues, ten steps: chance is one half."""
    for memory, low, high in (("gru", 0.95, 1.0), ("none", 0.3, 0.7)):
        run = run_of("recall(cues=2, delay=10)", rows=64, steps=75_000)
        model = dataclasses.replace(run.settings.model, rnn_type=memory)
        run = dataclasses.replace(run, settings=dataclasses.replace(run.settings, model=model, length=32))
        learned = learn(run)
        right = evaluate.score(run.game, learned.player, learned.params, 200, 1).interval.estimate
        assert low <= right <= high
