"""Card scripts of our own for the real core, and random decks of the cards that have one.

The scripts are written from the texts of the cards, to compare our rules with the core without the official scripts.
"""

from __future__ import annotations

import functools
import pathlib
import random
import re
from collections.abc import Iterable, Sequence

from ludus.bridges.ygopro.core import CardData, Cards
from ludus.games.duel.stages import EXTRA, MONSTER, SPELL, TRAP, cards_by_code, kind_of
from ludus.games.duel.tables.words import LINK, NORMAL, Card

FOLDER = pathlib.Path(__file__).parent / "lua"
FILES = ("prelude.lua", "spells.lua", "traps.lua", "monsters.lua", "extra.lua")
"""in loading order; each fills the Lua table `cards` by code"""
PLAIN, SCRIPTED = KINDS = ("plain", "scripted")
DECK_SIZE, COPIES, TRIBUTE_LEVEL, EXTRA_SIZE = 40, 3, 5, 15
SHARES = {MONSTER: 19, SPELL: 11, TRAP: 10}


class OwnCards:
    """The cards of our tables and our own scripts, behind the interface of the core."""

    def card(self, code: int) -> CardData | None:
        known = cards_by_code().get(code)
        return card_data(known) if known else None

    def script(self, name: str) -> bytes | None:
        code = re.fullmatch(r"c(\d+)\.lua", name)
        if code and int(code[1]) in scripted_codes():
            return f"self_table.initial_effect = cards[{code[1]}]".encode()
        return None

    def first_scripts(self) -> Sequence[tuple[str, bytes]]:
        return [(name, text.encode()) for name, text in texts().items()]

    def all_cards(self) -> Iterable[CardData]:
        return [card_data(card) for card in cards_by_code().values()]


def card_data(card: Card) -> CardData:
    """A row of our tables in the format of the core."""
    return CardData(
        card.code, 0, card.types, card.level, card.attribute, card.race, card.attack,
        0 if card.types & LINK else card.defense, markers=card.markers,
    )  # fmt: skip


@functools.cache
def texts() -> dict[str, str]:
    """The scripts by the names of their files."""
    return {name: (FOLDER / name).read_text() for name in FILES}


@functools.cache
def scripted_codes() -> frozenset[int]:
    """The codes of the cards that have a script."""
    found = [re.findall(r"^cards\[(\d+)\] =", text, re.MULTILINE) for text in texts().values()]
    return frozenset(int(code) for codes in found for code in codes)


@functools.cache
def playable(kind: str, part: str) -> tuple[Card, ...]:
    """The cards that duels of this kind may use, for one part of a deck."""
    cards = [card for card in cards_by_code().values() if kind_of(card) == part]
    return tuple(card for card in cards if is_plain(card) or (kind == SCRIPTED and card.code in scripted_codes()))


def is_plain(card: Card) -> bool:
    """Whether a card is a monster without effects, which needs no script."""
    return kind_of(card) == MONSTER and bool(card.types & NORMAL)


def random_deck(kind: str, rng: random.Random) -> Cards:
    """Forty cards with at most three copies of each, in random order; for scripted duels also an extra deck."""
    if kind == PLAIN:
        return Cards(tuple(rng.sample(_copies(playable(kind, MONSTER)), DECK_SIZE)))
    main = [code for part, count in SHARES.items() for code in rng.sample(_copies(playable(kind, part)), count)]
    rng.shuffle(main)
    extra = _copies(playable(kind, EXTRA))
    return Cards(tuple(main), tuple(rng.sample(extra, min(EXTRA_SIZE, len(extra)))))


def _copies(cards: Sequence[Card]) -> list[int]:
    return [card.code for card in cards for _ in range(COPIES)]
