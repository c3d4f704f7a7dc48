"""Evaluations by agents: probabilities of networks, visits of search, values of tables and perfect players."""

import numpy as np
import pytest

from ludus import agents
from ludus.agents import thoughts
from ludus.agents.tabular import TabularAgent
from ludus.pool import Pool
from ludus.studio.rooms.players import Player


def player(name, pool):
    agent = agents.load(name, pool.name)
    return Player(name, agent, agent.init(pool.spec, 0), pool, 1)


def test_the_perfect_tictactoe_player_gives_the_value_of_every_move():
    pool = Pool("tictactoe", 1, [0], threads=1)
    for action in (0, 3, 1, 4):  # the first player wins at once by 2, and loses nothing elsewhere but by blocking
        pool.advance([action])
    found = thoughts.think(player("perfect", pool), pool, 0)
    assert found.values == [1.0, -1.0] and found.unit == "value" and found.moves[2] == 1.0
    assert set(found.moves) == {2, 5, 6, 7, 8} and found.moves[6] == -1.0
    assert next(iter(found.moves)) == 2  # the best first


def test_the_perfect_connect4_player_gives_its_book_move_and_later_every_column():
    pool = Pool("connect4", 1, [0], threads=1)
    found = thoughts.think(player("perfect", pool), pool, 0)
    assert found.values == [1.0, -1.0] and found.moves == {3: 1.0}
    for action in (3, 3, 3, 3, 3, 2, 4, 4, 2, 2, 4, 4):
        pool.advance([action])
    found = thoughts.think(player("perfect", pool), pool, 0)
    assert set(found.moves.values()) <= {1.0, 0.0, -1.0} and len(found.moves) == 7
    assert found.values[0] == max(found.moves.values()) == -found.values[1]


def test_search_gives_visit_fractions_and_its_action():
    pool = Pool("tictactoe", 1, [0], threads=1)
    for action in (0, 3, 1, 4):
        pool.advance([action])
    found = thoughts.think(player("mcts(400)", pool), pool, 0)
    assert found.action == 2 and found.moves[2] > 0.5 and found.values[0] > 0.5
    assert sum(found.moves.values()) == pytest.approx(1)


def test_lookahead_gives_the_value_of_every_move_and_its_action():
    pool = Pool("connect4", 1, [0], threads=1)
    for action in (1, 0, 1, 0, 1, 0):
        pool.advance([action])
    thinker = player("lookahead", pool)
    assert thoughts.can_evaluate(thinker, pool)
    found = thoughts.think(thinker, pool, 0)
    assert (found.action, found.unit, found.moves[1], found.values) == (1, "value", 1.0, [1.0, -1.0])
    assert set(found.moves) == set(range(7)) and sorted(found.moves.values())[-2] < 1.0  # later is worth a little less
    pool.advance([1])
    assert thoughts.think(thinker, pool, 0) is None  # the game is over


def test_a_table_gives_its_values():
    pool = Pool("tictactoe", 1, [0], threads=1)
    agent = TabularAgent.of(pool)
    found = thoughts.think(Player("run:x", agent, agent.init(pool.spec, 0), pool, 1), pool, 0)
    assert found.unit == "value" and found.values == [0.0, 0.0] and set(found.moves) == set(range(9))


def test_a_network_gives_probabilities_of_legal_moves_and_a_value_for_each_seat():
    deep = pytest.importorskip("ludus.agents.neural.agent")
    pool = Pool("tictactoe", 1, [0], threads=1)
    agent = deep.new_agent(pool, deep.MLPArgs())
    thinker = Player("run:x", agent, agent.init(pool.spec, 3), pool, 1)
    pool.advance([4])
    found = thoughts.think(thinker, pool, 0)
    assert 4 not in found.moves and sum(found.moves.values()) == pytest.approx(1, abs=0.01)
    assert found.unit == "chance" and found.values[0] == pytest.approx(-found.values[1])
    decision = thinker.act(pool.step, np.ones(1, bool))
    assert found.values == pytest.approx(np.asarray(decision.value)[0].tolist(), abs=1e-5)


def test_an_evaluation_does_not_change_memory():
    deep = pytest.importorskip("ludus.agents.neural.agent")
    pool = Pool("recall", 1, [0], threads=1)
    agent = deep.new_agent(pool, deep.KINDS["rnn"]())
    thinker = Player("run:x", agent, agent.init(pool.spec, 3), pool, 1)
    before = thinker.memory
    assert thoughts.think(thinker, pool, 0) == thoughts.think(thinker, pool, 0)
    assert thinker.memory is before and thinker.unseen.all()


def test_there_is_no_evaluation_by_other_agents_or_after_the_game():
    pool = Pool("tictactoe", 1, [0], threads=1)
    assert thoughts.think(player("random", pool), pool, 0) is None
    for action in (0, 3, 1, 4, 2):
        pool.advance([action])
    assert thoughts.think(player("perfect", pool), pool, 0) is None  # the game is over
    car = Pool("car", 1, [0], threads=1)
    assert thoughts.think(player("scripted", car), car, 0) is None


def test_thoughts_as_json():
    found = thoughts.Thoughts("x", [float("nan"), 0.123456], {3: float("inf")}).as_json()
    assert found == {"agent": "x", "values": [None, 0.1235], "moves": {"3": None}, "unit": "chance"}
