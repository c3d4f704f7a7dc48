"""Analysis of games by self-play: counts equal to those worked out by hand or known from exact enumeration."""

import json

import numpy as np
import pytest
from habits import Always, player

from ludus import cli
from ludus.evaluation import analysis, analysis_report
from ludus.types import LudusError


def test_known_shares_of_random_tictactoe():
    """Exact enumeration of random play: the first player wins 58.5 %, loses 28.8 %, draws 12.7 %."""
    found = analysis.analyse("tictactoe", "random", games=6000, seed=2)
    assert found.first_player_advantage.low < 0.585 + 0.127 / 2 - 0.5 < found.first_player_advantage.high
    assert found.draws.low < 0.127 < found.draws.high
    first, second = found.seats
    assert first.wins + second.wins + first.draws == 6000 and first.draws == second.draws
    assert found.lengths.min() == 5 and found.lengths.max() == 9 and found.cut == 0


def test_every_decision_is_counted_once():
    """In tic-tac-toe the n-th move has 10 - n legal actions, so lengths determine all counts."""
    found = analysis.analyse("tictactoe", "random", games=700, seed=1)
    total = found.lengths.sum()
    assert sum(use.chosen for use in found.actions) == total == found.decisions.sum()
    legal = sum(sum(9 - move for move in range(length)) for length in found.lengths)
    assert sum(use.legal for use in found.actions) == legal
    assert found.branching.mean == pytest.approx(legal / total) and found.branching[1::2] == (1, 9)
    assert found.forced == pytest.approx((found.lengths == 9).sum() / total)
    assert "unused actions    none of 9" in analysis_report.as_text(found)


def test_unused_actions_are_named():
    """With one stone, one action is legal; an agent that always takes one stone never takes two or three."""
    found = analysis.analyse("stones(pile=1)", (Always(0), ()), games=10)
    assert [use.name for use in found.never_legal] == ["take 2", "take 3"] and found.forced == 1
    found = analysis.analyse("stones(pile=7)", (Always(0), ()), games=10)
    assert [use.name for use in found.never_chosen] == ["take 2", "take 3"] and not found.never_legal
    assert [use.legal for use in found.actions] == [70, 60, 50]
    assert found.first_player_advantage.estimate == 0.5, "seven single stones: the first player takes the last"


def test_rare_actions_are_named():
    actions = (analysis.ActionUse(0, "often", 5000, 4999), analysis.ActionUse(1, "seldom", 5000, 1))
    actions += (analysis.ActionUse(2, "hardly legal", 2, 2),)
    found = analysis.analyse("stones", (Always(0), ()), games=2)._replace(decisions=np.array([5002]), actions=actions)
    assert [use.name for use in found.rarely_legal] == ["hardly legal"]
    assert [use.name for use in found.rarely_chosen] == ["seldom"]


def test_one_seat_has_a_score_instead_of_wins():
    found = analysis.analyse("patience", "random", games=400)
    assert found.draws is None and found.first_player_advantage is None and len(found.seats) == 1
    assert found.seats[0].mean_return.low < 0.5 < found.seats[0].mean_return.high
    assert set(found.lengths) == {1, 40}
    assert "wins" not in analysis_report.as_text(found) and "score" in analysis_report.as_text(found)


def test_three_seats_have_a_win_rate_each():
    found = analysis.analyse("trio", (Always(2), ()), games=20)
    assert [seat.wins for seat in found.seats] == [0, 0, 20] and found.first_player_advantage is None


def test_simultaneous_games_count_the_decisions_of_both_seats():
    found = analysis.analyse("goofspiel", "random", games=50)
    assert set(found.lengths) == {13} and set(found.decisions) == {26}
    assert sum(use.chosen for use in found.actions) == 50 * 26


def test_continuous_actions_have_no_table():
    found = analysis.analyse("car", "random", games=3)
    assert found.branching is None and found.actions == ()
    assert "continuous" in analysis_report.as_text(found)
    assert analysis_report.facts(found)["branching"] is None


@pytest.mark.parametrize("agent", ["mcts(20)", "perfect"])
def test_agents_by_name(agent):
    found = analysis.analyse("tictactoe", agent, games=10)
    assert found.agent == agent and sum(use.chosen for use in found.actions) == found.lengths.sum()


def test_trained_agents_play(tmp_path):
    found = analysis.analyse("tictactoe", "trained", games=6)
    assert found.draws.estimate == 1, "the trained agent never loses, so it draws against itself"


def test_equal_seeds_give_equal_analyses():
    one, two = (analysis_report.facts(analysis.analyse("tictactoe", *player_of(), games=50, seed=4)) for _ in range(2))
    assert one == two


def player_of():
    return (player("random", "tictactoe"),)


def test_the_command_prints_text_json_and_a_plot(tmp_path, capsys):
    cli.run(["analyse", "stones", "--games", "20", "--out", str(tmp_path / "report.png")])
    text = capsys.readouterr().out
    assert "branching factor" in text and "first player" in text and "report.png" in text
    assert (tmp_path / "report.png").read_bytes()[:4] == b"\x89PNG"
    cli.run(["analyse", "stones", "--games", "20", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["games"] == 20 and sum(facts["lengths"].values()) == 20 and len(facts["actions"]) == 3


def test_json_of_one_seat_has_only_finite_numbers(capsys):
    cli.run(["analyse", "patience", "--games", "30", "--json"])
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.parametrize("game", ["stones", "patience", "car", "trio"])
def test_every_kind_of_game_has_a_plot(game, tmp_path):
    analysis_report.plot(tmp_path / "plot.png", analysis.analyse(game, "random", games=2))
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_a_plot_needs_the_suffix_png(tmp_path):
    with pytest.raises(LudusError, match=r"must end in \.png"):
        cli.run(["analyse", "stones", "--out", str(tmp_path / "plot.doc")])
