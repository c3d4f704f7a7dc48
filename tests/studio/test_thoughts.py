"""What agents think aloud: chances of networks, visits of search, values of tables and of perfect players."""

import numpy as np
import pytest

from ludus import agents
from ludus.agents.tabular import TabularAgent
from ludus.pool import Pool
from ludus.studio import thoughts
from ludus.studio.rooms.players import Player


def player(name, pool):
    agent = agents.load(name, pool.name)
    return Player(name, agent, agent.init(pool.spec, 0), pool, 1)


def test_the_perfect_tictactoe_player_knows_every_move():
    pool = Pool("tictactoe", 1, [0], threads=1)
    for action in (0, 3, 1, 4):  # the first player wins at once by 2, and loses nothing elsewhere but by blocking
        pool.advance([action])
    told = thoughts.think(player("perfect", pool), pool, 0)
    assert told.values == [1.0, -1.0] and told.unit == "value" and told.moves[2] == 1.0
    assert set(told.moves) == {2, 5, 6, 7, 8} and told.moves[6] == -1.0
    assert next(iter(told.moves)) == 2  # the best first


def test_the_perfect_connect4_player_knows_its_book_and_later_every_column():
    pool = Pool("connect4", 1, [0], threads=1)
    told = thoughts.think(player("perfect", pool), pool, 0)
    assert told.values == [1.0, -1.0] and told.moves == {3: 1.0}
    for action in (3, 3, 3, 3, 3, 2, 4, 4, 2, 2, 4, 4):
        pool.advance([action])
    told = thoughts.think(player("perfect", pool), pool, 0)
    assert set(told.moves.values()) <= {1.0, 0.0, -1.0} and len(told.moves) == 7
    assert told.values[0] == max(told.moves.values()) == -told.values[1]


def test_search_tells_the_shares_of_its_visits_and_what_it_would_play():
    pool = Pool("tictactoe", 1, [0], threads=1)
    for action in (0, 3, 1, 4):
        pool.advance([action])
    told = thoughts.think(player("mcts(400)", pool), pool, 0)
    assert told.action == 2 and told.moves[2] > 0.5 and told.values[0] > 0.5
    assert sum(told.moves.values()) == pytest.approx(1)


def test_who_looks_ahead_tells_what_every_move_is_worth_and_what_it_would_play():
    pool = Pool("connect4", 1, [0], threads=1)
    for action in (1, 0, 1, 0, 1, 0):
        pool.advance([action])
    mind = player("lookahead", pool)
    assert thoughts.can_tell(mind, pool)
    told = thoughts.think(mind, pool, 0)
    assert (told.action, told.unit, told.moves[1], told.values) == (1, "value", 1.0, [1.0, -1.0])
    assert set(told.moves) == set(range(7)) and sorted(told.moves.values())[-2] < 1.0  # later is worth a little less
    pool.advance([1])
    assert thoughts.think(mind, pool, 0) is None  # the game is over


def test_a_table_tells_its_values():
    pool = Pool("tictactoe", 1, [0], threads=1)
    agent = TabularAgent.of(pool)
    told = thoughts.think(Player("run:x", agent, agent.init(pool.spec, 0), pool, 1), pool, 0)
    assert told.unit == "value" and told.values == [0.0, 0.0] and set(told.moves) == set(range(9))


def test_a_network_tells_chances_of_legal_moves_and_a_value_for_each_seat():
    deep = pytest.importorskip("ludus.agents.neural.agent")
    pool = Pool("tictactoe", 1, [0], threads=1)
    agent = deep.new_agent(pool, deep.MLPArgs())
    mind = Player("run:x", agent, agent.init(pool.spec, 3), pool, 1)
    pool.advance([4])
    told = thoughts.think(mind, pool, 0)
    assert 4 not in told.moves and sum(told.moves.values()) == pytest.approx(1, abs=0.01)
    assert told.unit == "chance" and told.values[0] == pytest.approx(-told.values[1])
    decision = mind.act(pool.step, np.ones(1, bool))
    assert told.values == pytest.approx(np.asarray(decision.value)[0].tolist(), abs=1e-5)


def test_thinking_changes_no_memory():
    deep = pytest.importorskip("ludus.agents.neural.agent")
    pool = Pool("recall", 1, [0], threads=1)
    agent = deep.new_agent(pool, deep.KINDS["rnn"]())
    mind = Player("run:x", agent, agent.init(pool.spec, 3), pool, 1)
    before = mind.memory
    assert thoughts.think(mind, pool, 0) == thoughts.think(mind, pool, 0)
    assert mind.memory is before and mind.unseen.all()


def test_who_has_nothing_to_say_keeps_silent():
    pool = Pool("tictactoe", 1, [0], threads=1)
    assert thoughts.think(player("random", pool), pool, 0) is None
    for action in (0, 3, 1, 4, 2):
        pool.advance([action])
    assert thoughts.think(player("perfect", pool), pool, 0) is None  # the game is over
    car = Pool("car", 1, [0], threads=1)
    assert thoughts.think(player("scripted", car), car, 0) is None


def test_what_is_told_is_json():
    told = thoughts.Thoughts("x", [float("nan"), 0.123456], {3: float("inf")}).told()
    assert told == {"agent": "x", "values": [None, 0.1235], "moves": {"3": None}, "unit": "chance"}
