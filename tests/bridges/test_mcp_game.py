"""A game behind an MCP server: ours, which must play like the pool, and one that misbehaves."""

import pathlib
import sys

import numpy as np
import pytest

from ludus.bridges.mcp import MCPGame
from ludus.pool import Pool
from ludus.types import LudusError

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from lying_server import LIES

LIAR = [sys.executable, str(pathlib.Path(__file__).with_name("lying_server.py"))]


def test_a_game_behind_our_server_is_that_of_the_pool(tmp_path):
    with MCPGame([sys.executable, "-m", "ludus.cli", "mcp", "--out", str(tmp_path)]) as remote:
        for seed in (3, 4):
            pool, state = Pool("balatro", 1, [seed], threads=1), remote.reset(seed)
            while not state.over:
                for name, field in pool.step.observation.items():
                    assert np.array_equal(field[0], state.observation[name]), name
                assert np.array_equal(pool.step.mask[0], state.mask)
                name = sorted(state.legal)[state.move % len(state.legal)]
                pool.advance([state.legal[name]])
                state = remote.play(name)
                assert state.reward == pytest.approx(pool.step.reward[0, 0])
            assert pool.status[0] != 0 and not state.mask.any()
            pool.close()
        with pytest.raises(LudusError, match="call reset first"):
            remote.play("select blind")


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_ends_the_game_with_a_sentence(lie, liar):
    remote = liar(lie)
    assert list(remote.reset().legal) == ["b2"]
    with pytest.raises(LudusError, match="does not play tictactoe by its rules: "):
        remote.play("b2")
    with pytest.raises(LudusError, match="call reset first"):
        remote.play("b2")
    with pytest.raises(LudusError, match="is closed"):
        remote.reset()


@pytest.fixture
def liar(monkeypatch):
    """Clients of the lying server, in this process; `reset` makes it lie."""
    from lying_server import server
    from mcp import Client

    made = []

    def client(lie):
        monkeypatch.setattr("ludus.bridges.mcp.connection", lambda place: Client(server))
        made.append(MCPGame("liar", "tictactoe", lie, timeout=0.5, reconnects=1))
        return made[-1]

    yield client
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [("slow", "play failed 2 times: it took too long"), ("refuses", "play was refused: Error executing tool play$")],
)
def test_slow_and_refused_calls_are_sentences(behaviour, sentence, liar):
    remote = liar(behaviour)
    remote.reset()
    with pytest.raises(LudusError, match=sentence):
        remote.play("b2")
    assert remote.reset().move == 0  # another connection
    with pytest.raises(LudusError, match='"a1" is not a legal move here; there are b2'):
        remote.play("a1")


def test_a_server_that_dies_is_started_again():
    with MCPGame(LIAR, "tictactoe", "dies", reconnects=1) as remote:
        remote.reset()
        with pytest.raises(LudusError, match="play failed 2 times"):
            remote.play("b2")
        assert remote.reset().move == 0


def test_a_server_that_cannot_be_reached_is_an_error():
    with (
        MCPGame("http://127.0.0.1:9/mcp", "tictactoe", timeout=2.0, reconnects=0) as remote,
        pytest.raises(LudusError, match="new_game failed 1 times"),
    ):
        remote.reset()
    with pytest.raises(LudusError, match="continuous actions"):
        MCPGame("http://127.0.0.1:9/mcp", "car")


def test_a_new_game_without_an_id_is_a_lie(liar):
    with pytest.raises(LudusError, match="returned no game_id"):
        liar("no id").reset()
