"""The observation of a request: cards, global numbers and history as rows, as the served model saw them in training.

Hidden cards have only a location and a controller, and on the field a sequence and a position, whatever else a client
sends. Rows are in the order of training, not in that of the request.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

import msgspec
import numpy as np

from ludus.bridges.ygopro import features
from ludus.bridges.ygopro.duel_record import MAX_CARDS, MAX_HISTORY, MAX_OPTIONS
from ludus.server.reference import requests
from ludus.server.reference.encodings import MAX_CODE, Encoding
from ludus.server.reference.problems import RefusedError
from ludus.server.reference.requests import Card, Input
from ludus.types import Array

Spot = tuple[str, str, int, int]
"""where a card is: controller, location, sequence, overlay sequence"""
MAX_SEQUENCE, MAX_TURN, MAX_AGE, MAX_COUNT = 75, 16, 16, 99
NO_OVERLAY = -1
AMBIGUOUS = (0, -1)
SEQUENCED, PILES = ("mzone", "szone", "grave"), ("deck", "hand", "extra")


def ids_of(names: object, first: int = 0) -> dict[str, int]:
    """Numbers for the values of a Literal, in their order."""
    return {name: number for number, name in enumerate(get_args(names), start=first)}


CONTROLLERS, LOCATIONS = ids_of(requests.Controller), ids_of(requests.Location, 1)
POSITIONS, ATTRIBUTES, RACES = ids_of(requests.Position), ids_of(requests.Attribute), ids_of(requests.Race)
TYPES, PHASES = ids_of(requests.Type), ids_of(requests.Phase)


class Past(msgspec.Struct, frozen=True, array_like=True):
    """An action that the player took."""

    row: bytes
    turn: int
    phase: int


class Board(NamedTuple):
    """The cards of a request as rows, and where to find them."""

    rows: Array
    """[160, 41]"""
    spots: Mapping[Spot, tuple[int, int]]
    """the row of a card, counted from 1, and its number; (0, -1) if several cards are said to be at the same place"""
    counts: Sequence[int]
    """own cards by location, then those of the opponent"""


def board_of(cards: Sequence[Card], encoding: Encoding) -> Board:
    """The cards of a request."""
    numbers = [number_of(card.code, encoding) for card in cards]
    order = sorted(range(len(cards)), key=lambda at: _rank(cards[at], numbers[at]))
    counts, spots, rows = [0] * 14, dict[Spot, tuple[int, int]](), list[bytes]()
    for row, at in enumerate(order, start=1):
        card = cards[at]
        rows.append(_row(card, numbers[at], encoding))
        spot = (card.controller, card.location, card.sequence, max(card.overlay_sequence, NO_OVERLAY))
        spots[spot] = AMBIGUOUS if spot in spots else (row, numbers[at])
        if encoding.counts_overlays or card.overlay_sequence < 0:
            counts[7 * CONTROLLERS[card.controller] + LOCATIONS[card.location] - 1] += 1
    data = b"".join(rows).ljust(MAX_CARDS * features.CARD_COLUMNS, b"\0")
    return Board(np.frombuffer(data, np.uint8).reshape(MAX_CARDS, features.CARD_COLUMNS), spots, counts)


def number_of(code: int, encoding: Encoding) -> int:
    """The number of a card; raises RefusedError for a code that is not in the list."""
    try:
        return encoding.number(code)
    except KeyError:
        raise RefusedError(f"Invalid code: {code}") from None


def _rank(card: Card, number: int) -> tuple[int, int, int, int, int]:
    """The order of rows: own cards first, by location; the deck by numbers, since its order is hidden."""
    first = number if card.location == "deck" else 0
    return CONTROLLERS[card.controller], LOCATIONS[card.location], first, card.sequence, card.overlay_sequence


def _row(card: Card, number: int, encoding: Encoding) -> bytes:
    """The 41 columns of a card."""
    hidden = card.code & MAX_CODE == 0 and card.controller == "opponent"
    overlay = card.overlay_sequence >= 0
    sequence = min(max(card.sequence + 1, 0), MAX_SEQUENCE) if card.location in SEQUENCED else 0
    position = POSITIONS["faceup" if overlay else card.position]
    if card.location in PILES and not overlay:
        position = POSITIONS["facedown"] if card.position.startswith("facedown") and not hidden else 0
    place = (LOCATIONS[card.location], sequence, CONTROLLERS[card.controller], position, overlay)
    if hidden and not overlay:
        return bytes((0, 0, *place)).ljust(features.CARD_COLUMNS, b"\0")
    defense = 0 if "link" in card.types and not encoding.wraps_numbers else card.defense
    return bytes((
        number >> 8, number & 255, *place, ATTRIBUTES[card.attribute], RACES[card.race],
        min(max(card.level, 0), features.MAX_LEVEL), min(max(card.counter, 0), features.MAX_COUNTERS), card.negated,
        *two_bytes(card.attack, encoding), *two_bytes(defense, encoding),
    )) + types_row(tuple(card.types))  # fmt: skip


@functools.lru_cache(1024)
def types_row(types: tuple[str, ...]) -> bytes:
    """The columns of types."""
    row = bytearray(len(TYPES))
    for name in types:
        row[TYPES[name]] = 1
    return bytes(row)


def two_bytes(value: int, encoding: Encoding) -> tuple[int, int]:
    """A 16-bit number as two bytes, high byte first."""
    fitting = value % 65536 if encoding.wraps_numbers else min(max(value, 0), 65535)
    return fitting >> 8, fitting & 255


def global_row(seen: Input, counts: Sequence[int], encoding: Encoding) -> Array:
    """The 23 global columns."""
    about = seen.global_
    return np.array([
        *two_bytes(about.my_lp, encoding), *two_bytes(about.op_lp, encoding), min(max(about.turn, 0), MAX_TURN),
        PHASES[about.phase], about.is_first, about.is_my_turn, *(min(count, MAX_COUNT) for count in counts), 0,
    ], np.uint8)  # fmt: skip


def history_rows(history: Sequence[Past], turn: int) -> Array:
    """[32, 14] the player's own actions, newest first."""
    rows = np.zeros((MAX_HISTORY, features.HISTORY_COLUMNS), np.uint8)
    for at, past in enumerate(history[:MAX_HISTORY]):
        rows[at, : features.ACTION_COLUMNS] = np.frombuffer(past.row, np.uint8)
        rows[at, features.SPEC] = 0
        rows[at, features.ACTION_COLUMNS :] = min(max(turn - past.turn, 0), MAX_AGE), past.phase
    return rows


def option_rows(options: Sequence[bytes]) -> Array:
    """[24, 12] the options."""
    data = b"".join(options).ljust(MAX_OPTIONS * features.ACTION_COLUMNS, b"\0")
    return np.frombuffer(data, np.uint8).reshape(MAX_OPTIONS, features.ACTION_COLUMNS)
