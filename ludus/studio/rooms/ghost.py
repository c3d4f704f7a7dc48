"""The ghost: the last completed part of a game, or the last whole game, repeated beside the present one."""

from __future__ import annotations

from ludus.dsl.interfaces import Ghost
from ludus.studio.foreign import AnyGame
from ludus.studio.rooms.gauges import check_field, read_state
from ludus.types import Array

MOST_STATES = 5000
"""states of a part that are remembered"""


def part_of(game: AnyGame) -> str:
    """The part of a game that its ghost repeats: "game" without GHOST; "" for games without a token."""
    declared: Ghost | None = getattr(game.rules, "GHOST", None)
    if not hasattr(game.rules, "token"):
        return ""
    if declared:
        check_field(game, "GHOST", declared.completed)
    return declared.part if declared else "game"


class GhostTrail:
    """The states of the present part of row 0, and those of the last completed one."""

    def __init__(self) -> None:
        self.present: list[Array] = []
        self.last: list[Array] = []
        self._completed = 0

    def add(self, game: AnyGame, state: Array, over: bool) -> None:
        """Record the state [1] of row 0 after a step; `over` if the step ended the game."""
        declared: Ghost | None = getattr(game.rules, "GHOST", None)
        if declared:
            self._follow(int(read_state(state[0], declared.completed)))
        if len(self.present) < MOST_STATES:
            self.present.append(state.copy())
        if over and not declared:
            self.last, self.present = self.present, []

    def _follow(self, completed: int) -> None:
        if completed < self._completed:
            self.begin()
        elif completed > self._completed:
            self.last, self.present, self._completed = self.present, [], completed

    def begin(self) -> None:
        """A new game: the part that was not completed is dropped."""
        self.present, self._completed = [], 0

    def state(self) -> Array | None:
        """[1] the state of the last part at the time of the present one; None if no part was completed yet."""
        return self.last[min(len(self.present), len(self.last) - 1)] if self.last else None
