"""Trained agents that come with ludus: size, loading as `trained` and `dreamer`, and minimum strength."""

import numpy as np
import pytest

from ludus import agents, games
from ludus.agents import checkpoint
from ludus.bench.world_model import TRACKS, count_lapped, driven
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.types import LudusError

BARS = {
    "tictactoe": 0.7, "connect4": 0.7, "goofspiel": 0.4, "car": 50.0, "cartpole": 450.0, "recall": 0.9, "lair": 0.9,
    "balatro": 1.5 / 108, "duel": 0.3,
}  # fmt: skip
"""minimum score of each, against random players or alone"""
LARGEST = 1_500_000


SHIPPED = sorted(path.name for path in agents.PRETRAINED.iterdir() if path.is_dir())
"""the folders of the agents, named by game, or by game and kind of agent"""


def test_every_agent_has_a_minimum_score():
    assert set(SHIPPED) == {*BARS, "car.dreamer"}


@pytest.mark.parametrize("folder", SHIPPED)
def test_agent_is_small_and_fits_the_game(folder):
    name, _, kind = folder.partition(".")
    folder = agents.shipped(name, kind or "trained")
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "params.safetensors"]
    assert sum(path.stat().st_size for path in folder.iterdir()) < LARGEST
    stored = checkpoint.load(folder)
    checkpoint.check_game(stored, games.load(name))
    assert stored.manifest.score is not None


@pytest.mark.parametrize("name", BARS)
def test_agent_reaches_the_minimum_score(name):
    agent = agents.load("trained", name)
    spec = games.load(name).spec
    if spec.seats == 1:
        got = scores.score(name, agent, agent.init(spec, 0), 24, seed=3).interval.estimate
    else:
        opponent = agents.load("random", name)
        players = [(agent, agent.init(spec, 0)), (opponent, opponent.init(spec, 0))]
        got = scores.match(name, players, 100, seed=3).interval.estimate
    assert got > BARS[name]


@pytest.fixture(scope="module")
def dreamer():
    return agents.load("dreamer", "car")


def test_dreamer_laps_unseen_tracks(dreamer):
    assert count_lapped(driven(dreamer, dreamer.params)) == len(TRACKS)


def test_dreamer_predicts_observations(dreamer):
    """Its prediction over five steps is better than the current observation."""
    pool = Pool("car", 16, 5, threads=1)
    for moment in range(60):
        pool.advance(dreamer.act(dreamer.params, (), pool.step, moment)[0].action)
    before, dream = pool.step.observation["sensors"].copy(), dreamer.agent.imagine(dreamer.params, pool.step, 5)
    for moment in range(5):
        pool.advance(dreamer.act(dreamer.params, (), pool.step, moment)[0].action)
    after = pool.step.observation["sensors"]
    assert dream.observations.shape == (6, 16, 6) and dream.actions.shape == (5, 16, 2)
    assert np.square(dream.observations[-1] - after).mean() < np.square(before - after).mean()


def test_agent_plays_the_game_with_other_parameters():
    agent = agents.load("trained", "car(track=7, obstacles=2)")
    pool = Pool("car(track=7, obstacles=2)", 2, 1, threads=1)
    decision, _ = agent.act(agent.init(pool.spec, 0), agent.memory(2), pool.step, 0)
    pool.advance(decision.action)


def test_best_is_never_a_trained_agent():
    assert all("trained" not in agents.kinds_for(name) for name in games.bundled())


def test_games_without_a_trained_agent():
    assert agents.shipped("gymnasium:CartPole-v1") is None and agents.shipped("pig") is None
    with pytest.raises(LudusError, match="no trained agent comes with ludus for pig; make one: ludus train pig"):
        agents.load("trained", "pig")
    with pytest.raises(LudusError, match=r"for pig; make one: ludus train pig --algorithm world_model$"):
        agents.load("dreamer", "pig")
