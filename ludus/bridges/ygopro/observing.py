"""What players see of duels in a real core, written into the arrays of an observation."""

from __future__ import annotations

import struct

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.asking import absorb
from ludus.bridges.ygopro.core import PLACES
from ludus.bridges.ygopro.dueling import RealDuel
from ludus.bridges.ygopro.steps import show
from ludus.bridges.ygopro.table import MOST_CARDS, MOST_HISTORY, MOST_OPTIONS, Cards, new_tables, printed
from ludus.types import Array
from ludus.words import record, u8

OBSERVATION = record(
    cards_=(u8, (MOST_CARDS, features.CARD_COLUMNS)), global_=(u8, features.GLOBAL_COLUMNS),
    actions_=(u8, (MOST_OPTIONS, features.ACTION_COLUMNS)), h_actions_=(u8, (MOST_HISTORY, features.HISTORY_COLUMNS)),
    mask_=(u8, (MOST_CARDS, features.MASK_COLUMNS)),
)  # fmt: skip
FIRST = np.zeros(1, np.int64)


class Eyes:
    """Takes in what cores tell, and writes observations; `all_seeing` also of what is hidden, with a mask of it."""

    def __init__(self, cards: Cards, all_seeing: bool = False) -> None:
        self.printed, self.all_seeing = printed(cards), all_seeing

    def absorb(self, tables: Array, which: Array, first: int, told: bytes | memoryview) -> tuple[int, int]:
        """Take in what the duels of these tables told, from the `first` of them on.

        Told is how many there were, and how many of them ask what is not simple.
        """
        count, intricate = absorb(tables, which, first, np.frombuffer(told, np.uint8), self.printed)
        return count, intricate

    def write(self, tables: Array, out: dict[str, Array]) -> None:
        """Fill the arrays of all tables; where a question is not simple, its options are still to be written."""
        show(
            tables, self.all_seeing, out["cards_"], out["global_"], out["actions_"], out["h_actions_"], out["mask_"]
        )  # fmt: skip

    def table_of(self, duel: RealDuel, player: int) -> Array:
        """One table with all that a player could see of a duel."""
        tables = new_tables(1)
        parts = [
            struct.pack("<BBI", place.player, place.location, len(seen)) + seen
            for place, seen in zip(PLACES, duel.places, strict=True)
        ]
        self.absorb(tables, FIRST, 0, bytes(5) + bytes([len(parts)]) + b"".join(parts))
        for name in ("turn", "turn_player", "phase", "damage_step"):
            tables[name] = getattr(duel, name)
        tables["player"] = player
        shown = [(viewer, *card[:3]) for viewer, card in duel.shown]
        tables["shown"][0, : len(shown)] = np.array(shown, np.uint8).reshape(-1, 4)
        tables["shown_count"] = len(shown)
        return tables
