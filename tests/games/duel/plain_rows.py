"""Cards and options as rows of bytes, column by column, in plain Python: the reference for the compiled writers.

Numbers of 16 bits take two columns, the higher first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludus.bridges.ygopro.core import BANISHED, DECK, EXTRA, GRAVE, HAND, MZONE, SZONE, CardData
from ludus.bridges.ygopro.queries import Seen

CARD_COLUMNS, ACTION_COLUMNS, HISTORY_COLUMNS, MASK_COLUMNS, GLOBAL_COLUMNS = 41, 12, 14, 14, 23
FACE_DOWN, IS_FACE_DOWN, IS_FACE_UP = 10, 7, 5
LINK = 0x4000000
LOCATION_IDS = {DECK: 1, HAND: 2, MZONE: 3, SZONE: 4, GRAVE: 5, BANISHED: 6, EXTRA: 7}
POSITION_IDS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 8: 6, 10: 7, 12: 8}
PHASE_IDS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4, 32: 5, 64: 6, 128: 7, 256: 8, 512: 9}
TYPES = tuple(1 << bit for bit in range(27) if bit not in (3, 15))
MOST_RACE, MOST_COUNTERS, MOST_LEVEL = 26, 15, 13
IN_ORDER = (MZONE, SZONE, GRAVE)
"""locations in which the index of a card matters"""
HIDDEN = (DECK, HAND, EXTRA)

MESSAGE_IDS = {
    "idlecmd": 1, "chain": 2, "card": 3, "tribute": 4, "position": 5, "effectyn": 6, "yesno": 7, "battlecmd": 8,
    "unselect_card": 9, "option": 10, "place": 11, "sum": 12, "disfield": 13, "announce_attrib": 14,
    "announce_number": 15, "announce_card": 16, "announce_race": 17, "counter": 18, "hand_sign": 19,
}  # fmt: skip
"""the last three questions exist only here, not in the environment that these ids come from"""
SET, REPOSITION, SPECIAL_SUMMON, SUMMON, SUMMON_DOWN, ATTACK, DIRECT_ATTACK, ACTIVATE, CANCEL = range(1, 10)
ACTS = {
    "sset": SET,
    "repos": REPOSITION,
    "spsummon": SPECIAL_SUMMON,
    "summon": SUMMON,
    "mset": SUMMON_DOWN,
    "act": ACTIVATE,
    "chain": ACTIVATE,
}
PHASES = {"bp": 1, "m2": 2, "ep": 3}
PLAIN_TEXT, MOST_OWN_TEXTS, FIRST_SYSTEM_TEXT, OTHER_TEXT = 1, 14, 16, 255
SYSTEM_TEXTS = (30, 31, 60, 61, 90, 96, 221, 1068, 1105, 1170, 1171)
SYSTEM_IDS = {text: FIRST_SYSTEM_TEXT + place for place, text in enumerate(SYSTEM_TEXTS)}
FIRST_RACE = FIRST_SYSTEM_TEXT + len(SYSTEM_TEXTS)
"""announced types share the column of texts"""
MOST_NUMBER = 12
(SPEC, ID_HIGH, ID_LOW, MESSAGE, ACT, FINISH, EFFECT, PHASE, POSITION, NUMBER, PLACE, ATTRIBUTE) = range(12)


def bit_id(bits: int) -> int:
    """1 for the lowest bit that is set, 2 for the next, 0 for none."""
    return (bits & -bits).bit_length()


def two_bytes(value: int) -> tuple[int, int]:
    return value % 65536 >> 8, value % 256


def effect_id(text: Sequence[int]) -> int:
    """The id of a text: of a card by its line, of the system by its index in the list."""
    code, number = text
    if code:
        return 2 + min(number, MOST_OWN_TEXTS - 1)
    return SYSTEM_IDS.get(number, OTHER_TEXT) if number else PLAIN_TEXT


def place_id(player: int, zone: Sequence[int]) -> int:
    """1 to 7 for own monster zones, 8 to 15 for own spell zones, then the opponent's zones."""
    return 1 + zone[2] + 7 * (zone[1] == SZONE) + 15 * (zone[0] != player)


def printed(card: CardData, position: int) -> Seen:
    """A card with its printed values."""
    values = (card.types, card.level, card.attribute, card.race, card.attack, card.defense)
    return Seen(card.code, position, *values, False, None, (), (), 0, False)


def card_row(card: Seen, number: int, location: int, sequence: int, mine: bool, overlay: bool = False) -> list[int]:
    """All columns of a visible card."""
    defense = 0 if card.types & LINK else card.defense
    counters = sum(count for _, count in card.counters)
    return [
        *two_bytes(number), *place_columns(card, location, sequence, mine, overlay), bit_id(card.attribute),
        min(bit_id(card.race), MOST_RACE), min(card.level, MOST_LEVEL), min(counters, MOST_COUNTERS), int(card.negated),
        *two_bytes(max(card.attack, 0)), *two_bytes(max(defense, 0)), *(int(bool(card.types & bit)) for bit in TYPES),
    ]  # fmt: skip


def place_columns(card: Seen, location: int, sequence: int, mine: bool, overlay: bool = False) -> list[int]:
    """Columns 2 to 6: location, sequence, controller, position, and whether it is a material."""
    if overlay:
        position = IS_FACE_UP
    elif location in HIDDEN:
        position = IS_FACE_DOWN if card.position & FACE_DOWN else 0
    else:
        position = POSITION_IDS.get(card.position, 0)
    where = sequence + 1 if location in IN_ORDER else 0
    return [LOCATION_IDS[location], where, int(not mine), position, int(overlay)]


def hidden_row(card: Seen, location: int, sequence: int) -> list[int]:
    """The columns of a hidden card of the opponent."""
    if location in HIDDEN:
        return [0, 0, LOCATION_IDS[location], 0, 1, *[0] * (CARD_COLUMNS - 5)]
    return [0, 0, *place_columns(card, location, sequence, False), *[0] * (CARD_COLUMNS - 7)]


def hidden_mask(location: int) -> list[int]:
    """Which features of a hidden card are known: its location, and on the field its position."""
    known = (1, 3) if location in HIDDEN else (1, 2, 3, 4, 5)
    return [int(feature in known) for feature in range(MASK_COLUMNS)]


def action_row(message: str) -> list[int]:
    """An action row with only the question set; an action that turns the page has no other columns."""
    row = [0] * ACTION_COLUMNS
    row[MESSAGE] = MESSAGE_IDS[message]
    return row


def of_command(row: list[int], option: Sequence[Any]) -> None:
    """Columns of an idle command, a battle command or a link of a chain."""
    kind = option[0]
    row[PHASE] = PHASES.get(kind, 0)
    if kind in ("act", "chain"):
        row[EFFECT] = effect_id(option[5])
    if kind == "attack":
        row[ACT] = DIRECT_ATTACK if option[5] else ATTACK
    else:
        row[ACT] = CANCEL if kind in ("pass", "cancel") else ACTS.get(kind, 0)
