"""Games in parts: a game depends on its number and the seed, not on the part, the rows or the process that plays it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import ludus
from ludus import agents
from ludus.agents import transfer
from ludus.agents.trained import Trained
from ludus.evaluation import battle, parts, replays, scores
from ludus.evaluation.evaluate import evaluate
from ludus.evaluation.parts import Part, Result
from ludus.evaluation.play import new_openings
from ludus.types import LudusError


def in_parts(count):
    """A spread that plays every match in so many parts, the last one first, each as a worker would get it."""

    def spread(matches, tell=None):
        return [parts.joined([played(part) for part in reversed(cut(match, count))][::-1]) for match in matches]

    return spread


def cut(match, count):
    ends = np.linspace(0, match.games, count + 1).astype(int).tolist()
    return [replace(match, first=low, count=high - low) for low, high in itertools.pairwise(ends)]


def played(part):
    with parts.Host(threads=1) as host:
        return Result.from_json(host.play(Part.from_json(part.to_json())).to_json())


def equal(one, other):
    """Whether two results are the same, game for game."""
    named = zip(one._asdict().items(), other._asdict().items(), strict=True)
    return all(
        left == right and np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for (left, a), (right, b) in named
    )


MATCHES = [
    ("tictactoe", ["random", "perfect"], 50),
    ("goofspiel", ["random", "mcts(3)"], 20),
    ("connect4", ["random", "mcts(3)"], 12),
    ("connect4", ["trained", "random"], 30),
    ("trio", ["random", "mcts(2)"], 24),
]


@pytest.mark.parametrize(("game", "kinds", "games"), MATCHES, ids=lambda value: str(value))
def test_a_battle_is_the_same_in_any_number_of_parts(game, kinds, games):
    whole = battle.battle(game, kinds, games, seed=4, keep=7)
    for count in (1, 2, 3):
        found = battle.battle(game, kinds, games, seed=4, keep=7, spread=in_parts(count))
        assert equal(found.match, whole.match)
        assert [one.actions.tolist() for one in found.replays] == [one.actions.tolist() for one in whole.replays]
        assert [one.agents for one in found.replays] == [one.agents for one in whole.replays]
    for one in whole.replays:
        replays.verify(one)


def test_a_tournament_is_the_same_in_parts():
    kinds = ["random", "perfect", "trained"]
    whole, found = (battle.tournament("tictactoe", kinds, 30, 1, spread=one) for one in (parts.here, in_parts(3)))
    assert found.names == whole.names and found.ratings == whole.ratings and found.elo == whole.elo
    np.testing.assert_array_equal(found.payoff, whole.payoff)


@pytest.mark.parametrize("game", ["patience", "cartpole", "gymnasium:CartPole-v1"])
def test_an_evaluation_of_one_agent_is_the_same_in_parts(game):
    if game.startswith("gymnasium"):
        pytest.importorskip("gymnasium")
    whole = evaluate("random", games=23, game=game, seed=2)
    assert whole.interval.low < whole.interval.high, "the games differ"
    for count in (1, 2, 3):
        assert evaluate("random", games=23, game=game, seed=2, spread=in_parts(count)) == whole


def test_measures_are_joined():
    agent = parts.Entrant("random", agents.load("random", "lair"), agents.load("random", "lair").init(None, 0))
    agent = agent._replace(params=ludus.agent("random", "lair").params)
    whole, found = (parts.evaluated(agent, "lair", 20, 3, spread) for spread in (parts.here, in_parts(3)))
    assert whole.measures.keys() == found.measures.keys() and equal(whole, found)


def test_an_evaluation_against_another_agent_is_the_same_in_parts():
    whole = evaluate("perfect", against="random", games=40, game="tictactoe", seed=5)
    assert evaluate("perfect", against="random", games=40, game="tictactoe", seed=5, spread=in_parts(3)) == whole


@pytest.mark.parametrize("rows", [1, 3, 16])
def test_games_do_not_depend_on_the_number_of_rows(rows):
    agent = ludus.agent("random", "goofspiel")
    players, openings = [(agent.agent, agent.params)] * 2, new_openings(16, 1)
    one, other = (scores.match("goofspiel", players, 16, 1, n, openings=openings) for n in (rows, 5))
    assert equal(one, other)


def test_other_seeds_and_other_games_have_other_random_numbers():
    """Two games with the same opening differ by the decisions of their players."""
    found = battle.battle("goofspiel", ["random", "random"], 4, seed=0, keep=4).replays
    other = battle.battle("goofspiel", ["random", "random"], 4, seed=1, keep=4).replays
    games = [one.actions.tobytes() for one in (*found, *other)]
    assert found[0].seed == found[1].seed and len(set(games)) == 8


def test_parts_have_all_games_once_and_full_rows():
    match = parts.whole("tictactoe", ["random", "random"], 1000, 0)
    for games, workers in ((1000, 1), (1000, 2), (1000, 7), (10_000, 3), (3, 8), (100_000, 4)):
        found = parts.divided(replace(match, games=games, count=games), workers)
        numbers = [number for part in found for number in range(part.first, part.first + part.count)]
        assert numbers == list(range(games)) and len(found) >= min(games, workers)
        assert len(found) <= 4 * workers and found[0].count >= min(parts.BATCH, games // workers)


def test_errors_name_what_cannot_be_spread():
    with pytest.raises(LudusError, match="a person cannot play in the workers"):
        battle.battle("tictactoe", ["person", "random"], 2, spread=in_parts(2))
    with pytest.raises(LudusError, match="play 2 or 4"):
        evaluate("random", against="random", games=3, game="tictactoe", spread=in_parts(2))
    pytest.importorskip("pettingzoo")
    with pytest.raises(LudusError, match="cannot be recorded"):
        battle.battle("pettingzoo:classic/tictactoe-v3", ["random", "random"], 2, keep=1, spread=in_parts(2))


def test_the_files_of_an_agent_can_be_moved(tmp_path):
    shipped = str(agents.shipped("tictactoe"))
    files = transfer.read(shipped)
    moved = transfer.write(files, tmp_path)
    loaded = agents.load(transfer.relocated(shipped, {shipped: moved}), "tictactoe")
    assert isinstance(loaded, Trained) and loaded.path == tmp_path
    assert transfer.path_in("lookahead(runs/duel-0001)") == "runs/duel-0001"
    assert transfer.relocated("lookahead(runs/a)", {"runs/a": "/b"}) == "lookahead(/b)"
    assert [transfer.path_in(kind) for kind in ("random", "mcts(20)", "lookahead(4)", "http://host/a")] == [None] * 4
    with pytest.raises(LudusError, match="there is no run"):
        transfer.read("runs/nosuch")
