"""The scoreboard of a room: games played, the last returns, and how the present game ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from ludus.dsl import CUT
from ludus.studio.rooms.table import Table

KEPT_RETURNS = 20


class Scoreboard:
    """Games played, and the returns of the last of them: those of the person's seat, else of seat 0."""

    def __init__(self) -> None:
        self.games, self.returns = 0, deque[float](maxlen=KEPT_RETURNS)
        self.result: str | None = None
        """the result of the present game as text; None before its end"""
        self.ended_at = 0.0

    def restore(self, games: int, returns: Sequence[float]) -> None:
        self.games = games
        self.returns.extend(returns)

    def add(self, table: Table) -> None:
        """The present game is over."""
        self.result, self.ended_at = result(table), time.monotonic()
        self.games += 1
        self.returns.append(float(table.returns[(table.person_seats() or [0])[0]]))

    def take_back(self) -> None:
        """The move that ended the game was undone."""
        self.games, self.result = self.games - 1, None
        self.returns.pop()


def result(table: Table) -> str:
    """The result of the game as text."""
    returns, you = table.returns, table.person_seats()
    ended = "Time is up" if table.pool.status[0] == CUT else "The game is over"
    if not table.spec.zero_sum or table.spec.seats != 2:
        scores = ", ".join(f"{value:.4g}" for value in returns)
        return f"{ended}: {scores} points." if len(returns) == 1 else f"{ended}: {scores}."
    if returns[0] == returns[1]:
        return "A draw."
    winner = int(np.argmax(returns))
    if len(you) == 1:
        return "You win!" if winner == you[0] else "You lose."
    name = table.seats[winner]
    return f"Seat {winner + 1} wins." if len(set(table.seats)) == 1 else f"{name} wins."
