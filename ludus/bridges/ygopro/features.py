"""The columns of card and option rows, in bytes. 16-bit numbers take two columns, high byte first."""

from __future__ import annotations

from ludus.bridges.ygopro.core import CardData

CARD_COLUMNS, ACTION_COLUMNS, HISTORY_COLUMNS, MASK_COLUMNS, GLOBAL_COLUMNS = 41, 12, 14, 14, 23
FACE_DOWN, IS_FACE_DOWN, IS_FACE_UP = 10, 7, 5
LINK = 0x4000000
POSITION_IDS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 8: 6, 10: 7, 12: 8}
TYPES = tuple(1 << bit for bit in range(27) if bit not in (3, 15))
MAX_RACE, MAX_COUNTERS, MAX_LEVEL = 26, 15, 13
MESSAGE_IDS = {
    "idlecmd": 1, "chain": 2, "card": 3, "tribute": 4, "position": 5, "effectyn": 6, "yesno": 7, "battlecmd": 8,
    "unselect_card": 9, "option": 10, "place": 11, "sum": 12, "disfield": 13, "announce_attrib": 14,
    "announce_number": 15, "announce_card": 16, "announce_race": 17, "counter": 18, "hand_sign": 19,
}  # fmt: skip
"""the last three are additions of Ludus; agents trained elsewhere have not seen them"""
SET, REPOSITION, SPECIAL_SUMMON, SUMMON, SUMMON_DOWN, ATTACK, DIRECT_ATTACK, ACTIVATE, CANCEL = range(1, 10)
PLAIN_TEXT, MAX_OWN_TEXTS, FIRST_SYSTEM_TEXT, OTHER_TEXT = 1, 14, 16, 255
SYSTEM_TEXTS = (30, 31, 60, 61, 90, 96, 221, 1068, 1105, 1170, 1171)
SYSTEM_IDS = {text: FIRST_SYSTEM_TEXT + place for place, text in enumerate(SYSTEM_TEXTS)}
FIRST_RACE = FIRST_SYSTEM_TEXT + len(SYSTEM_TEXTS)
"""an announced monster Type shares the column of texts, since it has none of its own"""
MAX_NUMBER = 12
(SPEC, ID_HIGH, ID_LOW, MESSAGE, ACT, FINISH, EFFECT, PHASE, POSITION, NUMBER, PLACE, ATTRIBUTE) = range(12)


def printed_row(card: CardData | None, number: int) -> list[int]:
    """The columns of a card that do not depend on its location."""
    if card is None:
        return [number >> 8, number & 255, *[0] * (CARD_COLUMNS - 2)]
    attack, defense = max(card.attack, 0), 0 if card.types & LINK else max(card.defense, 0)
    return [
        *two_bytes(number), *[0] * 5, lowest_bit_number(card.attribute), min(lowest_bit_number(card.race), MAX_RACE),
        min(card.level, MAX_LEVEL), 0, 0, *two_bytes(attack), *two_bytes(defense),
        *(int(bool(card.types & bit)) for bit in TYPES),
    ]  # fmt: skip


def lowest_bit_number(bits: int) -> int:
    """1 for the lowest bit that is set, 2 for the next, 0 for none."""
    return (bits & -bits).bit_length()


def two_bytes(value: int) -> tuple[int, int]:
    return value % 65536 >> 8, value % 256
