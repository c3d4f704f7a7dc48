"""Lookahead: improves the first choice, uses no hidden information, and does not change the pool."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from small_games import GUESS, check_dice_unseen, check_hidden_unseen, garden, small_game

from ludus import agents
from ludus.agents.search import lookahead
from ludus.agents.search.lookahead import Lookahead, choose_better
from ludus.dsl import PLAYING
from ludus.evaluation import scores
from ludus.pool import Pool
from ludus.types import Decision, LudusError

LATER = small_game('''
"""Later: waiting pays one point per step, up to three; the observation is the number of steps waited."""
SPEC = Spec(seats=1, actions=Discrete(2), horizon=3)
STATE = record(**HEAD, waited=i8)
OBSERVATION = record(waited=within(0, 3, i8))

@rule
def step(state, action, reward):
    state.waited += action
    reward[0] = 1.0 if action == 1 else 0.0
    if action == 0 or state.waited == 3:
        state.status = OVER

@rule
def observe(state, seat, out):
    out.waited = state.waited
''')


@dataclass(frozen=True)
class Simple:
    """Takes the first legal action, and gives every step the same value."""

    worth: float = 0.0

    def init(self, spec, key):
        return ()

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        rows = len(step.seat)
        return Decision(step.mask.argmax(axis=1), np.zeros(rows), np.full(step.reward.shape, self.worth)), memory


@pytest.fixture
def plant(tmp_path, monkeypatch, request):
    return garden(tmp_path, monkeypatch, request)


def content(pool):
    return b"".join(part.tobytes() for part in pool.save()[2:])


def earned(name):
    """The rewards in a game if pool and player have the same seed."""
    pool = Pool(name, 40, 5)
    agent = Lookahead(Simple(), deals=300, habit=0.0).at(pool)
    return pool.advance(agent.act((), (), pool.step, 5)[0].action).reward[:, 0]


def test_does_not_use_future_random_numbers(plant, monkeypatch):
    check_dice_unseen(plant, monkeypatch, earned)


def test_does_not_use_hidden_information(plant, monkeypatch):
    check_hidden_unseen(plant, monkeypatch, earned)


def test_all_options_get_the_same_deals(plant):
    """With different deals for each option, the hidden number would be guessed twice in one deal, or never."""
    pool = Pool(plant("guess_deals", GUESS), 3, 5)
    worth = Lookahead(Simple(), deals=50).at(pool).option_returns((), np.arange(3), 0, 7 + np.arange(3))
    assert worth.shape == (3, 50, 7) and (worth[..., 6] == 0.5).all()
    assert (worth[..., :6].sum(axis=2) == 1.0).all()


@pytest.mark.parametrize(("depth", "worth"), [(0, 1 + 0.5 * 2), (1, 1 + 0.5 + 0.25 * 2), (2, 1 + 0.5 + 0.25)])
def test_returns_are_discounted_rewards_and_the_value_of_the_critic(plant, depth, worth):
    """The quick agent waits too; the critic gives 2 to every running game, and gamma is 0.5."""
    pool = Pool(plant("later", LATER), 1, 5)
    patient = replace(Lookahead(Simple(2.0), Waiting(), deals=2, gamma=0.5), depth=depth)
    found = patient.at(pool).option_returns((), np.array([0]), 0, np.array([7]))[0]
    assert (found[:, 0] == 0.0).all()
    assert found[:, 1].tolist() == [worth] * 2


class Waiting(Simple):
    def act(self, params, memory, step, key):
        decision, memory = super().act(params, memory, step, key)
        return decision._replace(action=np.ones(len(step.seat), np.int64)), memory


def test_better_option_must_exceed_the_first_by_habit():
    worth = np.full((2, 4, 3), np.nan)
    worth[:, :, 0] = [0.0, 1.0, 0.0, 1.0]
    worth[:, :, 2] = [[1.0, 0.0, 1.0, 0.0], [0.4, 1.4, 0.2, 1.2]]  # no better by chance alone, and better in every deal
    assert choose_better(worth, np.array([0, 0]), 0.5).tolist() == [0, 2]
    assert choose_better(worth, np.array([2, 2]), 0.5).tolist() == [2, 2]
    assert choose_better(np.full((1, 4, 3), np.nan), np.array([1]), 0.5).tolist() == [1]


@pytest.mark.parametrize("quick", [None, "random"])
def test_finds_the_winning_column_without_changing_the_pool(quick):
    pools = [Pool("connect4", 5, 1, threads=threads) for threads in (1, 3)]
    player = Lookahead(Simple(), quick and agents.load(quick, "connect4"), deals=4, depth=1)
    for pool in pools:
        for column in (1, 0, 1, 0, 1, 0):
            pool.advance(np.full(5, column))
    before = content(pools[0])
    decisions = [player.at(pool).act((), (), pool.step, 3)[0] for pool in pools]
    assert content(pools[0]) == before and (decisions[0].action == 1).all()
    assert all(map(np.array_equal, *decisions))


def test_rows_are_independent():
    pool = Pool("duel", 6, 4)
    player = Lookahead(Simple(), agents.load("greedy", "duel"), deals=3, depth=4, habit=0.0).at(pool)
    for turn in range(6):
        whole, _ = player.act((), (), pool.step, turn)
        own = np.arange(6) % 3 == turn % 3
        some, _ = player.act((), (), pool.step._replace(discount=own.astype(np.float32)), turn)
        np.testing.assert_array_equal(some.action[own], whole.action[own])
        for row in np.flatnonzero(own & (pool.step.mask.sum(axis=1) > 1)):
            assert player.look((), int(row), turn).action == whole.action[row]
        assert (pool.status == PLAYING).all()
        pool.advance(whole.action)


def test_trained_duelist_with_lookahead_beats_first():
    pytest.importorskip("jax", reason="pip install 'ludus[deep]'")
    pool = Pool("duel", 12, 3)
    player, other = agents.load("lookahead(4)", "duel"), agents.load("first", "duel")
    assert player.deals == 4 and player.gamma == 1.0
    found = scores.match(pool, [(player, player.init(pool.spec, 0)), (other, ())], 12, 3)
    assert found.wins >= 7


def test_load_from_a_run(tmp_path):
    folder = agents.shipped("connect4")
    assert agents.load(f"lookahead({folder})", "connect4").critic.path == folder
    with pytest.raises(LudusError, match='there is no run "runs/nothing"'):
        agents.load("lookahead(runs/nothing)", "connect4")


def test_games_with_lookahead():
    assert {name for name in ("duel", "connect4", "car", "goofspiel", "recall") if lookahead.fits(name)} >= {"duel"}
    assert not any(map(lookahead.fits, ("car", "goofspiel", "recall", "lair", "cartpole")))


def test_unsupported_games_and_settings_raise():
    pool = Pool("tictactoe", 2, 1)
    player = Lookahead(Simple())
    with pytest.raises(LudusError, match=r"use agent\.at\(pool\)"):
        player.act((), (), pool.step, 0)
    with pytest.raises(LudusError, match="discrete actions and alternating turns, which car does not have"):
        player.at(Pool("car", 1))
    with pytest.raises(LudusError, match="discrete actions and alternating turns, which goofspiel does not have"):
        player.at(Pool("goofspiel", 1))
    for deals in (1, 513):
        with pytest.raises(LudusError, match="2 to 512 deals"):
            Lookahead(Simple(), deals=deals)
    with pytest.raises(LudusError, match="2 to 512 deals"):
        agents.load("lookahead(0)", "connect4")
    recall = Lookahead(agents.load("trained", "recall"))
    with pytest.raises(LudusError, match="networks without a memory"):
        recall.at(Pool("recall", 1))
    old = pool.step
    pool.advance([0, 1])
    with pytest.raises(LudusError, match="not the newest of the pool"):
        player.at(pool).act((), (), old, 0)
