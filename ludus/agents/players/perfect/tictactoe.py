"""The perfect tic-tac-toe player: the whole game tree, searched once (5,478 positions)."""

from __future__ import annotations

import functools

import numpy as np

from ludus.agents.players.scripted import Scripted
from ludus.agents.protocol import Key
from ludus.games.tictactoe import FULL, WINS
from ludus.pool.actions import any_of
from ludus.types import Array, Step


@functools.cache
def value(mine: int, theirs: int) -> int:
    """The result for the side to move with best play: 1, 0 or -1."""
    if WINS[theirs]:
        return -1
    if mine | theirs == FULL:
        return 0
    return max(-value(theirs, mine | 1 << cell) for cell in free_cells(mine, theirs))


def free_cells(mine: int, theirs: int) -> list[int]:
    return [cell for cell in range(9) if not (mine | theirs) >> cell & 1]


@functools.cache
def best_cells(mine: int, theirs: int) -> tuple[bool, ...]:
    """The best cells of the position; only those that win at once, if there are any."""
    values = {cell: -value(theirs, mine | 1 << cell) for cell in free_cells(mine, theirs)}
    best = [cell for cell, result in values.items() if result == max(values.values())]
    at_once = [cell for cell in best if WINS[mine | 1 << cell]]
    return tuple(cell in (at_once or best) for cell in range(9))


def choose(step: Step, key: Key) -> Array:
    powers = 1 << np.arange(9)
    board = step.observation["board"]
    mine, theirs = (board == 1) @ powers, (board == 2) @ powers
    allowed = np.ones((len(step.seat), 9), bool)
    for row in np.flatnonzero(step.discount > 0):
        allowed[row] = best_cells(int(mine[row]), int(theirs[row]))
    return any_of(allowed, key)


AGENT = Scripted(choose)
