"""Duels that begin in a constructed position: cards are placed by code, options are chosen by their words."""

from __future__ import annotations

from typing import Any

from ludus.dsl import PLAYING
from ludus.games.duel import state as words
from ludus.games.duel.tables import ROW_OF
from ludus.games.duel.tables.words import GRAVE, HAND, MZONE, SZONE, UP, UP_ATTACK
from ludus.games.duel.tools import engine, recorded_duels

PILES = {HAND: words.HAND_PILE, GRAVE: words.GRAVE_PILE}
FILLER = 89631139
"""Blue-Eyes White Dragon, which cannot be summoned with an empty field: cards to draw"""


class Position:
    """The cards of each player by number; cards that are not placed are in the deck, above filler."""

    def __init__(self, mine: list[int], others: list[int], life: tuple[int, int] = (8000, 8000)) -> None:
        decks = [([FILLER] * 5 + codes, []) for codes in (mine, others)]
        self.duel = engine.Duel(decks, 8000, opening=0)
        self.state: Any = self.duel.state
        self.state["life"] = life
        self.cards = self.state["cards"]

    def lay(self, player: int, code: int, place: int, zone: int = 0, position: int = UP, number: int = 0) -> int:
        """Move the n-th copy of a card from the deck to a zone or pile; returns its card number."""
        deck = self._pile(player, words.DECK_PILE)
        c = [c for c in deck if self.cards["code"][c] == ROW_OF[code]][number]
        self._set_pile(player, words.DECK_PILE, [other for other in deck if other != c])
        card = self.cards[c]
        card["place"], card["position"], card["controller"], card["control"] = place, position, player, player
        self.state["stamps"] += 1
        card["stamp"] = card["arrival"] = card["enabled_at"] = self.state["stamps"]
        card["status"] = words.ENABLED | words.PROPER
        if place in PILES:
            self._set_pile(player, PILES[place], [*self._pile(player, PILES[place]), c])
        else:
            card["sequence"] = zone
            self.state["monsters" if place == MZONE else "spells"][player, zone] = c
        return c

    def monster(self, player: int, code: int, zone: int, position: int = UP_ATTACK, **more: int) -> int:
        return self.lay(player, code, MZONE, zone, position, **more)

    def spell(self, player: int, code: int, zone: int, position: int = UP, **more: int) -> int:
        return self.lay(player, code, SZONE, zone, position, **more)

    def overlay(self, player: int, code: int, above: int) -> int:
        """Put a card of the deck under a monster."""
        c = self.lay(player, code, HAND)
        self._set_pile(player, words.HAND_PILE, [other for other in self._pile(player, words.HAND_PILE) if other != c])
        holder, card = self.cards[above], self.cards[c]
        card["place"], card["overlaid_on"], card["sequence"] = 128, above, holder["overlays"]
        holder["overlay"][holder["overlays"]] = c
        holder["overlays"] += 1
        return c

    def equip(self, card: int, monster: int) -> int:
        self.cards["equipped_to"][card] = monster
        return card

    def bind(self, trap: int, monster: int) -> None:
        """Bind a monster to the trap that revived it."""
        self.cards["bound_to"][trap], self.cards["bound_to"][monster] = monster, trap

    def begin(self, *random: int) -> Position:
        self.duel.feed(random)
        self.duel.begin()
        return self

    def choose(self, *wanted: Any, random: tuple[int, ...] = ()) -> Position:
        """Choose the first option with all of these words: `choose("act", 19613556)`; several cards by their codes."""
        options = recorded_duels.options(self.duel)
        found = [k for k, one in enumerate(options) if all(word in _flat(one) for word in wanted)]
        assert found, f"no option has {wanted}: {options}"
        self.duel.feed(random)
        self.duel.answer(found[:1])
        return self

    def question(self) -> str:
        return words.MESSAGES[self.state["question"]] if self.state["status"] == PLAYING else "over"

    def grave(self, player: int) -> list[int]:
        """The card numbers of a graveyard, in order of arrival."""
        return self._pile(player, words.GRAVE_PILE)

    def measured(self, player: int, zone: int, place: int = MZONE) -> list[int]:
        """Attack, defense and negation of the card in a zone."""
        return self.duel.values()[7 * player + zone if place == MZONE else 14 + 8 * player + zone]

    def _pile(self, player: int, pile: int) -> list[int]:
        return self.state["piles"][player, pile, : self.state["sizes"][player, pile]].tolist()

    def _set_pile(self, player: int, pile: int, cards: list[int]) -> None:
        self.state["piles"][player, pile, : len(cards)] = cards
        self.state["sizes"][player, pile] = len(cards)
        self.cards["sequence"][cards] = range(len(cards))


def _flat(option: Any) -> list[Any]:
    return option if isinstance(option, list) else [option]
