"""The interface of a core, however it is run: open a duel, run it to the next question, query its state.

`NativeCore` loads the user's libocgcore into this process, `NodeCore` talks to ocgcore-wasm in Node. Both pass on the
bytes of the core unchanged, so the code that reads and writes them is shared.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ludus.bridges.ygopro.queries import BRIEF, FULL, VALUES
from ludus.types import Array

MAJOR = 11
"""the supported version of the OCG_* interface"""
MASTER_RULE_5, PSEUDO_SHUFFLE = 0x2E800, 0x10
WIN, CHAIN = b"\x05", b"\x10"
"""the first byte of these messages"""
PASS = struct.pack("<i", -1)
DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA = LOCATIONS = (1, 2, 4, 8, 16, 32, 64)
WHAT = {HAND: VALUES, MZONE: FULL, SZONE: FULL}


class Cards(NamedTuple):
    """The cards of one player; the last card of the main deck is the top one."""

    main: tuple[int, ...]
    extra: tuple[int, ...] = ()


class Setup(NamedTuple):
    """The start of a duel: decks, seed and rules."""

    decks: tuple[Cards, Cards]
    seed: tuple[int, int, int, int]
    flags: int = MASTER_RULE_5
    points: int = 8000
    opening: int = 5
    draws: int = 1

    @property
    def codes(self) -> set[int]:
        """All cards of both decks."""
        return {code for deck in self.decks for codes in deck for code in codes}


class Place(NamedTuple):
    """A query: player, location (0 for the whole field) and what to return (QUERY_* bits)."""

    player: int
    location: int
    what: int


PLACES = (Place(0, 0, 0), *(Place(player, where, WHAT.get(where, BRIEF)) for player in (0, 1) for where in LOCATIONS))
"""all queries; of piles, only the codes and positions of cards"""


class Library(Protocol):
    """The data that a core reads: cards by code, scripts by name."""

    def card(self, code: int) -> CardData | None: ...
    def script(self, name: str) -> bytes | None: ...
    def first_scripts(self) -> Sequence[tuple[str, bytes]]:
        """Names and contents of the scripts that every duel loads before its cards."""

    def all_cards(self) -> Iterable[CardData]: ...


class CardData(NamedTuple):
    """The data of a card in cards.cdb."""

    code: int
    alias: int
    types: int
    level: int
    attribute: int
    race: int
    attack: int
    defense: int
    left_scale: int = 0
    right_scale: int = 0
    markers: int = 0
    sets: tuple[int, ...] = ()


class Told(NamedTuple):
    """The output of a core between two questions, and the state of the duel then."""

    over: bool
    messages: bytes
    places: list[bytes]
    """the results of the queries in `PLACES`"""


class Duel(Protocol):
    """One duel inside a core."""

    number: int
    """the core's identifier of the duel"""

    def run(self, response: bytes = b"") -> Told:
        """Send a response and process until there is a choice; then run all queries in `PLACES`."""

    def look(self) -> Told:
        """The current results of all queries in `PLACES`, without messages."""

    def close(self) -> None: ...


class Core(Protocol):
    """A real core."""

    version: tuple[int, int]
    library: Library
    log: list[str]
    """log messages of the core, newest last"""

    def open(self, setup: Setup) -> Duel: ...
    def play(self, tables: Array, which: Array, eyes: Any) -> int:
        """Send the answers in `tables[which]` to many duels and read their output; `eyes` is an `observations.Eyes`.

        Only locations that may have changed are queried. Returns the number of non-simple questions.
        """

    def close(self) -> None: ...


def split_messages(messages: bytes) -> Iterator[bytes]:
    """The messages one by one; the first byte of each is its type."""
    at = 0
    while at < len(messages):
        end = at + 4 + int.from_bytes(messages[at : at + 4], "little")
        yield messages[at + 4 : end]
        at = end


def last_message(messages: bytes) -> bytes:
    """The last message; empty if there is none."""
    start, at = 0, 0
    while at < len(messages):
        start = at + 4
        at = start + int.from_bytes(messages[at:start], "little")
    return messages[start:]


def offers_nothing(message: bytes) -> bool:
    """Whether this is a chain prompt without options, which the core sends at every window."""
    return message[:1] == CHAIN and message[3] == 0 and message[12:16] == b"\0\0\0\0"
