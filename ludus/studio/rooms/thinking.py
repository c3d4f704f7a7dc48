"""Who thinks aloud at a table, and of which seat's view."""

from __future__ import annotations

from ludus.studio.rooms.players import Player, best_adviser, strength
from ludus.studio.rooms.table import Table
from ludus.studio.thoughts import Thoughts, can_tell, think


def of(table: Table) -> Thoughts | None:
    """What is thought of the position now."""
    waiting = table.waiting_for()
    seat = table.acting()[0] if waiting is None else waiting
    player = table.players[seat] if waiting is None else _onlooker(table)
    return think(player, table.pool, table.row_of(seat)) if player else None


def _onlooker(table: Table) -> Player | None:
    """Who thinks while a person is to choose: the strongest of those who say anything.

    A perfect player costs nothing to ask; another adviser thinks only after it was asked for a hint.
    """
    others = [player for player in table.players.values() if can_tell(player, table.pool)]
    if others:
        return max(others, key=lambda player: strength(player.name))
    return table.advise() if table.adviser or best_adviser(table.pool) == "perfect" else None
