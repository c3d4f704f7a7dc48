"""PPO learns: small runs with fixed seeds, and thresholds that they exceed by far."""

import dataclasses
import pathlib

import pytest

from ludus.bench.training import learn, match
from ludus.evaluation import scores
from ludus.training import config


def run_of(game, settings=None, **changes):
    run = config.resolve(game, "ppo")
    return dataclasses.replace(run, settings=dataclasses.replace(run.settings, **(settings or {})), **changes)


@pytest.mark.parametrize("runtime", ["local", "threads"])
def test_cartpole_lasts_ten_times_as_long_as_with_random_play(runtime):
    """Random play lasts about 22 steps."""
    learned = learn(
        run_of(
            "cartpole", {"rollout_length": 64, "gradient_accumulation": 1}, num_envs=64, steps=75_000, runtime=runtime
        )
    )
    assert scores.score("cartpole", learned.player, learned.params, 50, 1).interval.estimate > 220


def test_self_play_beats_random_play():
    """The score of random play against itself is 0."""
    learned = learn(run_of("tictactoe", num_envs=128, steps=150_000))
    assert match("tictactoe", learned, "random", 200).interval.estimate > 0.7


def test_a_car_laps_with_continuous_actions():
    """A lap is worth about 20; random driving ends below 0."""
    learned = learn(run_of("car", num_envs=64, steps=150_000))
    assert scores.score("car", learned.player, learned.params, 20, 1).interval.estimate > 20


def test_recall_needs_memory():
    """Two cues and ten steps: random answers are right half of the time."""
    for memory, low, high in (("gru", 0.95, 1.0), ("none", 0.3, 0.7)):
        run = run_of("recall(cues=2, delay=10)", num_envs=64, steps=75_000)
        model = dataclasses.replace(run.settings.model, rnn_type=memory)
        run = dataclasses.replace(run, settings=dataclasses.replace(run.settings, model=model, rollout_length=32))
        learned = learn(run)
        right = scores.score(run.game, learned.player, learned.params, 200, 1).interval.estimate
        assert low <= right <= high


def test_the_defaults_learn_a_game_without_a_preset(monkeypatch):
    """Nim with 21 actions: after 150,000 steps, 90 % of the games against the random player are won."""
    monkeypatch.setenv("LUDUS_GAMES", str(pathlib.Path(__file__).parents[2] / "benchmarks" / "games"))
    learned = learn(dataclasses.replace(config.resolve("nim", "ppo", steps=150_000), steps=150_000))
    assert match("nim", learned, "random", 400).rate.estimate > 0.9


def test_defaults_adapt_to_short_games_and_presets_win(monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(pathlib.Path(__file__).parents[2] / "benchmarks" / "games"))
    nim, bare = config.resolve("nim", "ppo", steps=50_000), config.resolve("cartpole", "ppo", config.NO_PRESET)
    assert (nim.num_envs, nim.settings.rollout_length, nim.settings.gamma) == (64, 16, 1.0)
    assert nim.settings.ent_coef.endswith("50000)") and nim.settings.opponents == ("self:0.5", "random:0.5")
    assert (bare.num_envs, bare.settings.rollout_length) == (512, 128)
    assert config.resolve("tictactoe", "ppo").num_envs != config.resolve("tictactoe", "ppo", config.NO_PRESET).num_envs
