"""Reader of the core's query results for locations and the field."""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

import numpy as np

from ludus.types import Array

CODE, POSITION, TYPE, LEVEL, RANK, ATTRIBUTE, RACE, ATTACK, DEFENSE = (
    0x1,
    0x2,
    0x8,
    0x10,
    0x20,
    0x40,
    0x80,
    0x100,
    0x200,
)
EQUIP, OVERLAYS, COUNTERS, OWNER, STATUS, PUBLIC, LINK = 0x4000, 0x10000, 0x20000, 0x40000, 0x80000, 0x100000, 0x800000
LAST = 0x80
"""the highest byte of the flag that marks the end of a card"""
BRIEF = CODE | POSITION
"""enough for cards whose values do not change"""
VALUES = BRIEF | TYPE | LEVEL | RANK | ATTRIBUTE | RACE | ATTACK | DEFENSE | PUBLIC | LINK
FULL = VALUES | EQUIP | OVERLAYS | COUNTERS | OWNER | STATUS
NEGATED = 0x1 | 0x4000000
"""status bits of a disabled or forbidden card"""
HEAD = struct.Struct("<HI")
BRIEF_CARD = np.dtype([("", "V6"), ("code", "<u4"), ("", "V6"), ("position", "<u4"), ("", "V6")])
"""layout of a card in a BRIEF query"""


class Seen(NamedTuple):
    """A card in a query result; fields that were not queried are 0."""

    code: int
    position: int
    types: int
    level: int
    """level, rank or link rating"""
    attribute: int
    race: int
    attack: int
    defense: int
    public: bool
    equipped_to: tuple[int, int, int] | None
    overlays: tuple[int, ...]
    counters: tuple[tuple[int, int], ...]
    owner: int
    negated: bool


class ChainLink(NamedTuple):
    """A link of the chain, with the location of its activation."""

    controller: int
    location: int
    sequence: int
    code: int
    description: int


class Field(NamedTuple):
    """Life points and the chain so far."""

    points: tuple[int, int]
    chain: tuple[ChainLink, ...]


@functools.lru_cache(4096)
def read_cards(data: bytes) -> tuple[Seen | None, ...]:
    """The cards of one location; None for an empty zone. Cached, since most locations rarely change."""
    cards, at, end = list[Seen | None](), 4, len(data)
    while at < end:
        start = at
        while (size := data[at] | data[at + 1] << 8) and data[at + 5] != LAST:
            at += 2 + size
        at += 2 + size
        cards.append(_read_card(data[start:at]) if size else None)
    return tuple(cards)


def read_pile(data: bytes) -> tuple[Array, Array]:
    """Codes and positions of cards from a BRIEF query of a location."""
    cards = np.frombuffer(data, BRIEF_CARD, offset=4)
    return cards["code"], cards["position"]


@functools.lru_cache(16384)
def _read_card(data: bytes) -> Seen:
    facts, at = dict[int, bytes](), 0
    while at < len(data):
        size, flag = HEAD.unpack_from(data, at)
        facts[flag] = data[at + 6 : at + 2 + size]
        at += 2 + size

    def word(flag: int) -> int:
        return int.from_bytes(facts.get(flag, b"")[:8], "little", signed=flag in (ATTACK, DEFENSE))

    rating = int.from_bytes(facts.get(LINK, b"")[:4], "little")
    counters = tuple((pair & 0xFFFF, pair >> 16) for pair in _words(facts.get(COUNTERS, b"")))
    return Seen(
        word(CODE), word(POSITION), word(TYPE), rating or word(RANK) or word(LEVEL), word(ATTRIBUTE), word(RACE),
        word(ATTACK), word(DEFENSE), bool(word(PUBLIC)), _equipped(facts.get(EQUIP, b"")),
        _words(facts.get(OVERLAYS, b"")), counters, word(OWNER), bool(word(STATUS) & NEGATED),
    )  # fmt: skip


def _equipped(data: bytes) -> tuple[int, int, int] | None:
    if len(data) < 10 or not any(data):
        return None
    controller, location, sequence = struct.unpack_from("<BBI", data)
    return controller, location, sequence


def _words(data: bytes) -> tuple[int, ...]:
    """A count, followed by that many numbers."""
    return struct.unpack_from(f"<{int.from_bytes(data[:4], 'little')}I", data, 4) if data else ()


@functools.lru_cache(256)
def read_field(data: bytes) -> Field:
    """The result of a field query."""
    at, points = 4, list[int]()
    for _ in range(2):
        points.append(struct.unpack_from("<i", data, at)[0])
        at += 4
        for _ in range(15):
            at += 6 if data[at] else 1
        at += 24
    (count,) = struct.unpack_from("<I", data, at)
    rows: list[tuple[int, ...]] = list(struct.iter_unpack("<IBBIIBBIQ", data[at + 4 :]))
    assert len(rows) == count
    chain = tuple(ChainLink(row[5], row[6], row[7], row[0], row[8]) for row in rows)
    return Field((points[0], points[1]), chain)
