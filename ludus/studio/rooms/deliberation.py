"""Deliberation: what agents think of the present position, and what they are about to play."""

from __future__ import annotations

import time

from ludus.agents.thoughts import Thoughts, can_evaluate, must_compile, think
from ludus.studio.rooms.players import Player, strength
from ludus.studio.rooms.table import Decided, Table
from ludus.types import JsonObject

SLOW = 0.05
"""seconds of thinking above which the page shows that an agent is thinking"""


class Deliberation:
    """The thoughts on the present position, the planned actions and the hint."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.slow = True
        """whether the last decision took long; assumed of new agents"""
        self.busy = True
        self.clear()

    def clear(self) -> None:
        """The position has changed."""
        self.plan: Decided | None = None
        self.thoughts: Thoughts | None = None
        self.hint: JsonObject | None = None
        self.done = False

    def think(self, asked: bool = False) -> None:
        """Think about the position and, unless a person is to choose, plan what to play."""
        table, start = self._table, time.monotonic()
        self.thoughts = thoughts_of(table, asked)
        if table.waiting_for() is None:
            found = self.thoughts.action if self.thoughts else None
            self.plan = table.decide({} if found is None else {table.acting()[0]: found})
        if self.thoughts and self.thoughts.values:
            table.judge(self.thoughts.values[0])
        self.done, self.slow, self.busy = True, time.monotonic() - start > SLOW, False

    def give_hint(self) -> None:
        """Ask the strongest agent for a move; if no other agent shows its thoughts, show those of the adviser."""
        table = self._table
        if self.thoughts is None and table.waiting_for() is not None and table.advise():
            self.think(asked=True)
        action = table.hint()
        self.hint = {"action": action, "name": table.pool.action_name(action)}


def thoughts_of(table: Table, asked: bool = False) -> Thoughts | None:
    """An agent's evaluation of the present position.

    While the game is being compiled, networks only decide unless a person asked, so that the first move need not wait
    for a second program.
    """
    waiting = table.waiting_for()
    seat = table.acting()[0] if waiting is None else waiting
    player = table.players.get(seat) if waiting is None else _onlooker(table)
    if player is None or (table.interpreted and must_compile(player) and not asked):
        return None
    return think(player, table.pool, table.row_of(seat))


def _onlooker(table: Table) -> Player | None:
    """The strongest agent that shows its thoughts while a person is to choose.

    A perfect player answers at once; another adviser is used only after a hint was requested.
    """
    others = [player for player in table.players.values() if can_evaluate(player, table.pool)]
    if others:
        return max(others, key=lambda player: strength(player.name))
    return table.advise() if table.adviser or table.adviser_name() == "perfect" else None
