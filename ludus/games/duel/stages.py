"""The cards of the game by code, and the stages of difficulty."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from ludus.games.duel.tables import words
from ludus.games.duel.tables.words import Card
from ludus.types import LudusError

STAGES = range(1, 6)
"""1 normal monsters; 2 with simple spells; 3 the starter decks; 4 the Goat decks; 5 every card"""
MONSTER, SPELL, TRAP, EXTRA, TOKEN = "monster", "spell", "trap", "extra", "token"

# fmt: off
_ADDED = {
    2: """1435851 3136426 4031928 4614116 12580477 18144506 19159413 19523799 19613556 25880422 26412047 31036355
         32807846 37120512 42703248 44763025 46130346 46918794 50913601 52097679 53129443 55144522 56747793 59197169
         61854111 63102017 66788016 69162969 70368879 72302403 72892473 79571449 79759861 83746708 83764718 84257639
         86318356 91595718 95281259 97169186 98374133""",
    3: """126218 423705 3819470 4206964 5405694 7089711 11901678 12607053 13215230 13945283 14087893 14315573 15150365
         15259703 16430187 17814387 17985575 23401839 23995346 24068492 24094653 25655502 26202165 26902560 28933734
         31560081 38033121 38369349 40640057 41426869 41462083 43250041 43973174 44095762 44209392 44656491 45231177
         45986603 46461247 50045299 51371017 51482758 53183600 54652250 55761792 57617178 62279055 63519819 64631466
         65169794 65458948 66889139 70046172 71625222 73915051 74137509 77414722 77754944 78010363 78658564 83555666
         83887306 83968380 85742772 87557188 91842653 93013676 93889755 93920745 98045062 98069388 99597615""",
    4: """2134346 2460565 4178474 4335645 4929256 5318639 7572887 8131171 9596126 16226786 18036057 22567609 23205979
         26205777 29401950 31305911 31786629 33184167 33508719 39507162 40619825 41420027 46411259 47507260 51452091
         51945556 53582587 56120475 57839750 60082869 60229110 60806437 70095154 70828912 71044499 71413901 72989439
         74131780 76922029 77585513 79575620 80071763 83011277 84834865 87621407 88240808 94192409 95178994 95956346
         97017120 97077563""",
}
# fmt: on
_STAGE_OF = {int(code): stage for stage, codes in _ADDED.items() for code in codes.split()}


@functools.cache
def cards_by_code() -> Mapping[int, Card]:
    """Every card that the game knows, tokens included."""
    from ludus.games.duel.tables import extra, monsters, spells, traps

    return MappingProxyType({card.code: card for part in (monsters, extra, spells, traps) for card in part.ROWS})


def kind_of(card: Card) -> str:
    """Where a card belongs in a deck: monster, spell, trap, extra or token."""
    if card.types & words.TOKEN:
        return TOKEN
    if card.types & words.EXTRA_DECK:
        return EXTRA
    return MONSTER if card.types & words.MONSTER else SPELL if card.types & words.SPELL else TRAP


def stage_of(card: Card) -> int:
    """The first stage that includes this card."""
    if kind_of(card) == MONSTER and card.types & words.NORMAL:
        return 1
    return _STAGE_OF.get(card.code, STAGES[-1])


def cards_of_stage(stage: int) -> tuple[int, ...]:
    """The codes of all cards that a deck of a stage may hold."""
    if stage not in STAGES:
        raise LudusError(f"there is no stage {stage}; the stages are {STAGES[0]} to {STAGES[-1]}")
    found = cards_by_code().values()
    return tuple(sorted(card.code for card in found if kind_of(card) != TOKEN and stage_of(card) <= stage))
