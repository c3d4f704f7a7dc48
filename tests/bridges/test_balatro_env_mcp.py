"""BalatroEnv with an mcp_client: the game is on a server, ours or one that lies, and plays like one in a pool."""

import pathlib
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")
pytest.importorskip("mcp", reason="pip install ludus[mcp]")

from gymnasium.error import InvalidAction

from ludus.bridges.balatro_env import BalatroEnv, BalatroVectorEnv
from ludus.bridges.mcp import MCPGame, RemoteState
from ludus.games.balatro.actions import SELECT_BLIND
from ludus.pool import CUT, Pool
from ludus.types import LudusError

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from lying_server import LIES


class PoolClient:
    """An MCPClient whose game is in a pool of this process; `meet` is called in each move."""

    def __init__(self, meet=None):
        self.pool, self.meet, self.seeds, self.closed = Pool("balatro", 1, threads=1), meet, [], False

    def reset(self, seed=None):
        self.seeds.append(seed)
        self.pool.reset([seed])
        self.move = 0
        return self.state(0.0)

    def play(self, action_name):
        if self.meet:
            self.meet()
        (action,) = [one for one in np.flatnonzero(self.pool.step.mask[0]) if self.pool.action_name(one) == action_name]
        self.move += 1
        return self.state(float(self.pool.advance([action]).reward[0, 0]))

    def state(self, reward):
        step, over = self.pool.step, bool(self.pool.status[0])
        mask = step.mask[0] & (not over)
        legal = {self.pool.action_name(one): int(one) for one in np.flatnonzero(mask)}
        seen = {name: field[0].copy() for name, field in step.observation.items()}
        return RemoteState(self.move, over, self.pool.status[0] == CUT, 0.0, reward, seen, mask, legal, "in words")

    def close(self):
        self.closed = True


class Unused:
    """An MCPClient that is only closed."""

    closed = False

    def reset(self, seed=None):
        raise AssertionError("it was used")

    play = reset

    def close(self):
        self.closed = True


def assert_same(one, other):
    for name, array in one.items():
        assert np.array_equal(array, other[name]) and array.dtype == other[name].dtype, name


def legal(observation, dice):
    return np.array([dice.choice(np.flatnonzero(mask)) for mask in np.atleast_2d(observation["action_mask"])])


def test_whole_games_on_our_server_are_those_of_a_pool(tmp_path):
    command = [sys.executable, "-m", "ludus.cli", "mcp", "--out", str(tmp_path)]
    remote = BalatroEnv({"mcp_client": MCPGame(command, "balatro(scale=0.1)")}, render_mode="ansi")
    local, dice, steps = BalatroEnv({"scale": 0.1}, render_mode="ansi"), np.random.default_rng(1), 0
    for seed in (3, 4):
        seen, ended = [env.reset(seed=seed)[0] for env in (local, remote)], False
        while not ended:
            assert_same(*seen)
            assert remote.observation_space.contains(seen[1])
            assert remote.render() == local.render()
            # Every tenth action may be illegal.
            action = int(dice.integers(1000)) if steps % 10 == 9 else legal(seen[0], dice)[0]
            (mine, reward, *ends, info), (other, *rest) = local.step(action), remote.step(action)
            assert rest == [pytest.approx(reward), *ends, info]
            seen, ended, steps = [mine, other], any(ends), steps + 1
        assert_same(*seen)
    assert steps > 40
    remote.close()
    with pytest.raises(LudusError, match="the environment is closed, and so are its clients"):
        remote.reset(seed=3)


def test_several_games_are_played_at_the_same_time():
    barrier = threading.Barrier(3, timeout=20.0)  # a move that waits for the others breaks it if they come later
    clients = [PoolClient(barrier.wait) for _ in range(3)]
    remote, local = BalatroVectorEnv({"mcp_client": clients}, num_envs=3), BalatroVectorEnv(num_envs=3)
    seen, dice = remote.reset(seed=7)[0], np.random.default_rng(0)
    assert_same(local.reset(seed=7)[0], seen)
    ended = np.zeros(3, bool)
    while not ended.any():
        actions = legal(seen, dice)
        (mine, *expected, _), (seen, *rest, _) = local.step(actions), remote.step(actions)
        assert_same(mine, seen)
        assert all(np.array_equal(*pair) for pair in zip(expected, rest, strict=True))
        ended = rest[1] | rest[2]
    barrier.abort()
    for client in clients:
        client.meet = None
    seen, rewards, *ends, _ = remote.step(legal(seen, dice))
    assert [len(client.seeds) for client in clients] == (1 + ended).tolist()
    assert not rewards[ended].any() and not (ends[0] | ends[1])[ended].any()
    remote.close()
    assert all(client.closed for client in clients)


def test_games_without_seeds_continue_a_random_stream():
    clients = []
    for seed in (5, 5, 6):
        clients.append(PoolClient())
        env = BalatroEnv({"mcp_client": clients[-1]})
        env.reset(seed=seed)
        env.reset()
        env.reset()
    assert clients[0].seeds == clients[1].seeds and not {*clients[0].seeds} & {*clients[2].seeds}
    assert len({*clients[0].seeds}) == 3


def test_a_function_makes_a_client_for_each_game():
    env = BalatroVectorEnv({"mcp_client": PoolClient, "num_envs": 2})
    assert env.reset(seed=1)[0]["cards"].shape == (2, 52, 4) and len(env.games.clients) == 2
    with pytest.raises(LudusError, match="there is no pool"):
        env.pool.random_actions(0)
    env.close()


def test_a_game_that_is_cut_off_is_truncated():
    client = PoolClient()
    env = BalatroEnv({"mcp_client": client})
    env.reset(seed=1)
    client.pool.states["decisions"] = 49_999
    assert env.step(SELECT_BLIND)[2:4] == (False, True)


@pytest.mark.parametrize(
    ("client", "more", "sentence"),
    [
        (Unused(), {"num_envs": 2}, "has 1 clients for 2 games; each game needs its own"),
        ([Unused()] * 2, {"num_envs": 2}, "has 1 clients for 2 games"),
        ([], {}, "has 0 clients for 1 games"),
        ([Unused(), "b"], {"num_envs": 2}, "mcp_client is 'b'; expected an object with the methods"),
        (dict, {}, "mcp_client is {}; expected an object with the methods"),
        (Unused, {"stake": "green"}, "stake cannot be set beside an mcp_client, whose server holds the game"),
        (Unused, {"threads": 2}, "threads cannot be set beside an mcp_client"),
    ],
)
def test_wrong_clients_are_refused(client, more, sentence):
    with pytest.raises(LudusError, match=sentence):
        BalatroVectorEnv({"mcp_client": client, **more})


def test_pixels_of_a_game_on_a_server_are_refused():
    client = Unused()
    with pytest.raises(LudusError, match='no render mode "rgb_array" here; it has ansi'):
        BalatroEnv({"mcp_client": client}, render_mode="rgb_array")
    assert client.closed


def test_an_action_outside_of_the_space_is_refused_and_the_game_goes_on():
    env = BalatroEnv({"mcp_client": PoolClient()})
    env.reset(seed=1)
    for action in (1000, -1, 0.5):
        with pytest.raises(InvalidAction, match="balatro"):
            env.step(action)
    assert not any(env.step(SELECT_BLIND)[2:4])


@pytest.fixture
def liar(monkeypatch):
    """Environments on the lying server, in this process."""
    from lying_server import server
    from mcp import Client

    monkeypatch.setattr("ludus.bridges.mcp.connection", lambda place: Client(server))
    made = []

    def environment(lie, game="balatro"):
        made.append(BalatroEnv({"mcp_client": MCPGame("liar", game, lie, timeout=0.5, reconnects=0)}))
        return made[-1]

    yield environment
    for one in made:
        one.close()


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_ends_the_game_with_a_sentence(lie, liar):
    env = liar(lie)
    seen, _ = env.reset(seed=1)
    assert np.flatnonzero(seen["action_mask"]).tolist() == [SELECT_BLIND]
    own = 'an mcp_client calls action 9 "d4", which is "play 1,3" here'
    with pytest.raises(LudusError, match=own if lie == "unknown action" else "does not play balatro by its rules: "):
        env.step(SELECT_BLIND)
    with pytest.raises(LudusError, match="no game of balatro is running after the last error; call reset"):
        env.step(SELECT_BLIND)


@pytest.mark.parametrize(
    ("behaviour", "sentence"), [("slow", "play failed 1 times: it took too long"), ("refuses", "play was refused")]
)
def test_after_a_failed_call_another_game_can_begin(behaviour, sentence, liar):
    env = liar(behaviour)
    env.reset(seed=1)
    with pytest.raises(LudusError, match=sentence):
        env.step(SELECT_BLIND)
    assert env.reset()[0]["action_mask"].sum() == 1


def test_another_game_is_an_error(liar):
    with pytest.raises(
        LudusError, match=r"an mcp_client does not play balatro: its states have no cards of the shape \(52, 4\)"
    ):
        liar("honest", "tictactoe").reset(seed=1)


def test_a_server_that_cannot_be_reached_is_an_error():
    absent = MCPGame("http://127.0.0.1:9/mcp", timeout=2.0, reconnects=0)
    env = BalatroEnv({"mcp_client": absent})
    with pytest.raises(LudusError, match="new_game failed 1 times"):
        env.reset(seed=1)
    env.close()
