"""Connect Four compared with a slow reference that checks every line from every stone."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import OVER, PLAYING
from ludus.pool import Pool

WIDTH, HEIGHT = 7, 6


@functools.cache
def pool() -> Pool:
    return Pool("connect4", 1, threads=1)


def four_in_line(stones: set[tuple[int, int]]) -> bool:
    return any(
        all((column + right * step, row + up * step) in stones for step in range(4))
        for column, row in stones
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    )


def seen(stones: list[set], player: int) -> list[list[int]]:
    """The board from the top row down: 1 mine, 2 theirs."""
    board = [[0] * WIDTH for _ in range(HEIGHT)]
    for owner, mark in ((player, 1), (1 - player, 2)):
        for column, row in stones[owner]:
            board[HEIGHT - 1 - row][column] = mark
    return board


@given(st.lists(st.integers(0, 6), min_size=42, max_size=42))
def test_random_games_agree_with_the_reference(wishes):
    referee(wishes)


@given(st.permutations([column for column in range(WIDTH) for _ in range(HEIGHT)]))
def test_games_that_fill_columns_evenly_agree_with_the_reference(wishes):
    referee(wishes)


def referee(wishes: list[int]) -> None:
    step, columns, stones, player = pool().reset(), [0] * WIDTH, [set(), set()], 0
    for wish in wishes:
        open_columns = [column for column in range(WIDTH) if columns[column] < HEIGHT]
        assert step.mask[0].nonzero()[0].tolist() == open_columns
        assert step.seat[0] == player
        assert step.observation["board"][0].tolist() == seen(stones, player)
        column = wish if wish in open_columns else open_columns[wish % len(open_columns)]
        stones[player].add((column, columns[column]))
        columns[column] += 1
        step = pool().advance([column])
        won = four_in_line(stones[player])
        assert step.reward[0].tolist() == ([1 - 2 * player, 2 * player - 1] if won else [0, 0])
        if won or sum(columns) == WIDTH * HEIGHT:
            break
        assert pool().status[0] == PLAYING and step.discount[0] == 1
        player = 1 - player
    assert pool().status[0] == OVER and step.discount[0] == 0


UPRIGHT, ACROSS, DIAGONAL, SECOND = "abababa", "aabbccd", "abbccdcddgd", "adbdcdgd"
DRAWN = "fefagceffaebbaefgfdbbccgcggdgcadaddedbecba"


@pytest.mark.parametrize(
    ("moves", "rewards"),
    [(UPRIGHT, [1, -1]), (ACROSS, [1, -1]), (DIAGONAL, [1, -1]), (SECOND, [-1, 1]), (DRAWN, [0, 0])],
)
def test_games_worked_by_hand(moves, rewards):
    pool().reset()
    for move in moves:
        assert pool().status[0] == PLAYING
        step = pool().advance(["abcdefg".index(move)])
    assert pool().status[0] == OVER
    assert step.reward[0].tolist() == rewards


def test_a_line_does_not_reach_around_the_edge():
    """Three stones at the top of one column and one at the bottom of the next are not a line."""
    pool().reset()
    for move in "baaaafaba":
        step = pool().advance(["abcdefg".index(move)])
        assert pool().status[0] == PLAYING
    assert pool().describe().splitlines()[:3] == ["X . . . . . .", "X . . . . . .", "X . . . . . ."]
    assert step.reward[0].tolist() == [0, 0]
