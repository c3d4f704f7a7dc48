"""Agents that need no training: legal and repeatable actions, and minimum strength."""

import numpy as np
import pytest

from ludus import agents, games
from ludus.agents.players.perfect import tictactoe as perfect
from ludus.dsl import CUT, PLAYING
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.types import LudusError

PAIRS = [(name, kind) for name in games.names() for kind in agents.kinds_for(name)]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_agents_act_legally_and_repeatably(name, kind):
    rows = 4 if (name, kind) == ("connect4", "perfect") else 32
    loaded = agents.load(kind, name)
    streams = []
    for _ in range(2):
        pool = Pool(name, rows, 5)
        agent = agents.seated(loaded, pool)
        params, memory = agent.init(pool.spec, 0), agent.memory(rows)
        for turn in range(30):
            decision, memory = agent.act(params, memory, pool.step, turn)
            pool.advance(decision.action)
            assert decision.log_prob.shape == pool.step.seat.shape
            assert decision.value.shape == pool.step.reward.shape
        streams.append(pool.save())
    assert all(np.array_equal(one, two) for one, two in zip(streams[0][2:], streams[1][2:], strict=True))


SEARCHES = [("tictactoe", "mcts(5)"), ("goofspiel", "mcts(5)"), ("connect4", "lookahead(4)")]


@pytest.mark.parametrize(("name", "kind"), PAIRS + SEARCHES)
def test_rows_with_their_own_keys_are_independent(name, kind):
    keys = np.array([7, 2**63 + 1, 7], np.uint64)
    loaded, together = agents.load(kind, name), Pool(name, 3, [4, 5, 4])
    views = together.spec.views
    chosen = first_action(loaded, together, np.repeat(keys, views)).reshape(3, views, -1)
    for row, seed in enumerate([4, 5, 4]):
        alone = first_action(loaded, Pool(name, 1, [seed]), np.repeat(keys[row], views))
        assert np.array_equal(alone.reshape(views, -1), chosen[row])


def first_action(loaded, pool, keys):
    agent = agents.seated(loaded, pool)
    return np.asarray(agent.act(agent.init(pool.spec, 0), agent.memory(len(keys)), pool.step, keys)[0].action)


def results(name, kinds, rows, seed):
    """The return of seat 0 in `rows` games between two kinds of agents."""
    pool = Pool(name, rows, seed)
    players = [agents.load(kind, name) for kind in kinds]
    params = [player.init(pool.spec, 0) for player in players]
    total = np.zeros(rows)
    for turn in range(pool.spec.horizon):
        choices = [player.act(p, (), pool.step, turn)[0].action for player, p in zip(players, params, strict=True)]
        running = pool.status == PLAYING
        action = np.where(pool.step.seat == 0, *choices)
        total += pool.advance(action).reward[:, 0] * running
        if not (pool.status == PLAYING).any():
            break
    return total


def test_perfect_tictactoe_never_loses_and_often_beats_random():
    first, second = (
        results("tictactoe", ("perfect", "random"), 500, 1),
        results("tictactoe", ("random", "perfect"), 500, 2),
    )
    assert first.min() >= 0 and second.max() <= 0
    assert first.mean() > 0.9 and second.mean() < -0.7
    assert not results("tictactoe", ("perfect", "perfect"), 100, 3).any()


def test_perfect_tictactoe_values():
    assert perfect.value(0, 0) == 0
    assert perfect.value(0b11, 0b11000) == 1  # two in a row and to move
    assert perfect.best_cells(0b11, 0b11000) == tuple(cell == 2 for cell in range(9))
    assert perfect.value.cache_info().currsize <= 5478


def test_scripted_cartpole_balances_to_the_horizon():
    pool = Pool("cartpole", 64, 3)
    agent = agents.load("scripted", "cartpole")
    for turn in range(500):
        pool.advance(agent.act((), (), pool.step, turn)[0].action)
    assert (pool.status == CUT).all()


def test_scripted_driver_laps_unseen_tracks():
    pool = Pool("car", 64, 3)
    agent = agents.load("scripted", "car")
    finished = np.zeros(64, bool)
    for turn in range(500):
        pool.advance(agent.act((), (), pool.step, turn)[0].action)
        finished |= pool.states["laps"] >= 1
    assert finished.mean() > 0.9


@pytest.mark.parametrize("name", ["recall", "recall(cues=8, delay=5)"])
def test_scripted_recall_remembers_the_cue(name):
    agent = agents.load("scripted", name)
    result = scores.score(name, agent, agent.init(None, 0), games=60, rows=16)
    assert (result.returns == 1).all()


def test_scripted_recall_guesses_an_unseen_cue():
    pool = Pool("recall(cues=8, delay=1)", 400, 3)
    agent = agents.load("scripted", "recall")
    pool.advance([0] * 400)
    pool.advance([0] * 400)
    for memory in (agent.memory(400), ()):
        decision, _ = agent.act((), memory, pool.step, 1)
        assert set(decision.action.tolist()) == set(range(1, 9))
    assert 0.05 < pool.advance(decision.action).reward.mean() < 0.25


@pytest.mark.parametrize(("locks", "moves"), [(3, 52), (2, 36), (1, 20)])
def test_scripted_lair_takes_the_shortest_path(locks, moves):
    name = f"lair(locks={locks})"
    agent = agents.load("scripted", name)
    result = scores.score(name, agent, agent.init(None, 0), games=3, rows=3)
    assert (result.returns == 1).all() and (result.lengths == moves).all()


def test_scripted_lair_finds_the_treasure_from_any_position():
    pool = Pool("lair", 32, 5)
    pool.play_randomly(40)
    assert len(np.unique(pool.states[["row", "column"]])) > 5
    agent, found = agents.load("scripted", "lair"), np.zeros(32, bool)
    for turn in range(120):
        found |= pool.advance(agent.act((), (), pool.step, turn)[0].action).reward[:, 0] == 1
    assert found.all()


def test_unknown_names_raise():
    with pytest.raises(LudusError, match='unknown agent "genius"; known are best, perfect'):
        agents.load("genius", "tictactoe")
    with pytest.raises(LudusError, match="car has no perfect player; it has scripted, random"):
        agents.load("perfect", "car(track=7)")


@pytest.mark.parametrize(("kind", "games_", "cleared", "ante"), [("greedy", 200, 0.65, 2.4), ("expert", 60, 0.85, 4.0)])
def test_minimum_strength_of_balatro_players(kind, games_, cleared, ante):
    score = scores.score("balatro", agents.load(kind, "balatro"), (), games_, 1)
    assert score.measures["ante 1 cleared"].estimate > cleared
    assert score.measures["ante"].estimate > ante


def test_thinker_without_a_pool_raises():
    pool = Pool("balatro", 1)
    with pytest.raises(LudusError, match="needs the states of the games"):
        agents.load("greedy", "balatro").act((), (), pool.step, 0)
