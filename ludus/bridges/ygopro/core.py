"""What the bridge asks of a real core, whoever runs it: open a duel, run it to the next question, look at it.

`NativeCore` loads the user's libocgcore into this process, `NodeCore` talks to ocgcore-wasm in Node. Both hand over the
bytes of the core as they are, so that messages, answers and observations are read and written in one place for both.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ludus.bridges.ygopro.queries import BRIEF, FULL, VALUES
from ludus.types import Array

MAJOR = 11
"""the version of the OCG_* interface that is spoken here"""
MASTER_RULE_5, PSEUDO_SHUFFLE = 0x2E800, 0x10
WIN, CHAIN = b"\x05", b"\x10"
"""the first byte of these messages"""
PASS = struct.pack("<i", -1)
DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA = LOCATIONS = (1, 2, 4, 8, 16, 32, 64)
WHAT = {HAND: VALUES, MZONE: FULL, SZONE: FULL}


class Cards(NamedTuple):
    """The cards of one player; the last of the main deck is its top."""

    main: tuple[int, ...]
    extra: tuple[int, ...] = ()


class Setup(NamedTuple):
    """How a duel begins."""

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
    """Where to look, and for what (the QUERY_* bits); location 0 is the field as a whole."""

    player: int
    location: int
    what: int


PLACES = (Place(0, 0, 0), *(Place(player, where, WHAT.get(where, BRIEF)) for player in (0, 1) for where in LOCATIONS))
"""all that is looked at: of piles, only which cards are there"""


class Library(Protocol):
    """What a core reads: cards by code, scripts by name."""

    def card(self, code: int) -> CardData | None: ...
    def script(self, name: str) -> bytes | None: ...
    def first_scripts(self) -> Sequence[tuple[str, bytes]]:
        """Names and texts of what every duel loads before its cards."""

    def all_cards(self) -> Iterable[CardData]: ...


class CardData(NamedTuple):
    """A card as cards.cdb tells it."""

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
    """What a core says between two questions, and how the duel stands then."""

    over: bool
    messages: bytes
    places: list[bytes]
    """what there is in each of `PLACES`"""


class Duel(Protocol):
    """One duel inside a core."""

    number: int
    """by which the core knows it"""

    def run(self, response: bytes = b"") -> Told:
        """Answer, and go on until there is something to choose; then look at all of `PLACES`."""

    def look(self) -> Told:
        """All of `PLACES` as they are now, and no messages."""

    def close(self) -> None: ...


class Core(Protocol):
    """A real core."""

    version: tuple[int, int]
    library: Library
    log: list[str]
    """what it complained of, the newest last"""

    def open(self, setup: Setup) -> Duel: ...
    def play(self, tables: Array, which: Array, eyes: Any) -> int:
        """Answer in many duels as `tables[which]` say, and take in what they tell; `eyes` is an `observing.Eyes`.

        Of places only what the player who is asked does not know yet. Told is how many ask what is not simple.
        """

    def close(self) -> None: ...


def split_messages(messages: bytes) -> Iterator[bytes]:
    """One message after another; each begins with the byte that says what it is."""
    at = 0
    while at < len(messages):
        end = at + 4 + int.from_bytes(messages[at : at + 4], "little")
        yield messages[at + 4 : end]
        at = end


def last_message(messages: bytes) -> bytes:
    """The newest of them; nothing where there is none."""
    start, at = 0, 0
    while at < len(messages):
        start = at + 4
        at = start + int.from_bytes(messages[at:start], "little")
    return messages[start:]


def offers_nothing(message: bytes) -> bool:
    """A chain prompt without any option, which the core sends at every window."""
    return message[:1] == CHAIN and message[3] == 0 and message[12:16] == b"\0\0\0\0"
