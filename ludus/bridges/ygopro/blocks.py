"""The cards of one place as rows of an observation, kept by the bytes of the core: what stays is not read again."""

from __future__ import annotations

import functools
from typing import NamedTuple, Protocol

import numpy as np

from ludus.bridges.ygopro import features, queries
from ludus.bridges.ygopro.core import DECK, HAND, MZONE, SZONE, CardData
from ludus.bridges.ygopro.features import CARD_COLUMNS, FACE_DOWN, MASK_COLUMNS
from ludus.bridges.ygopro.queries import Seen
from ludus.types import Array

UNKNOWN = CardData(0, 0, 0, 0, 0, 0, 0, 0)
CHANGING = (HAND, MZONE, SZONE)
"""places where cards have other values than those printed on them"""


class Cards(Protocol):
    """What is known of cards: `library.Files`."""

    @property
    def numbers(self) -> dict[int, int]: ...
    def card(self, code: int) -> CardData | None: ...


class Block(NamedTuple):
    """The rows of one place."""

    rows: Array
    mask: Array
    """which features the player really sees"""
    places: list[tuple[int, ...]]
    """the sequence of each row, and its number in the pile for a card below another"""
    known: list[bool]
    """whether the player knows the card"""
    cards: int
    """cards that lie there, without those below others"""


class Line(NamedTuple):
    """A card before it is a row."""

    card: Seen
    place: tuple[int, ...]


class Blocks:
    """Makes blocks; `all_seeing` writes hidden cards too, and only the mask tells them."""

    def __init__(self, cards: Cards, all_seeing: bool) -> None:
        self._cards, self._numbers, self._all_seeing = cards, cards.numbers, all_seeing
        self.of = functools.lru_cache(8192)(self._make)
        self._row = functools.lru_cache(65536)(self._make_row)
        self._printed = functools.lru_cache(65536)(self._make_printed)

    def _make(self, told: bytes, location: int, mine: bool, shown: frozenset[int]) -> Block:
        """The block of a place; `shown` are the cards there that were just shown to the player."""
        lines = self._lines(told, location)
        if location == DECK:
            # The order of a deck is nobody's to know.
            lines.sort(key=lambda line: self._numbers.get(line.card.code, 0))
        known = [mine or _is_open(line, location) or line.place[0] in shown for line in lines]
        rows = [self._row(line, location, mine, sees) for line, sees in zip(lines, known, strict=True)]
        masks = [self._mask(sees, location) for sees in known] if self._all_seeing else []
        return Block(
            _stack(rows, CARD_COLUMNS), _stack(masks, MASK_COLUMNS), [line.place for line in lines], known,
            sum(len(line.place) == 1 for line in lines),
        )  # fmt: skip

    def _lines(self, told: bytes, location: int) -> list[Line]:
        if location not in CHANGING:
            codes, positions = (numbers.tolist() for numbers in queries.read_pile(told))
            pairs = zip(codes, positions, strict=True)
            return [Line(self._printed(code, position), (at,)) for at, (code, position) in enumerate(pairs)]
        lines: list[Line] = []
        for at, card in enumerate(queries.read_cards(told)):
            if card:
                lines.append(Line(card, (at,)))
                lines += [Line(self._printed(code, 1), (at, below)) for below, code in enumerate(card.overlays)]
        return lines

    def _make_row(self, line: Line, location: int, mine: bool, sees: bool) -> Array:
        card, sequence = line.card, line.place[0]
        if not (sees or self._all_seeing):
            return np.array(features.hidden_row(card, location, sequence), np.uint8)
        number, overlay = self._numbers.get(card.code, 0), len(line.place) > 1
        return np.array(features.card_row(card, number, location, sequence, mine, overlay), np.uint8)

    def _make_printed(self, code: int, position: int) -> Seen:
        return features.printed(self._cards.card(code) or UNKNOWN, position)

    def _mask(self, sees: bool, location: int) -> list[int]:
        return [1] * MASK_COLUMNS if sees else features.hidden_mask(location)


def _is_open(line: Line, location: int) -> bool:
    """Whether everybody sees the card: face-up, in a public hand, or below another card."""
    if len(line.place) > 1 or line.card.public:
        return True
    return location not in (DECK, HAND) and not line.card.position & FACE_DOWN


def _stack(rows: list[Array] | list[list[int]], columns: int) -> Array:
    block = np.array(rows, np.uint8).reshape(len(rows), columns)
    block.flags.writeable = False
    return block
