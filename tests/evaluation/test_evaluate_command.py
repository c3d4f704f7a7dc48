"""`ludus evaluate GAME --agent NAME` for every kind of pool that `open_pool` opens."""

import json

import pytest

from ludus.cli import run
from ludus.types import LudusError


def evaluated(capsys, *arguments):
    run(["evaluate", *arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_game_of_another_library_with_one_seat(capsys):
    pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")
    facts = evaluated(capsys, "gymnasium:CartPole-v1", "--agent", "random", "--games", "40")
    assert (facts["game"], facts["agent"], facts["games"]) == ("gymnasium:CartPole-v1", "random", 40)
    assert 15 < facts["score"]["estimate"] == facts["length"] < 35
    assert facts == evaluated(capsys, "gymnasium:CartPole-v1", "--agent", "random", "--games", "40")


def test_a_game_of_another_library_with_two_seats(capsys):
    pytest.importorskip("pettingzoo", reason="pip install ludus[pettingzoo]")
    facts = evaluated(capsys, "pettingzoo:classic/tictactoe-v3", "--agent", "best", "--games", "40")
    assert facts["wins"] + facts["draws"] + facts["losses"] == 40
    assert facts["against"] == "random"


def test_a_discretized_game(capsys):
    facts = evaluated(capsys, "discretize:cartpole", "--agent", "random", "--games", "20")
    assert 10 < facts["score"]["estimate"] < 40


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("mcts(20)", "gymnasium:CartPole-v1 cannot be copied, so it cannot be searched; choose an agent without mcts"),
        ("perfect", "gymnasium:CartPole-v1 has no perfect player; it has random"),
        ("trained", "no trained agent comes with ludus for gymnasium:CartPole-v1; make one: ludus train"),
        ("nobody", 'unknown agent "nobody"'),
    ],
)
def test_agents_that_cannot_play_a_foreign_game(agent, message):
    pytest.importorskip("gymnasium", reason="pip install ludus[gymnasium]")
    with pytest.raises(LudusError) as caught:
        run(["evaluate", "gymnasium:CartPole-v1", "--agent", agent, "--games", "4"])
    assert message in str(caught.value)


def test_an_unknown_game_raises_an_error():
    with pytest.raises(LudusError, match='unknown game "chss"'):
        run(["evaluate", "chss", "--agent", "random"])
