"""Tic-tac-toe compared with a slow reference without bitboards."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import OVER, PLAYING
from ludus.pool import Pool

ROWS = ["abc", "def", "ghi"]
LINES = [*ROWS, "adg", "beh", "cfi", "aei", "ceg"]
CELLS = "abcdefghi"


@functools.cache
def pool() -> Pool:
    return Pool("tictactoe", 1, threads=1)


def owns_a_line(board: dict[str, int], player: int) -> bool:
    return any(all(board.get(cell) == player for cell in line) for line in LINES)


@given(st.lists(st.integers(0, 8), min_size=9, max_size=9))
def test_random_games_agree_with_the_reference(wishes):
    step, board, player = pool().reset(), {}, 0
    for wish in wishes:
        free = [cell for cell in CELLS if cell not in board]
        assert [CELLS[index] for index in step.mask[0].nonzero()[0]] == free
        assert step.seat[0] == player
        view = [0 if cell not in board else 1 if board[cell] == player else 2 for cell in CELLS]
        assert step.observation["board"][0].tolist() == view
        cell = free[wish % len(free)]
        board[cell] = player
        step = pool().advance([CELLS.index(cell)])
        won = owns_a_line(board, player)
        assert step.reward[0].tolist() == ([1 - 2 * player, 2 * player - 1] if won else [0, 0])
        if won or len(board) == 9:
            break
        assert pool().status[0] == PLAYING and step.discount[0] == 1
        player = 1 - player
    assert pool().status[0] == OVER and step.discount[0] == 0


@pytest.mark.parametrize(("moves", "rewards"), [
    ([0, 3, 1, 4, 2], [1, -1]),
    ([0, 2, 1, 4, 8, 6], [-1, 1]),
    ([4, 0, 2, 6, 3, 5, 1, 7, 8], [0, 0]),
    ([0, 1, 2, 3, 5, 4, 6, 7], [-1, 1]),
])  # fmt: skip
def test_games_worked_by_hand(moves, rewards):
    pool().reset()
    for move in moves:
        assert pool().status[0] == PLAYING
        step = pool().advance([move])
    assert pool().status[0] == OVER
    assert step.reward[0].tolist() == rewards


def test_squares_are_named_by_column_and_row():
    names = [pool().action_name(action) for action in range(9)]
    assert names == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]


def test_the_board_as_text():
    pool().reset()
    pool().advance([4])
    pool().advance([2])
    assert pool().describe().splitlines() == ["1 . . O", "2 . X .", "3 . . .", "  a b c"]
