"""Every game has a golden game, which replays line by line."""

import functools
import pathlib

import pytest

from ludus import games
from ludus.evaluation import golden
from ludus.types import LudusError


@functools.cache
def small_game() -> str:
    return golden.record("tictactoe", 5)


@pytest.mark.parametrize("name", games.names())
def test_golden_game_replays(name):
    path = golden.golden_path(name)
    assert path.exists(), f"{name} has no golden game yet; record it: ludus golden {name}"
    assert golden.check(path.read_text(encoding="utf-8")) is None


def test_every_golden_file_belongs_to_a_game():
    files = {path.stem for path in pathlib.Path(__file__).parent.glob("*.txt")}
    assert files <= set(games.names())


def test_the_first_line_that_differs_is_reported():
    changed = small_game().replace("legal for seat 0: a1", "legal for seat 0: z9", 1)
    number = next(i for i, line in enumerate(changed.splitlines(), 1) if "z9" in line)
    complaint = golden.check(changed)
    assert complaint.startswith(f'line {number} was "legal for seat 0: z9')
    assert complaint.endswith("if this is intended, record it again: ludus golden tictactoe")


def test_missing_lines_are_reported():
    shorter = "\n".join(small_game().splitlines()[:-1])
    assert 'was "(nothing)" and is now "total reward:' in golden.check(shorter)


def test_a_text_without_a_header_is_refused():
    with pytest.raises(LudusError, match="begin with the lines game: NAME"):
        golden.check("once upon a time")


def test_parameters_are_kept_in_the_header():
    text = golden.record("cartpole(horizon=5)", 2)
    assert text.startswith("game: cartpole(horizon=5)\nseed: 2\n")
    assert "CUT after 5 steps" in text
    assert golden.check(text) is None


def test_long_games_show_their_beginning_and_their_end():
    text = golden.record("car(obstacles=0, horizon=200, track=3)", 1)
    assert "\nstep 59\n" in text and "\nstep 60\n" not in text
    assert "more steps" in text and "total reward:" in text.splitlines()[-1]


def test_the_text_shows_the_turn_the_legal_moves_and_the_winner():
    assert "legal for seat 0: a1, b1, c1, a2, b2, c2, a3, b3, c3\nseat 0 plays: " in small_game()
    assert "observation of seat 0: board 000000000" in small_game()
    assert "OVER after " in small_game()
