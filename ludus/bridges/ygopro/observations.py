"""Observations of duels in a core: reads the output of the core and writes the arrays of an observation."""

from __future__ import annotations

import struct

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.compiled_messages import read_outputs
from ludus.bridges.ygopro.core import QUERIES
from ludus.bridges.ygopro.duel_record import MAX_CARDS, MAX_HISTORY, MAX_OPTIONS, Cards, new_tables, printed_cards
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.bridges.ygopro.steps import write_observations
from ludus.dsl import record, u8
from ludus.types import Array

OBSERVATION = record(
    cards_=(u8, (MAX_CARDS, features.CARD_COLUMNS)), global_=(u8, features.GLOBAL_COLUMNS),
    actions_=(u8, (MAX_OPTIONS, features.ACTION_COLUMNS)), h_actions_=(u8, (MAX_HISTORY, features.HISTORY_COLUMNS)),
    mask_=(u8, (MAX_CARDS, features.MASK_COLUMNS)),
)  # fmt: skip
FIRST = np.zeros(1, np.int64)


class Observer:
    """Reads the output of cores and writes observations; with `show_hidden` also hidden cards, marked in a mask."""

    def __init__(self, cards: Cards, show_hidden: bool = False) -> None:
        self.printed, self.show_hidden = printed_cards(cards), show_hidden

    def read_outputs(self, tables: Array, which: Array, first: int, output: bytes | memoryview) -> tuple[int, int]:
        """Read the output of the duels of these tables, starting with index `first`.

        Returns the number of duels and the number of non-simple questions.
        """
        count, complex_questions = read_outputs(tables, which, first, np.frombuffer(output, np.uint8), self.printed)
        return count, complex_questions

    def write(self, tables: Array, out: dict[str, Array]) -> None:
        """Fill the arrays of all tables; options of non-simple questions are written by `pool.RealGames`."""
        write_observations(
            tables, self.show_hidden, out["cards_"], out["global_"], out["actions_"], out["h_actions_"], out["mask_"]
        )  # fmt: skip

    def table_of(self, duel: RealDuel, player: int) -> Array:
        """The record of one duel, from the view of a player."""
        tables = new_tables(1)
        parts = [
            struct.pack("<BBI", query.player, query.location, len(result)) + result
            for query, result in zip(QUERIES, duel.query_results, strict=True)
        ]
        self.read_outputs(tables, FIRST, 0, bytes(5) + bytes([len(parts)]) + b"".join(parts))
        for name in ("turn", "turn_player", "phase", "damage_step"):
            tables[name] = getattr(duel, name)
        tables["player"] = player
        shown = [(viewer, *card[:3]) for viewer, card in duel.shown]
        tables["shown"][0, : len(shown)] = np.array(shown, np.uint8).reshape(-1, 4)
        tables["shown_count"] = len(shown)
        return tables
