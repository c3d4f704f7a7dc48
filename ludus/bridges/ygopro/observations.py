"""Observations of duels in a core, written into arrays."""

from __future__ import annotations

import struct

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.compiled_messages import absorb
from ludus.bridges.ygopro.core import PLACES
from ludus.bridges.ygopro.duel_record import MOST_CARDS, MOST_HISTORY, MOST_OPTIONS, Cards, new_tables, printed
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.bridges.ygopro.steps import show
from ludus.dsl import record, u8
from ludus.types import Array

OBSERVATION = record(
    cards_=(u8, (MOST_CARDS, features.CARD_COLUMNS)), global_=(u8, features.GLOBAL_COLUMNS),
    actions_=(u8, (MOST_OPTIONS, features.ACTION_COLUMNS)), h_actions_=(u8, (MOST_HISTORY, features.HISTORY_COLUMNS)),
    mask_=(u8, (MOST_CARDS, features.MASK_COLUMNS)),
)  # fmt: skip
FIRST = np.zeros(1, np.int64)


class Eyes:
    """Reads the output of cores and writes observations; with `all_seeing` also hidden cards, marked in a mask."""

    def __init__(self, cards: Cards, all_seeing: bool = False) -> None:
        self.printed, self.all_seeing = printed(cards), all_seeing

    def absorb(self, tables: Array, which: Array, first: int, told: bytes | memoryview) -> tuple[int, int]:
        """Read the output of the duels of these tables, starting with index `first`.

        Returns the number of duels and the number of non-simple questions.
        """
        count, intricate = absorb(tables, which, first, np.frombuffer(told, np.uint8), self.printed)
        return count, intricate

    def write(self, tables: Array, out: dict[str, Array]) -> None:
        """Fill the arrays of all tables; options of non-simple questions are written elsewhere."""
        show(
            tables, self.all_seeing, out["cards_"], out["global_"], out["actions_"], out["h_actions_"], out["mask_"]
        )  # fmt: skip

    def table_of(self, duel: RealDuel, player: int) -> Array:
        """A table of one duel, from the view of a player."""
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
