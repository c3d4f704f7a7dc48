"""The interface of a core: open a duel, run it to the next question, query its state.

`NativeCore` loads the user's libocgcore into this process; `NodeCore` runs ocgcore-wasm in a Node process. Both
pass on the bytes of the core unchanged, so the code that reads and writes them is shared.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ludus.bridges.ygopro.queries import BRIEF, FULL, VALUES
from ludus.types import Array

if TYPE_CHECKING:
    from ludus.bridges.ygopro.observations import Observer

MAJOR = 11
"""the supported version of the OCG_* interface"""
MASTER_RULE_5, PSEUDO_SHUFFLE = 0x2E800, 0x10
WIN, CHAIN = b"\x05", b"\x10"
"""the first byte of these messages"""
PASS = struct.pack("<i", -1)
DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA = LOCATIONS = (1, 2, 4, 8, 16, 32, 64)
FLAGS = {HAND: VALUES, MZONE: FULL, SZONE: FULL}


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


class Query(NamedTuple):
    """A query: player, location (0 for the whole field) and the values to return (QUERY_* bits)."""

    player: int
    location: int
    flags: int


QUERIES = (Query(0, 0, 0), *(Query(player, where, FLAGS.get(where, BRIEF)) for player in (0, 1) for where in LOCATIONS))
"""queries for the whole position; of piles, only the codes and positions of cards"""


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


class Output(NamedTuple):
    """The messages of a core up to the next question, and the position there."""

    over: bool
    messages: bytes
    query_results: list[bytes]
    """the results of the queries in `QUERIES`"""


class Duel(Protocol):
    """One duel inside a core."""

    number: int
    """the core's identifier of the duel"""

    def run(self, response: bytes = b"") -> Output:
        """Send a response and process until there is a choice; then run all queries in `QUERIES`."""

    def query_all(self) -> Output:
        """The current results of all queries in `QUERIES`, without messages."""

    def close(self) -> None: ...


class Core(Protocol):
    """A core that plays duels."""

    version: tuple[int, int]
    library: Library
    log: list[str]
    """log messages of the core, newest last"""

    def open(self, setup: Setup) -> Duel: ...
    def play(self, tables: Array, which: Array, observer: Observer) -> int:
        """Send the answers in `tables[which]` to these duels and read their output into the tables.

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
    """Whether this is a chain prompt without options; the core sends one at every chance to respond."""
    return message[:1] == CHAIN and message[3] == 0 and message[12:16] == b"\0\0\0\0"
