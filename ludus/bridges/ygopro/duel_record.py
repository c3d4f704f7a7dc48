"""The state of one duel between two questions, as a flat record that compiled rules read and write.

A card is stored as the row that its owner sees; what the opponent may see is decided when an observation is written.
`viewer` is the player whose observation currently holds these cards, in `viewed` rows; it is NO_PLAYER after a change.
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

MAX_CARDS, MAX_HISTORY, MAX_OPTIONS = 160, 32, 24
"""sizes of the observation"""
MAX_QUESTION_OPTIONS, MAX_QUESTION_BYTES = 256, 8192
"""maximum number of options of one question, and of the bytes of its message"""
MAX_ANSWER = 8 + 4 * MAX_QUESTION_OPTIONS
"""bytes of the longest answer: the number of cards and the index of each"""
LOCATION_COUNT, NO_PLAYER = 7, 255
"""NO_PLAYER is the viewer before an observation is written, and the winner of an unfinished duel"""
TABLE = record(
    duel=i64, seats=(i8, 2), steps=i32, answer=(u8, MAX_ANSWER), answer_size=i32,
    turn=i32, turn_player=u8, phase=i32, damage_step=u8, winner=u8, points=(i32, 2), over=u8,
    lines=(i16, (2, LOCATION_COUNT)), cards=(i16, (2, LOCATION_COUNT)), order=(i64, MAX_CARDS),
    rows=(u8, (2, LOCATION_COUNT, MAX_CARDS, features.CARD_COLUMNS)), sequence=(u8, (2, LOCATION_COUNT, MAX_CARDS)),
    below=(u8, (2, LOCATION_COUNT, MAX_CARDS)), is_open=(u8, (2, LOCATION_COUNT, MAX_CARDS)),
    viewer=u8, viewed=i16, shown=(u8, (MAX_CARDS, 4)), shown_count=i32, stale=i32, uncounted=i32, resolving=u8,
    player=u8, kind=u8, question=(u8, MAX_QUESTION_BYTES), question_length=i32,
    options=(u8, (MAX_QUESTION_OPTIONS, features.ACTION_COLUMNS)), option_count=i32, is_simple=u8,
    replies=(i32, MAX_QUESTION_OPTIONS), reply_form=u8, fewest=i32, most=i32, picks=(i32, MAX_QUESTION_OPTIONS),
    pick_count=i32,
    history=(u8, (2, MAX_HISTORY, features.HISTORY_COLUMNS)), history_turn=(i32, (2, MAX_HISTORY)),
)  # fmt: skip


class Cards(Protocol):
    """Card data; implemented by `library.Files`."""

    @property
    def numbers(self) -> dict[int, int]: ...
    def card(self, code: int) -> CardData | None: ...


class PrintedCards(NamedTuple):
    """The printed values of all cards, as arrays for compiled rules."""

    codes: Array
    """[cards] sorted codes"""
    numbers: Array
    """[cards] the card's number in observations"""
    rows: Array
    """[cards, columns] printed rows"""


def printed_cards(cards: Cards) -> PrintedCards:
    """The printed rows of all cards."""
    codes = sorted(cards.numbers)
    rows = [features.printed_row(cards.card(code), cards.numbers[code]) for code in codes]
    shape = (len(codes), features.CARD_COLUMNS)
    return PrintedCards(
        np.array(codes, np.int64), np.array([cards.numbers[code] for code in codes], np.int64),
        np.array(rows, np.uint8).reshape(shape),
    )  # fmt: skip


def new_tables(count: int) -> Array:
    """Records without a duel."""
    tables = new_rows(count, TABLE)
    tables["winner"] = tables["viewer"] = NO_PLAYER
    tables["viewed"] = MAX_CARDS
    tables["stale"] = tables["uncounted"] = ALL
    return tables
