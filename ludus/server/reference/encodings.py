"""How a served model numbers cards and texts: as Ludus' own duel does, or as the reference project does.

The columns of both observations are the same; `Encoding` lists everything in which their contents differ.
"""

from __future__ import annotations

import pathlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ludus.bridges.ygopro import features
from ludus.games.duel.tables import ROW_OF
from ludus.types import LudusError

MAX_CODE = 2**31 - 1
MAX_NUMBER = 65535
"""card numbers take two columns"""
REFERENCE_TEXTS = (
    *range(1050, 1053), *range(1054, 1065), *range(1066, 1077), 1080, 1081, *range(1150, 1170), *range(1190, 1194),
    1, 30, 31, 80, 81, *range(90, 99), 200, 203, 210, *range(218, 223), 221, 1621, 1622,
)  # fmt: skip
"""system texts in the order in which the reference project numbers them; the second 221 counts"""
REFERENCE_TEXT_IDS = {text: features.FIRST_SYSTEM_TEXT + place for place, text in enumerate(REFERENCE_TEXTS)}
OWN_TEXT_IDS = dict.fromkeys(REFERENCE_TEXTS, features.OTHER_TEXT) | features.SYSTEM_IDS


@dataclass(frozen=True, eq=False)
class Encoding:
    """What the model was trained to see."""

    cards: Mapping[int, int]
    """the number of each known card code"""
    texts: Mapping[int, int]
    """the number of each known system text"""
    names_by_text: bool = False
    """the card of an effect is the one that its text belongs to; otherwise the card itself"""
    names_missing: bool = True
    """a card that is not among the cards has the number of its code; otherwise none"""
    clips_texts: bool = True
    """texts of a card after the 14th count as the 14th; otherwise they are an error"""
    names_position: bool = True
    """options of select_position have the number of their card"""
    activates_options: bool = False
    """options of select_option are marked as activations"""
    counts_overlays: bool = False
    """overlays count as cards of the monster zones"""
    wraps_numbers: bool = False
    """negative and too large numbers wrap around; otherwise they are clipped"""
    pages: bool = True
    """with more than 24 options the last one turns the page; otherwise only the first 24 can be chosen"""
    sees_single: bool = True
    """the model also sees questions with one option, so that its memory includes them"""

    def number(self, code: int) -> int:
        """The number of a card code, 0 for an unknown card; raises KeyError for a code that is not in the list."""
        return self.cards[code & MAX_CODE] if code else 0


def own(codes: Iterable[int] = ()) -> Encoding:
    """The encoding of agents of Ludus: cards of `duel` first; other codes follow in their order, as in duel@ygopro."""
    return Encoding(numbers_of(codes), OWN_TEXT_IDS)


def reference(codes: Collection[int]) -> Encoding:
    """The encoding of models of the reference project that know these cards.

    Cards are numbered as above, because the import of such a model sorts its table of embeddings accordingly.
    """
    numbers = numbers_of(codes)
    return Encoding(
        {0: 0} | {code: numbers[code] for code in codes}, REFERENCE_TEXT_IDS, names_by_text=True, names_missing=False,
        clips_texts=False, names_position=False, activates_options=True, counts_overlays=True, wraps_numbers=True,
        pages=False, sees_single=False,
    )  # fmt: skip


def numbers_of(codes: Iterable[int]) -> dict[int, int]:
    """The numbers of these cards and of those of `duel`, by code."""
    numbers = dict(ROW_OF)
    others, first = sorted(set(codes) - numbers.keys()), max(numbers.values()) + 1
    if first + len(others) > MAX_NUMBER:
        raise LudusError(
            f"the list of codes has {len(others)} cards that duel does not have; at most "
            f"{MAX_NUMBER - first} can be numbered"
        )
    return numbers | {code: number for number, code in enumerate(others, start=first)}


def read_code_list(path: str | pathlib.Path) -> list[int]:
    """The codes in the first column of a file; further columns and empty lines are ignored."""
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LudusError(f"the code list {path} cannot be read: {error}") from None
    codes = []
    for place, line in enumerate(lines, start=1):
        words = line.split()
        if words and not (words[0].isascii() and words[0].isdecimal() and int(words[0]) <= MAX_CODE):
            raise LudusError(f'line {place} of {path} begins with "{words[0][:20]}"; expected the code of a card')
        codes += [int(words[0])] if words else []
    if not codes:
        raise LudusError(f"the code list {path} is empty; it has one card code per line")
    return codes
