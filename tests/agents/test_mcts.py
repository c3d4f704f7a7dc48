"""MCTS: strong play, no use of hidden information, and no change of the pool."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from small_games import check_dice_unseen, check_hidden_unseen, garden, small_game

from ludus import agents
from ludus.agents.search import mcts
from ludus.agents.search.mcts import MCTS
from ludus.dsl import PLAYING
from ludus.pool import Pool
from ludus.types import LudusError

THREE = small_game('''
"""Three: the first seat ends the game for half a point, or lets the third seat choose the rewards."""
SPEC = Spec(seats=3, actions=Discrete(2), horizon=3)
STATE = record(**HEAD, moves=i8)
OBSERVATION = record(moves=within(0, 3, i8))

@rule
def step(state, action, reward):
    if state.seat == 0 and action == 0:
        reward[0] = 0.5
        state.status = OVER
    elif state.seat == 2:
        reward[0] = 1.0 if action == 0 else 0.0
        reward[1] = 1.0 if action == 1 else 0.0
        reward[2] = THIRD[action]
        state.status = OVER
    state.moves += 1
    state.seat = (state.seat + 1) % 3
''')

GATES = small_game('''
"""Gates: after every first move one of three gates opens at random; passing it pays, and games are long."""
SPEC = Spec(seats=1, actions=Discrete(3), horizon=9)
STATE = record(**HEAD, moves=i8, gate=i8)
OBSERVATION = record(gate=within(0, 2, i8))

@rule
def init(state):
    state.gate = random.below(state, 3)

@rule
def step(state, action, reward):
    reward[0] = 1.0 if action == state.gate else -100.0
    state.moves += 1
    state.gate = random.below(state, 3)
    if state.moves == 9:
        state.status = CUT

@rule
def legal(state, seat, mask):
    for action in range(3):
        mask[action] = action == state.gate
''')


@pytest.fixture
def plant(tmp_path, monkeypatch, request):
    return garden(tmp_path, monkeypatch, request)


def content(pool: Pool) -> bytes:
    return b"".join(part.tobytes() for part in pool.save()[2:])


def match(pool: Pool, players: list, seed: int = 0) -> np.ndarray:
    """The return of seat 0 in every row after one game between these agents."""
    total, running = np.zeros(pool.rows), np.ones(pool.rows, bool)
    for turn in range(pool.spec.horizon):
        params = [player.init(pool.spec, 0) for player in players]
        choices = [
            player.act(p, (), pool.step, [seed, turn, seat])[0].action
            for seat, (player, p) in enumerate(zip(players, params, strict=True))
        ]
        step = pool.advance(np.choose(pool.step.seat, choices))
        total += step.reward[:: pool.spec.views, 0] * running
        running &= pool.status == PLAYING
        if not running.any():
            break
    return total


def test_never_loses_at_tictactoe_to_the_perfect_player():
    perfect = agents.load("perfect", "tictactoe")
    for seed, order in enumerate((1, -1)):
        pool = Pool("tictactoe", 25, seed)
        results = match(pool, [MCTS(simulations=2000).at(pool), perfect][::order])
        assert (results == 0).all()


def position(moves: list[int]) -> Pool:
    pool = Pool("connect4", 12, 1)
    for column in moves:
        pool.advance(np.full(12, column))
    assert (pool.status == PLAYING).all()
    return pool


@pytest.mark.parametrize(
    ("moves", "right"),
    [([0, 1, 0, 1, 0, 1], {0}), ([3, 3, 4, 4, 2, 2], {1, 5}), ([6, 0, 5, 0, 4, 1], {3})],
)
def test_finds_the_winning_column(moves, right):
    pool = position(moves)
    decision, _ = MCTS(simulations=400).at(pool).act((), (), pool.step, 3)
    assert set(decision.action.tolist()) <= right
    assert (decision.value[:, 0] > 0.5).all()


@pytest.mark.parametrize(("moves", "right"), [([0, 1, 0, 1, 0], 0), ([6, 0, 5, 0, 4], 3), ([0, 6, 1, 6, 0, 6], 6)])
def test_blocks_the_losing_column(moves, right):
    pool = position(moves)
    decision, _ = MCTS(simulations=400).at(pool).act((), (), pool.step, 3)
    assert (decision.action == right).all()


@pytest.mark.parametrize(("name", "at_least"), [("tictactoe", 0.7), ("connect4", 0.9), ("goofspiel", 0.4)])
@pytest.mark.parametrize("order", [1, -1])
def test_beats_random(name, at_least, order):
    """Goofspiel depends more on luck, but two random players would score within 0.2 of 0."""
    pool = Pool(name, 80, 7)
    results = order * match(pool, [MCTS(simulations=150).at(pool), agents.load("random", name)][::order])
    assert results.mean() > at_least


def test_beats_random_in_a_dice_game(monkeypatch):
    monkeypatch.setenv("LUDUS_GAMES", str(pathlib.Path(__file__).parents[2] / "docs" / "tutorials"))
    pool = Pool("pig", 80, 7)
    results = match(pool, [MCTS(simulations=200).at(pool), agents.load("random", "pig")])
    assert results.mean() > 0.3  # two random players would score within 0.25 of 0


def test_balances_cartpole():
    pool = Pool("cartpole", 8, 7)
    agent = MCTS(simulations=60, depth=60).at(pool)
    for turn in range(120):
        pool.advance(agent.act((), (), pool.step, turn)[0].action)
        assert (pool.status == PLAYING).all()  # random play falls after 22 steps


@pytest.mark.parametrize("name", ["tictactoe", "goofspiel", "cartpole"])
def test_search_does_not_change_the_pool_and_is_repeatable(name):
    pools = [Pool(name, 9, 4, threads=threads) for threads in (1, 1, 3)]
    for turn in range(12):  # beyond the end of some games, to include rows that have ended
        before = content(pools[0])
        decisions = [MCTS(simulations=50).at(pool).act((), (), pool.step, turn)[0] for pool in pools]
        assert content(pools[0]) == before
        for other in decisions[1:]:
            assert all(map(np.array_equal, decisions[0], other))
        for pool in pools:
            pool.advance(decisions[0].action)


def test_other_seeds_give_other_visits():
    pool = Pool("connect4", 1, 4)
    agent = MCTS(simulations=50).at(pool)
    assert len({agent.act((), (), pool.step, key)[0].value.tobytes() for key in range(5)}) > 1


def test_decision_contains_visit_shares_and_values():
    pool = Pool("tictactoe", 3, 1)
    for cells in ([0, 0, 0], [3, 3, 3], [1, 1, 8], [4, 4, 4]):
        pool.advance(cells)
    pool.advance([2, 5, 6])  # row 0 is won
    found = [mcts.search(pool, row, MCTS(simulations=500), 5) for row in range(3)]
    assert found[0].visits.sum() == 0 and not found[0].value.any()
    assert [one.visits.sum() for one in found[1:]] == [500, 500]
    decision, memory = MCTS(simulations=500).at(pool).act((), "kept", pool.step, 1)
    assert memory == "kept"
    assert decision.log_prob[0] == 0 and (decision.log_prob[1:] < 0).all()
    assert decision.value.shape == (3, 2) and np.allclose(decision.value.sum(axis=1), 0)
    assert pool.step.mask[np.arange(3), decision.action].all()


@pytest.mark.parametrize("name", ["connect4", "goofspiel"])
def test_rows_without_a_decision_are_not_searched(name, monkeypatch):
    pool = Pool(name, 6, 4)
    agent, rows, real = MCTS(simulations=60).at(pool), [], mcts.search
    whole, _ = agent.act((), (), pool.step, 9)
    monkeypatch.setattr(mcts, "search", lambda pool, row, *rest: rows.append(row) or real(pool, row, *rest))
    own = np.arange(len(pool.step.seat)) % 3 == 1
    decision, _ = agent.act((), (), pool.step._replace(discount=own.astype(np.float32)), 9)
    assert sorted(rows) == np.flatnonzero(own).tolist()
    for part, other in zip(decision, whole, strict=True):
        np.testing.assert_array_equal(part[own], other[own])  # rows are independent
    assert pool.step.mask[np.arange(len(own)), decision.action].all()
    assert not decision.value[~own].any() and not decision.log_prob[~own].any()
    decision, _ = agent.act((), (), pool.step._replace(discount=np.zeros(len(own), np.float32)), 9)
    assert len(rows) == own.sum() and pool.step.mask[np.arange(len(own)), decision.action].all()


def earned(name: str) -> np.ndarray:
    """The rewards of a search in a game if pool and search have the same seed."""
    pool = Pool(name, 40, 5)
    return pool.advance(MCTS(simulations=300).at(pool).act((), (), pool.step, 5)[0].action).reward[:, 0]


def test_does_not_use_future_random_numbers(plant, monkeypatch):
    check_dice_unseen(plant, monkeypatch, earned)


def test_does_not_use_hidden_information(plant, monkeypatch):
    check_hidden_unseen(plant, monkeypatch, earned)


@pytest.mark.parametrize(("third", "right"), [((0.2, 0.3), 0), ((0.3, 0.2), 1)])
def test_every_seat_maximises_its_own_return(plant, third, right):
    name = plant(f"three_{right}", THREE.replace("THIRD[action]", f"{third[0]} if action == 0 else {third[1]}"))
    pool = Pool(name, 10, 1)
    decision, _ = MCTS(simulations=300).at(pool).act((), (), pool.step, 1)
    assert (decision.action == right).all()


def test_legal_actions_are_computed_at_every_visit(plant):
    """A search that plays an action that was legal only in another visit would lose a hundred."""
    pool = Pool(plant("gates", GATES), 10, 1)
    decision, _ = MCTS(simulations=500).at(pool).act((), (), pool.step, 1)
    assert (decision.action == pool.step.observation["gate"]).all()
    assert (decision.value == 9).all()


def test_rewards_beyond_the_depth_are_ignored(plant):
    pool = Pool(plant("gates", GATES), 2, 1)
    decision, _ = MCTS(simulations=1, depth=3).at(pool).act((), (), pool.step, 1)
    assert (decision.value == 4).all()  # one move in the tree, three of random play


PLAINLY = """
import json
from ludus.agents.search.mcts import MCTS
from ludus.pool import Pool
for name in ("tictactoe", "goofspiel"):
    pool = Pool(name, 2, 3)
    decision = MCTS(simulations=40).at(pool).act((), (), pool.step, 9)[0]
    print(json.dumps([part.tolist() for part in decision]))
"""


def test_compiled_equals_plain():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", "-c", PLAINLY]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for name, line in zip(("tictactoe", "goofspiel"), done.stdout.splitlines(), strict=True):
        pool = Pool(name, 2, 3)
        decision = MCTS(simulations=40).at(pool).act((), (), pool.step, 9)[0]
        assert [part.tolist() for part in decision] == json.loads(line)


def test_unsupported_games_and_settings_raise():
    pool = Pool("tictactoe", 2, 1)
    with pytest.raises(LudusError, match=r"use MCTS\(\.\.\.\)\.at\(pool\)"):
        MCTS().act((), (), pool.step, 0)
    with pytest.raises(LudusError, match="search needs discrete actions"):
        MCTS().at(Pool("car", 1))
    with pytest.raises(LudusError, match="search needs discrete actions"):
        MCTS().init(Pool("car", 1).spec, 0)
    with pytest.raises(LudusError, match=r"at least one simulation.*simulations=0"):
        MCTS(simulations=0)
    old = pool.step
    pool.advance([0, 1])
    with pytest.raises(LudusError, match="not the newest of the pool"):
        MCTS().at(pool).act((), (), old, 0)


def test_foreign_games_cannot_be_searched():
    pytest.importorskip("gymnasium", reason="pip install 'ludus[gymnasium]'")
    from ludus.bridges import open_pool

    pool = open_pool("gymnasium:Blackjack-v1", 1, 0)
    with pytest.raises(LudusError, match="Blackjack-v1 cannot be copied, so it cannot be searched"):
        MCTS().at(pool)
    pool.close()
