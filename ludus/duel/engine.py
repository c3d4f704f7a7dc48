"""One duel in the hands of Python: begun with given decks, asked, answered; for replays of other engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludus.games.duel import machine, values
from ludus.games.duel.state import DECK_PILE, EXTRA_PILE, MOST_FED, STATE
from ludus.games.duel.tables import CARDS, ROW_OF
from ludus.games.duel.tables.words import DECK, DOWN, EXTRA, LINK, XYZ
from ludus.words import kernel
from ludus.words.rows import new_rows


@kernel
def begin(states, opening):
    machine.begin(states[0], opening)


@kernel
def resume(states):
    machine.resume(states[0])


@kernel
def attack(states, c):
    return values.attack(states[0], c)


@kernel
def defense(states, c):
    return values.defense(states[0], c)


@kernel
def negated(states, c):
    return values.negated(states[0], c)


class Duel:
    """A duel whose decks and chance are given."""

    def __init__(self, decks: Sequence[tuple[Sequence[int], Sequence[int]]], life: int = 8000, opening: int = 5) -> None:
        self.rows = new_rows(1, STATE)
        self.state: Any = self.rows[0]
        self.opening = opening
        self.state["fed"] = 1
        self.state["life"] = life
        number = 0
        for player, (main, extra) in enumerate(decks):
            for place, pile, codes in ((DECK, DECK_PILE, main), (EXTRA, EXTRA_PILE, extra)):
                for code in codes:
                    number += 1
                    self._lay(number, player, place, pile, ROW_OF[code])

    def _lay(self, c: int, player: int, place: int, pile: int, row: int) -> None:
        card, state = self.state["cards"][c], self.state
        card["code"], card["owner"], card["controller"], card["place"], card["position"] = row, player, player, place, DOWN
        card["sequence"] = state["sizes"][player, pile]
        card["stamp"] = c
        state["stamps"] = c
        state["piles"][player, pile, card["sequence"]] = c
        state["sizes"][player, pile] += 1

    def feed(self, numbers: Sequence[int]) -> None:
        """What chance will decide until the next question."""
        numbers = numbers[:MOST_FED]
        self.state["feed"][: len(numbers)] = numbers
        self.state["fed_count"], self.state["fed_at"] = len(numbers), 0

    def begin(self) -> None:
        """To the first question."""
        begin(self.rows, self.opening)

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose these options, and go on to the next question."""
        self.state["chosen"][: len(chosen)] = chosen
        self.state["chosen_count"] = len(chosen)
        resume(self.rows)

    def values(self, c: int) -> tuple[int, int, int, int]:
        """Attack, defense, level (or rank) and whether it is negated."""
        row = CARDS[self.state["cards"][c]["code"]]
        level = 0 if row["types"] & LINK else int(row["level"])
        return int(attack(self.rows, c)), int(defense(self.rows, c)), level, int(negated(self.rows, c))
