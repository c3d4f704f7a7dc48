"""One duel controlled from Python, with given decks and random results; for replays of other engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludus.games.duel import machine, values
from ludus.games.duel.state import DECK_PILE, EXTRA_PILE, MOST_FED, NOBODY, STATE
from ludus.games.duel.tables import ROW_OF, TRAITS, TRIGGERS
from ludus.games.duel.tables.words import DECK, DOWN, EXTRA
from ludus.dsl import kernel
from ludus.dsl.rows import new_rows

COLUMNS = (
    "code", "owner", "controller", "place", "sequence", "position", "counters", "overlaid_on", "equipped_to",
    "overlays", "overlay",
)  # fmt: skip
Columns = dict[str, list[Any]]
"""a list with one number per card for each field; for `overlay` a list of card numbers"""


@kernel
def play(states, opening):
    """Begin with an opening hand of this size, or continue if it is -1; one kernel, as it compiles slowly."""
    if opening >= 0:
        machine.begin(states[0], opening)
    else:
        machine.resume(states[0])


@kernel
def measure(states, out):
    """Attack, defense and negation of all cards on the field: monsters in rows 0 to 13, then spells."""
    state = states[0]
    for player in range(2):
        for zone in range(7):
            c = state.monsters[player, zone]
            if c != NOBODY:
                out[player * 7 + zone, 0] = values.attack(state, c)
                out[player * 7 + zone, 1] = values.defense(state, c)
                out[player * 7 + zone, 2] = values.negated(state, c)
        for zone in range(8):
            c = state.spells[player, zone]
            if c != NOBODY:
                out[14 + player * 8 + zone, 2] = values.negated(state, c)


class Duel:
    """A duel with given decks and random results."""

    def __init__(
        self, decks: Sequence[tuple[Sequence[int], Sequence[int]]], life: int = 8000, opening: int = 5
    ) -> None:
        self.rows = new_rows(1, STATE)
        self.state: np.void = self.rows[0]
        self.opening = opening
        self.state["fed"] = 1
        self.state["life"] = life
        number = 0
        for player, (main, extra) in enumerate(decks):
            self.state["first_card"][player] = number + 1
            for place, pile, codes in ((DECK, DECK_PILE, main), (EXTRA, EXTRA_PILE, extra)):
                for code in codes:
                    number += 1
                    self._lay(number, player, place, pile, ROW_OF[code])

    def _lay(self, c: int, player: int, place: int, pile: int, row: int) -> None:
        card, state = self.state["cards"][c], self.state
        card["code"] = state["codes"][c] = row
        state["traits"] |= TRAITS[row]
        state["triggers"] |= TRIGGERS[row]
        card["owner"], card["controller"], card["place"], card["position"] = player, player, place, DOWN
        card["sequence"] = state["sizes"][player, pile]
        card["stamp"] = card["born"] = c
        state["stamps"] = c
        state["piles"][player, pile, card["sequence"]] = c
        state["sizes"][player, pile] += 1

    def feed(self, numbers: Sequence[int]) -> None:
        """Feed the random results that are used until the next question."""
        numbers = numbers[:MOST_FED]
        self.state["feed"][: len(numbers)] = numbers
        self.state["fed_count"], self.state["fed_at"] = len(numbers), 0

    def begin(self) -> None:
        """Run to the first question."""
        play(self.rows, self.opening)

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose these options and run to the next question."""
        self.state["chosen"][: len(chosen)] = chosen
        self.state["chosen_count"] = len(chosen)
        play(self.rows, -1)

    def values(self) -> list[list[int]]:
        """Attack, defense and negation by zone, see `measure`."""
        found = np.zeros((30, 3), np.int64)
        measure(self.rows, found)
        return found.tolist()

    def columns(self) -> Columns:
        """The fields of all cards as columns, which is much faster to read than card by card."""
        cards = self.rows["cards"][0]
        return {name: cards[name].tolist() for name in COLUMNS}
