"""Deck legality: known cards, main or extra deck, at most three copies, and deck sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ludus.games.duel.stages import EXTRA, STAGES, TOKEN, cards_by_code, cards_of_stage, kind_of
from ludus.types import LudusError

FEWEST, MOST, MOST_EXTRA, MOST_SIDE, COPIES = 40, 60, 15, 15, 3


class Entry(NamedTuple):
    """A card of a deck, and its line in the file."""

    part: str
    """main, extra or side"""
    code: int
    line: int = 0
    """line in the file; 0 if there is no file"""


def check_entries(entries: Sequence[Entry], name: str) -> None:
    """Raise an error if the deck is not legal."""
    check_known(entries, name)
    _check_places(entries, name)
    _check_copies(entries, name)
    _check_sizes(entries, name)


def check_known(entries: Iterable[Entry], name: str) -> None:
    """Raise an error for unknown cards and tokens."""
    known = cards_by_code()
    for entry in entries:
        where = _where(entry, name)
        if entry.code not in known:
            choice = len(cards_of_stage(STAGES[-1]))
            raise LudusError(f"{where}: card {entry.code} is unknown; use one of the {choice} cards of this game")
        if kind_of(known[entry.code]) == TOKEN:
            raise LudusError(
                f"{where}: {_card_name(entry.code)} is a token; a deck cannot contain tokens, so remove it"
            )


def _check_places(entries: Iterable[Entry], name: str) -> None:
    known = cards_by_code()
    for entry in entries:
        is_extra = kind_of(known[entry.code]) == EXTRA
        if entry.part == "main" and is_extra:
            raise LudusError(
                f"{_where(entry, name)}: {_card_name(entry.code)} belongs in the extra deck; move it below #extra"
            )
        if entry.part == "extra" and not is_extra:
            raise LudusError(
                f"{_where(entry, name)}: {_card_name(entry.code)} belongs in the main deck; move it below #main"
            )


def _check_copies(entries: Iterable[Entry], name: str) -> None:
    copies: Counter[int] = Counter()
    for entry in entries:
        copies[entry.code] += 1
        if copies[entry.code] > COPIES:
            raise LudusError(
                f"{_where(entry, name)}: {_card_name(entry.code)} appears {copies[entry.code]} times; "
                f"a deck has at most {COPIES} copies of a card in all its parts together"
            )


def _check_sizes(entries: Iterable[Entry], name: str) -> None:
    sizes = Counter(entry.part for entry in entries)
    if not FEWEST <= sizes["main"] <= MOST:
        raise LudusError(f"{name}: the main deck has {sizes['main']} cards; it must have {FEWEST} to {MOST}")
    for part, most in (("extra", MOST_EXTRA), ("side", MOST_SIDE)):
        if sizes[part] > most:
            raise LudusError(f"{name}: the {part} deck has {sizes[part]} cards; it must have at most {most}")


def _where(entry: Entry, name: str) -> str:
    return f"{name}, line {entry.line}" if entry.line else name


def _card_name(code: int) -> str:
    return f"{cards_by_code()[code].name} ({code})"
