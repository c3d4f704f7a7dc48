"""Ludus games through PettingZoo: its own tests on every game, and games worked out by hand."""

import runpy
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="pip install ludus[pettingzoo]")

from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.utils.conversions import aec_to_parallel

from ludus import games
from ludus.bridges import pettingzoo as bridge
from ludus.types import LudusError

with warnings.catch_warnings():  # PettingZoo's tests import its own games by a deprecated interface
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

MULTIPLAYER = [name for name in games.names() if games.load(name).spec.seats > 1]
SOLO = [name for name in games.names() if games.load(name).spec.seats == 1]
FIRST, SECOND = "player_0", "player_1"

pytestmark = [
    # PettingZoo gives these warnings for games with masks that are not on its own list, and for an empty board.
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium.spaces.box"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Agent's m(in|ax)imum observation space value is -?infinity"),
]


def play(env, *actions):
    for action in actions:
        env.step(action)


@pytest.mark.parametrize("name", MULTIPLAYER + SOLO)
def test_api(name):
    api_test(bridge.env(name))


@pytest.mark.parametrize("name", MULTIPLAYER + SOLO)
def test_parallel_api(name):
    parallel_api_test(bridge.parallel_env(name))


@pytest.mark.parametrize("name", MULTIPLAYER + SOLO)
def test_seed(name):
    seed_test(lambda: bridge.env(name))


@pytest.mark.parametrize("name", MULTIPLAYER + SOLO)
def test_parallel_seed(name):
    """PettingZoo samples from the whole action space here, so most actions are illegal in most games."""
    parallel_seed_test(lambda: bridge.parallel_env(name))


def choose(env, observations, seed):
    """A random action for every agent."""
    for number, agent in enumerate(env.agents):
        env.action_space(agent).seed(1000 * seed + number)
    masks = {agent: observations[agent]["action_mask"] if env.game.masked else None for agent in env.agents}
    return {agent: env.action_space(agent).sample(mask) for agent, mask in masks.items()}


def test_a_game_of_tic_tac_toe():
    env = bridge.env("tictactoe", render_mode="ansi")
    env.reset(seed=0)
    assert env.agents == [FIRST, SECOND]
    turns = []
    for action in (0, 3, 1, 4):
        seen, reward, terminated, truncated, info = env.last()
        assert (reward, terminated, truncated, info) == (0.0, False, False, {})
        turns.append((env.agent_selection, seen["observation"].tolist(), seen["action_mask"].tolist()))
        env.step(action)
    assert turns[0] == (FIRST, [0] * 9, [1] * 9)
    assert turns[3] == (SECOND, [2, 2, 0, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 1, 1, 1, 1])
    assert env.observe(SECOND)["action_mask"].tolist() == [0] * 9
    assert env.observe(SECOND)["observation"].tolist() == [2, 2, 0, 1, 1, 0, 0, 0, 0]
    env.step(2)
    assert env.rewards == {FIRST: 1.0, SECOND: -1.0}
    assert env.terminations == {FIRST: True, SECOND: True}
    assert env.truncations == {FIRST: False, SECOND: False}
    assert env.render() == "1 X X X\n2 O O .\n3 . . .\n  a b c"
    ends = {}
    for agent in env.agent_iter():
        _, ends[agent], *_ = env.last()
        env.step(None)
    assert ends == {FIRST: 1.0, SECOND: -1.0}
    assert env.agents == []


def test_a_draw_gives_no_rewards():
    env = bridge.env("tictactoe")
    env.reset()
    play(env, 4, 0, 2, 6, 3, 5, 1, 7, 8)
    assert env.rewards == {FIRST: 0.0, SECOND: 0.0}
    assert all(env.terminations.values())


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (4, "tictactoe: action 4 of row 0 is not legal for seat 1; legal actions: a1, b1, c1, a2, c2"),
        (9, "action 9 of row 0 is not legal"),
        (None, "tictactoe expects int64 actions, not object"),
        (2.5, "tictactoe expects int64 actions, not float64"),
    ],
)
def test_illegal_raise_rejects_the_move_and_changes_nothing(action, message):
    for error in (LudusError, ValueError):
        env = bridge.env("tictactoe", illegal="raise")
        env.reset()
        env.step(4)
        before = env.unwrapped.game.pool.states.tobytes()
        with pytest.raises(error, match=message):
            env.step(action)
        assert env.unwrapped.game.pool.states.tobytes() == before
        assert (env.agent_selection, env.agents) == (SECOND, [FIRST, SECOND])
        env.step(0)
        assert env.agent_selection == FIRST


def test_aec_goofspiel_steps_after_all_agents_have_acted():
    env = bridge.env("goofspiel", illegal="raise")
    env.reset(seed=3)
    pool = env.unwrapped.game.pool
    prize = int(env.last()[0]["observation"]["prize"])
    env.step(12)
    assert pool.states["round"][0] == 0
    assert env.agent_selection == SECOND
    assert env.last()[0]["action_mask"].tolist() == [1] * 13
    env.step(0)
    assert pool.states["round"][0] == 1
    assert env.observe(FIRST)["observation"]["points"].tolist() == [prize, 0]
    assert env.observe(SECOND)["observation"]["points"].tolist() == [0, prize]
    with pytest.raises(bridge.ActionError, match="goofspiel: action 12 of row 0 is not legal for seat 0"):
        env.step(12)
    env.step(0)
    with pytest.raises(bridge.ActionError, match="goofspiel: action 0 of row 1 is not legal for seat 1"):
        env.step(0)


def test_parallel_goofspiel_equals_the_converted_aec_version():
    """The parallel version, and PettingZoo's conversion of the AEC version."""
    native, converted = bridge.parallel_env("goofspiel"), aec_to_parallel(bridge.env("goofspiel"))
    seen, _ = native.reset(seed=1)
    assert data_equivalence(seen, converted.reset(seed=1)[0], exact=True)
    for turn in range(13):
        actions = choose(native, seen, turn)
        seen, rewards, terminations, truncations, _ = native.step(actions)
        other_seen, other_rewards, *other_ends, _ = converted.step(actions)
        assert data_equivalence(seen, other_seen, exact=True)
        assert (rewards, [terminations, truncations]) == (dict(other_rewards), other_ends)
    assert native.agents == converted.agents == []
    assert sum(rewards.values()) == 0.0


def test_parallel_alternating_games_use_only_the_acting_agent():
    env = bridge.parallel_env("tictactoe", illegal="raise")
    seen, infos = env.reset()
    assert infos == {FIRST: {"acting": True}, SECOND: {"acting": False}}
    seen, *_, infos = env.step({FIRST: 4, SECOND: 4})
    assert infos == {FIRST: {"acting": False}, SECOND: {"acting": True}}
    assert seen[FIRST]["action_mask"].tolist() == [1] * 9
    assert seen[SECOND]["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    with pytest.raises(bridge.ActionError, match="action 4 of row 0 is not legal for seat 1"):
        env.step({FIRST: 0, SECOND: 4})
    with pytest.raises(bridge.ActionError, match="an action of player_1 is missing; actions were given for"):
        env.step({FIRST: 0})
    for first, second in ((0, 0), (1, 0), (0, 3), (7, 0)):
        seen, rewards, terminations, *_ = env.step({FIRST: first, SECOND: second})
    assert rewards == {FIRST: 1.0, SECOND: -1.0}
    assert terminations == {FIRST: True, SECOND: True}
    assert env.agents == []
    with pytest.raises(bridge.ActionError, match=r"no game of tictactoe is running; call reset\(\)"):
        env.step({FIRST: 0, SECOND: 0})


def test_an_illegal_action_is_replaced_by_a_random_legal_one():
    """The default; the replacement is any legal action and depends only on the seed and the actions."""
    env, played = bridge.env("tictactoe"), []
    for seed in [*range(40), *range(40)]:
        env.reset(seed=seed)
        play(env, 4, 4)
        assert (env.infos, env.agent_selection) == ({FIRST: {}, SECOND: {"illegal_action": 4}}, FIRST)
        board = env.observe(SECOND)["observation"].tolist()
        played.append(board.index(1))
        env.step(board.index(0))
        env.step(env.last()[0]["action_mask"].argmax())
        assert env.infos[SECOND] == {}
    assert played[:40] == played[40:]
    assert set(played) == {0, 1, 2, 3, 5, 6, 7, 8}
    with pytest.raises(bridge.ActionError, match="action 9 of row 0 is not legal"):
        env.step(9)


def test_an_illegal_action_in_a_simultaneous_game_is_replaced():
    env = bridge.parallel_env("goofspiel")
    env.reset(seed=0)
    env.step({FIRST: 12, SECOND: 3})
    seen, _, _, _, infos = env.step({FIRST: 12, SECOND: 12})
    assert infos == {FIRST: {"acting": True, "illegal_action": 12}, SECOND: {"acting": True}}
    assert seen[FIRST]["observation"]["cards"].sum(axis=1).tolist() == [11, 11]


def test_an_illegal_action_may_end_the_game():
    env = bridge.env("tictactoe", illegal="end")
    for action in (4, 9, -1):
        env.reset()
        play(env, 4, action)
        assert env.rewards == {FIRST: 0.0, SECOND: -1.0}
        assert env.terminations == {FIRST: True, SECOND: True}
        assert env.infos == {FIRST: {}, SECOND: {"invalid_move": True}}
        assert env.observe(SECOND)["action_mask"].all()
        for _ in env.agent_iter():
            env.step(None)
        assert env.agents == []


def test_illegal_actions_in_a_simultaneous_game_may_end_it():
    turns, at_once = bridge.env("goofspiel", illegal="end"), bridge.parallel_env("goofspiel", illegal="end")
    turns.reset(seed=0)
    play(turns, 12, 3, 12)
    assert (turns.rewards, turns.infos[FIRST]) == ({FIRST: -1.0, SECOND: 0.0}, {"invalid_move": True})
    assert all(turns.terminations.values())
    for again, rewards in (((12, 3), [-1.0, -1.0]), ((12, 4), [-1.0, 0.0])):
        at_once.reset(seed=0)
        at_once.step({FIRST: 12, SECOND: 3})
        _, given, terminations, _, infos = at_once.step(dict(zip((FIRST, SECOND), again, strict=True)))
        assert list(given.values()) == rewards
        assert [info.get("invalid_move", False) for info in infos.values()] == [reward < 0 for reward in rewards]
        assert all(terminations.values())
        assert at_once.agents == []


def test_an_unknown_mode_for_illegal_actions_raises():
    with pytest.raises(LudusError, match='illegal="ignore" is unknown; it is random, end, raise'):
        bridge.env("tictactoe", illegal="ignore")


def test_the_error_without_pettingzoo_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(LudusError, match=r"needs PettingZoo: pip install ludus\[pettingzoo\]"):
        runpy.run_path(bridge.__file__)


def test_names_modes_and_parameters():
    assert bridge.env("tictactoe").metadata["name"] == "tictactoe_v0"
    assert not bridge.env("tictactoe").metadata["is_parallelizable"]
    assert bridge.env("goofspiel").metadata["is_parallelizable"]
    assert bridge.parallel_env("tictactoe").metadata["is_parallelizable"]
    assert str(bridge.raw_env("connect4")) == "connect4_v0"
    assert bridge.env("car", track=3).unwrapped.game.pool.name == "car(track=3)"
    with pytest.raises(LudusError, match='tictactoe has no parameter "size"; it has: none'):
        bridge.env("tictactoe", size=4)
    with pytest.raises(LudusError, match='tictactoe has no render mode "human"; it has: rgb_array, ansi'):
        bridge.parallel_env("tictactoe", render_mode="human")


def test_pictures():
    env = bridge.parallel_env("connect4", render_mode="rgb_array")
    env.reset()
    before = env.render()
    env.step({FIRST: 3, SECOND: 0})
    assert before.shape == (380, 420, 3)
    assert before.dtype == np.uint8
    assert not np.array_equal(before, env.render())
    env.close()


def test_a_game_at_its_horizon_is_truncated():
    env = bridge.env("car", horizon=2)
    env.reset(seed=0)
    play(env, np.zeros(2, np.float32), np.zeros(2, np.float32))
    assert (env.terminations, env.truncations) == ({FIRST: False}, {FIRST: True})
