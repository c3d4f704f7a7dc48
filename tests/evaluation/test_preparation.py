"""Compiling in another process while games are played with interpreted rules."""

import pytest

from ludus import agents, games
from ludus.dsl.cache import interpreting
from ludus.evaluation import preparation
from ludus.pool import Pool, binding


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A machine that has compiled nothing."""
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path))
    monkeypatch.setattr(binding, "_bound", {})
    yield tmp_path
    preparation.stop_all()


def test_progress_grows_to_one_and_the_game_is_prepared(empty_cache):
    seen = []
    assert not preparation.is_prepared(games.load("tictactoe"))
    preparation.compile_game("tictactoe", seen.append)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert seen[-1] == preparation.Progress("ready", 1.0, 0.0)
    assert {"rules", "random play", "pictures", "perfect", "search"} <= {one.part for one in seen}
    assert all(one.seconds_left > 0 for one in seen[:-1])
    assert preparation.is_prepared(games.load("tictactoe"))
    assert preparation.prepare(games.load("tictactoe")) is None


def test_callers_share_a_process_which_ends_when_nobody_needs_it(empty_cache):
    game = games.load("balatro")
    one, other = preparation.prepare(game), preparation.prepare(game)
    assert one is other and one.running
    preparation.release(one)
    assert one._process.poll() is None, "the other caller still needs it"
    preparation.release(other)
    one.wait(60)
    assert not one.running and one._process.returncode != 0
    assert not preparation.is_prepared(game)


def test_rules_are_interpreted_until_the_process_has_ended(empty_cache):
    messages = []
    with preparation.interpreted_until_compiled("tictactoe") as wait:
        pool = Pool(games.load("tictactoe"), 1, threads=1)
        assert interpreting()
        pool.advance([4])
        wait(agents.load("random", "tictactoe"), messages.append)
        assert not messages, "the random agent needs no compiler"
        searcher = agents.load("mcts(50)", "tictactoe")
        wait(searcher, messages.append)
        assert "being compiled" in messages[0] and not interpreting()
        player = agents.seated(searcher, pool)
        pool.advance(player.act((), (), pool.step, 0)[0].action)
    assert int(pool.states["moves"][0]) == 2
    assert preparation.is_prepared(games.load("tictactoe"))


def test_games_of_other_libraries_are_not_interpreted():
    with preparation.interpreted_until_compiled("gymnasium:CartPole-v1"):
        assert not interpreting()


def test_all_shipped_search_agents_wait_for_the_compiler():
    kinds = {kind: agents.load(kind, "connect4") for kind in ("mcts", "lookahead", "perfect", "random", "trained")}
    assert {kind: agents.simulates(agent) for kind, agent in kinds.items()} == {
        "mcts": True, "lookahead": True, "perfect": True, "random": False, "trained": False,
    }  # fmt: skip
