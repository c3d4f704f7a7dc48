"""The perfect Connect Four player: its own opening book before ply 12, exact search after."""

from __future__ import annotations

import numpy as np

from ludus.agents.players.perfect.connect4_solver import best_moves
from ludus.agents.players.scripted import Scripted
from ludus.agents.protocol import Key
from ludus.games.connect4 import HEIGHT, WIDTH
from ludus.pool.actions import any_of
from ludus.types import Array, Step

BITS = np.array([[1 << column * (HEIGHT + 1) + HEIGHT - 1 - row for column in range(WIDTH)] for row in range(HEIGHT)])


def choose(step: Step, key: Key) -> Array:
    """One of the best columns in every row; any column if the game has ended."""
    allowed = np.ones((len(step.seat), WIDTH), bool)
    for row, board in enumerate(step.observation["board"]):
        if step.discount[row] > 0:
            allowed[row] = best_moves(*stones_of(board))
    return any_of(allowed, key)


def stones_of(board: Array) -> tuple[int, int]:
    """An observed board as the bitboards of the side to move and of the other side."""
    return int(BITS[board == 1].sum()), int(BITS[board == 2].sum())


AGENT = Scripted(choose, simulates=True)
