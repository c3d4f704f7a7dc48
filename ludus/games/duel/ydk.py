"""Decks: .ydk files, the bundled decks, and random ones.

A `Deck` need not be legal; every deck that these functions read, make or write is checked.
"""

from __future__ import annotations

import difflib
import pathlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ludus.games.duel.legality import COPIES, FEWEST, MOST_EXTRA, Entry, check_entries, check_known
from ludus.games.duel.stages import EXTRA, MONSTER, SPELL, STAGES, TRAP, cards_by_code, cards_of_stage, kind_of
from ludus.files import names_may_be_files
from ludus.types import LudusError

FOLDER = pathlib.Path(__file__).parent / "decks"
MOST_BYTES, MOST_CODE = 64 * 2**10, 2**32 - 1
HEADINGS = {"#main": "main", "#extra": "extra", "!side": "side"}
SHARES = {MONSTER: 22, SPELL: 12, TRAP: 6}
"""of the 40 cards of a random deck"""
TRIBUTE_LEVEL, MOST_TRIBUTES = 5, 6
"""maximum number of monsters that need tributes, so that opening hands are playable"""


class Deck(NamedTuple):
    """The codes of the cards, in the order of the file."""

    main: tuple[int, ...]
    extra: tuple[int, ...] = ()
    side: tuple[int, ...] = ()
    name: str = "deck"


def names() -> list[str]:
    """The names of the bundled decks."""
    return sorted(path.stem for path in FOLDER.glob("*.ydk"))


def named(name: str) -> Deck:
    """A bundled deck."""
    if name in names():
        return read_ydk(FOLDER / f"{name}.ydk")
    close = difflib.get_close_matches(name, names(), 1)
    hint = f'did you mean "{close[0]}"? ' if close else ""
    raise LudusError(f'unknown deck "{name}"; {hint}(there are {", ".join(names())}, and any .ydk file)')


def find_deck(name: str) -> Deck:
    """A deck by its name or file name."""
    if name not in names() and not names_may_be_files():
        known = ", ".join(names())
        raise LudusError(
            f'there is no deck "{name[:40]}"; decks are not read from files here; use {known}, any or random'
        )
    is_file = name not in names() and (name.lower().endswith(".ydk") or pathlib.Path(name).is_file())
    return read_ydk(name) if is_file else named(name)


def read_ydk(path: str | pathlib.Path) -> Deck:
    """The deck in a file, named after it."""
    file = pathlib.Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LudusError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    deck = parse_ydk(data, str(path))
    return deck._replace(name=file.stem)


def parse_ydk(text: str | bytes, name: str = "deck") -> Deck:
    """The deck that the text of a .ydk file describes; `name` is what errors call it."""
    entries = _entries(_plain(text, name), name)
    check_entries(entries, name)
    main, extra, side = (tuple(e.code for e in entries if e.part == part) for part in HEADINGS.values())
    return Deck(main, extra, side, name)


def check(deck: Deck) -> None:
    """Raise an error if the deck is not legal."""
    parts = zip(HEADINGS.values(), deck[:3], strict=True)
    check_entries([Entry(part, int(code)) for part, codes in parts for code in codes], deck.name)


def ydk_text(deck: Deck) -> str:
    """A legal deck as .ydk text; the inverse of `parse_ydk`."""
    check(deck)
    lines = ["#created by ludus"]
    for heading, codes in zip(HEADINGS, deck[:3], strict=True):
        lines += [heading, *map(str, codes)]
    return "\n".join(lines) + "\n"


def write_ydk(deck: Deck, path: str | pathlib.Path) -> None:
    """Write a legal deck to a file."""
    text = ydk_text(deck)
    try:
        pathlib.Path(path).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise LudusError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def random_deck(
    seed: int | np.random.Generator, stage: int = STAGES[-1], pool: Iterable[int] | None = None, name: str = "random"
) -> Deck:
    """A legal deck of 40 cards of a stage, or of a pool of codes: about 22 monsters, 12 spells and 6 traps.

    If there are too few cards of a kind, others are used; the extra deck has up to 15 different cards.
    """
    if isinstance(seed, int) and seed < 0:
        raise LudusError(f"the seed of a random deck is {seed}; it must be 0 or more")
    random = np.random.default_rng(seed)
    codes = cards_of_stage(stage) if pool is None else sorted(set(pool))
    check_known([Entry("pool", code) for code in codes], "the pool")
    piles = {kind: _pile(codes, kind, random) for kind in (*SHARES, EXTRA)}
    extra = list(dict.fromkeys(piles.pop(EXTRA)))[:MOST_EXTRA]
    main = [code for kind, share in SHARES.items() for code in piles[kind][:share]]
    left = [code for kind in (SPELL, TRAP, MONSTER) for code in piles[kind][SHARES[kind] :]]
    if len(main) + len(left) < FEWEST:
        raise LudusError(
            f"the pool has {len(set(main + left))} cards for a main deck, too few for {FEWEST} cards "
            f"with at most {COPIES} of each; give at least {-(-FEWEST // COPIES)}"
        )
    main += left[: FEWEST - len(main)]
    return Deck(tuple(_in_order(main)), tuple(_in_order(extra)), (), name)


def _pile(codes: Sequence[int], kind: str, random: np.random.Generator) -> list[int]:
    """All copies of the cards of a kind, shuffled; surplus monsters that need tributes come last."""
    known = cards_by_code()
    pile = random.permutation(np.repeat([code for code in codes if kind_of(known[code]) == kind], COPIES)).tolist()
    if kind != MONSTER:
        return [int(code) for code in pile]
    heavy = [int(code) for code in pile if known[code].level >= TRIBUTE_LEVEL]
    light = [int(code) for code in pile if known[code].level < TRIBUTE_LEVEL]
    return heavy[:MOST_TRIBUTES] + light + heavy[MOST_TRIBUTES:]


def _in_order(codes: Iterable[int]) -> list[int]:
    """Sort the cards: monsters, spells, traps, each by name."""
    known, kinds = cards_by_code(), (MONSTER, SPELL, TRAP, EXTRA)
    return sorted(codes, key=lambda code: (kinds.index(kind_of(known[code])), known[code].name, code))


def _plain(text: str | bytes, name: str) -> str:
    if len(text) > MOST_BYTES:
        raise LudusError(f"{name} has more than {MOST_BYTES // 2**10} KiB; a .ydk file is a short list of card numbers")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise LudusError(f"{name} is not a .ydk file: byte {error.start} is not UTF-8 text") from None
    if "\0" in text:
        raise LudusError(f"{name} is not a .ydk file: it contains binary data; it should be a list of card numbers")
    return text.removeprefix("\ufeff")


def _entries(text: str, name: str) -> list[Entry]:
    """The cards with their part and line."""
    part, seen, entries = "", set(), []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate((line.strip() for line in lines), start=1):
        where = f"{name}, line {number}"
        if line.lower() in HEADINGS:
            part = HEADINGS[line.lower()]
            if part in seen:
                raise LudusError(f"{where}: {line} appears twice; put all its cards under one heading")
            seen.add(part)
        elif line and not line.startswith("#"):
            entries.append(Entry(part, _code(line, where), number))
            if not part:
                raise LudusError(f"{where}: card {line} comes before #main; begin the list of cards with #main")
    if "main" not in seen:
        raise LudusError(f"{name} has no line #main; a .ydk file lists its cards under #main, #extra and !side")
    return entries


def _code(line: str, where: str) -> int:
    if not (line.isascii() and line.isdigit()):
        shown = line if len(line) <= 40 else f"{line[:40]}…"
        raise LudusError(f"{where}: {shown!r} is not a card number; write one number per line, like 89631139")
    if len(line) > len(str(MOST_CODE)) or not 1 <= int(line) <= MOST_CODE:
        raise LudusError(f"{where}: {line[:40]} is out of range; card numbers are 1 to {MOST_CODE}")
    return int(line)
