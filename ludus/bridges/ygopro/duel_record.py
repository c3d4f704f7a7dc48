"""The state of one duel between two questions, as a flat record that compiled rules read and write.

A card is stored as the row that its owner would see; what the opponent may see is decided when it is shown. `viewer` is
the player whose observation currently holds these cards, in `viewed` rows; it is reset when something changes.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.core import CardData
from ludus.bridges.ygopro.stale_zones import ALL
from ludus.dsl import i8, i16, i32, i64, record, u8
from ludus.dsl.rows import new_rows
from ludus.types import Array

MOST_CARDS, MOST_HISTORY, MOST_OPTIONS = 160, 32, 24
"""sizes of the observation"""
MOST_TOLD, MOST_BYTES = 256, 8192
"""maximum number of options of one question, and of the bytes of its message"""
MOST_ANSWER = 8 + 4 * MOST_TOLD
"""bytes of the longest answer: the number of cards and the index of each"""
PLACES = 7
NOBODY_YET = 255
TABLE = record(
    duel=i64, seats=(i8, 2), steps=i32, answer=(u8, MOST_ANSWER), answer_size=i32,
    turn=i32, turn_player=u8, phase=i32, damage_step=u8, winner=u8, points=(i32, 2), over=u8,
    lines=(i16, (2, PLACES)), cards=(i16, (2, PLACES)), order=(i64, MOST_CARDS),
    rows=(u8, (2, PLACES, MOST_CARDS, features.CARD_COLUMNS)), sequence=(u8, (2, PLACES, MOST_CARDS)),
    below=(u8, (2, PLACES, MOST_CARDS)), is_open=(u8, (2, PLACES, MOST_CARDS)),
    viewer=u8, viewed=i16, shown=(u8, (MOST_CARDS, 4)), shown_count=i32, stale=i32, uncounted=i32, resolving=u8,
    player=u8, kind=u8, question=(u8, MOST_BYTES), question_length=i32,
    options=(u8, (MOST_TOLD, features.ACTION_COLUMNS)), option_count=i32, is_simple=u8,
    replies=(i32, MOST_TOLD), reply_form=u8, fewest=i32, most=i32, picks=(i32, MOST_TOLD), pick_count=i32,
    history=(u8, (2, MOST_HISTORY, features.HISTORY_COLUMNS)), history_turn=(i32, (2, MOST_HISTORY)),
)  # fmt: skip


class Cards(Protocol):
    """Card data; implemented by `library.Files`."""

    @property
    def numbers(self) -> dict[int, int]: ...
    def card(self, code: int) -> CardData | None: ...


class Printed(NamedTuple):
    """The printed values of all cards, as arrays for compiled rules."""

    codes: Array
    """[cards] sorted codes"""
    numbers: Array
    """[cards] the card's number in observations"""
    rows: Array
    """[cards, columns] printed rows"""


def printed(cards: Cards) -> Printed:
    """The printed rows of all cards."""
    codes = sorted(cards.numbers)
    rows = [features.printed_row(cards.card(code), cards.numbers[code]) for code in codes]
    shape = (len(codes), features.CARD_COLUMNS)
    return Printed(
        np.array(codes, np.int64), np.array([cards.numbers[code] for code in codes], np.int64),
        np.array(rows, np.uint8).reshape(shape),
    )  # fmt: skip


def new_tables(count: int) -> Array:
    """Tables without a duel."""
    tables = new_rows(count, TABLE)
    tables["winner"] = tables["viewer"] = NOBODY_YET
    tables["viewed"] = MOST_CARDS
    tables["stale"] = tables["uncounted"] = ALL
    return tables
