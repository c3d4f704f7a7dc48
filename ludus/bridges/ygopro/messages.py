"""Reader of the core's messages: questions with their options, and the events that an observation needs.

An option is a list as in the golden duels: `["summon", controller, location, sequence, code]`, `["ep"]`, or for a card
to pick `[controller, location, sequence, code]`. An effect is identified by `[code, number of its text]`. An overlay
(a card below another) has 128 added to its location, and its index in the pile as a fifth entry.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from ludus.types import JsonObject, LudusError

MZONE, SZONE, OVERLAY = 4, 8, 128
RETRY, WIN = 1, 5
NEW_TURN, NEW_PHASE, DAMAGE_STEP_START, DAMAGE_STEP_END = 40, 41, 113, 114
CONFIRM_CARDS, SHUFFLE_HAND, RANDOM_SELECTED, TOSS_COIN, TOSS_DICE = 31, 33, 81, 130, 131
MESSAGE_TYPES = frozenset((
    *range(1, 9), *range(10, 17), *range(18, 27), *range(30, 43), 50, *range(53, 57), *range(60, 66), *range(70, 77),
    80, 81, 83, *range(90, 98), 100, 101, 102, *range(110, 115), *range(120, 124), *range(130, 134), *range(140, 144),
    *range(160, 166), 170, 180, 190,
))  # fmt: skip
"""all messages of version 11"""
NAMES = {
    10: "battlecmd", 11: "idlecmd", 12: "effectyn", 13: "yesno", 14: "option", 15: "card", 16: "chain", 18: "place",
    19: "position", 20: "tribute", 21: "sort_chain", 22: "counter", 23: "sum", 24: "disfield", 25: "sort_card",
    26: "unselect_card", 132: "hand_sign", 140: "announce_race", 141: "announce_attrib", 142: "announce_card",
    143: "announce_number",
}  # fmt: skip
"""all questions"""
IDLE_GROUPS = ("summon", "spsummon", "repos", "mset", "sset", "act")

CARD, CARD_SHORT, CARD_DIRECT = struct.Struct("<IBBI"), struct.Struct("<IBBB"), struct.Struct("<IBBBB")
EFFECT, LOCATED, LOCATED_EFFECT = struct.Struct("<IBBIQB"), struct.Struct("<IBBII"), struct.Struct("<IBBIIQB")
TRIBUTE, SUMMAND, COUNTED = struct.Struct("<IBBIB"), struct.Struct("<IBBIII"), struct.Struct("<IBBBH")
SORTED, PLACED, CODE, TEXT = struct.Struct("<IBII"), struct.Struct("<BBII"), struct.Struct("<I"), struct.Struct("<Q")


class Question(NamedTuple):
    """A decision that a player has to make."""

    player: int
    message: str
    options: list[Any]
    facts: JsonObject
    """other data of the question, such as minimum and maximum, with the names of the golden duels"""


class Reader:
    """Reads a message from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 1

    def numbers(self, form: str) -> tuple[int, ...]:
        """The next numbers, in a format of `struct`."""
        values = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return values

    def number(self, form: str) -> int:
        return self.numbers(form)[0]

    def rows(self, row: struct.Struct, count: str = "I") -> list[tuple[int, ...]]:
        """A count, followed by that many rows."""
        length = self.number(count) * row.size
        start, self._at = self._at, self._at + length
        return list(row.iter_unpack(self._data[start : self._at]))


def read_question(message: bytes) -> Question | None:
    """The question in a message, or None if the message is not a question."""
    read = QUESTIONS.get(message[0])
    return read(Reader(message)) if read else None


def text(description: int) -> list[int]:
    """The code of the card that a text belongs to (0 for system texts), and the number of the text."""
    return [description >> 20, description & 0xFFFFF]


def placed(code: int, controller: int, location: int, sequence: int, position: int) -> list[int]:
    """A card with its location; for an overlay, `position` is its index in the pile."""
    card = [controller, location, sequence, code]
    return [*card, position] if location & OVERLAY else card


def read_winner(message: bytes) -> tuple[int, int]:
    """The winner (2 for a draw) and the reason: 1 no life points, 2 no cards to draw."""
    return message[1], message[2]


def read_phase(message: bytes) -> int:
    return int.from_bytes(message[1:3], "little")


def read_random(message: bytes) -> list[object] | None:
    """A random outcome in the format of the golden duels: a shuffled hand, coins, dice, cards picked at random."""
    reader = Reader(message)
    if message[0] == SHUFFLE_HAND:
        return ["hand", reader.number("B"), [code for (code,) in reader.rows(CODE)]]
    if message[0] in (TOSS_COIN, TOSS_DICE):
        player, count = reader.numbers("BB")
        return ["coin" if message[0] == TOSS_COIN else "dice", player, list(reader.numbers(f"{count}B"))]
    if message[0] == RANDOM_SELECTED:
        player = reader.number("B")
        return ["random", player, [[*place[:3], 0] for place in reader.rows(PLACED)]]
    return None


def read_confirmed(message: bytes) -> list[tuple[int, list[int]]]:
    """Pairs of a player and a card that was shown to them."""
    reader = Reader(message)
    player = reader.number("B")
    return [(player, _card(*row)) for row in reader.rows(CARD)]


def _card(code: int, controller: int, location: int, sequence: int) -> list[int]:
    return [controller, location, sequence, code]


def _effect(kind: str, code: int, controller: int, location: int, sequence: int, description: int) -> list[object]:
    return [kind, controller, location, sequence, code, text(description)]


def _idlecmd(read: Reader) -> Question:
    player, options = read.number("B"), list[Any]()
    for kind in IDLE_GROUPS[:-1]:
        options += [[kind, *_card(*row)] for row in read.rows(CARD_SHORT if kind == "repos" else CARD)]
    options += [_effect("act", *row[:5]) for row in read.rows(EFFECT)]
    battle, end, shuffle = read.numbers("BBB")
    options += [["bp"]] * battle + [["ep"]] * end
    return Question(player, "idlecmd", options, {"shuffle": shuffle})


def _battlecmd(read: Reader) -> Question:
    player = read.number("B")
    options: list[Any] = [_effect("act", *row[:5]) for row in read.rows(EFFECT)]
    options += [["attack", *_card(*row[:4]), row[4]] for row in read.rows(CARD_DIRECT)]
    main, end = read.numbers("BB")
    return Question(player, "battlecmd", options + [["m2"]] * main + [["ep"]] * end, {})


def _chain(read: Reader) -> Question:
    player, _, forced, _, _ = read.numbers("BBBII")
    options: list[Any] = []
    for code, controller, location, sequence, position, description, _ in read.rows(LOCATED_EFFECT):
        where = placed(code, controller, location, sequence, position)
        options.append(["chain", *where[:4], text(description), *where[4:]])
    facts = {"forced": forced, "n": len(options)}
    return Question(player, "chain", options + [["pass"]] * (not forced), facts)


def _effectyn(read: Reader) -> Question:
    player = read.number("B")
    card, description = placed(*read.numbers("IBBII")), read.number("Q")
    return Question(player, "effectyn", ["no", "yes"], {"card": card, "desc": text(description)})


def _yesno(read: Reader) -> Question:
    player, description = read.numbers("BQ")
    return Question(player, "yesno", ["no", "yes"], {"desc": text(description)})


def _option(read: Reader) -> Question:
    player = read.number("B")
    return Question(player, "option", [text(row[0]) for row in read.rows(TEXT, "B")], {})


def _pick(read: Reader) -> Question:
    player, cancel, fewest, most = read.numbers("BBII")
    options = [placed(*row) for row in read.rows(LOCATED)]
    return Question(player, "card", options, {"min": fewest, "max": most, "cancel": cancel})


def _tribute(read: Reader) -> Question:
    player, cancel, fewest, most = read.numbers("BBII")
    options = [[*_card(*row[:4]), row[4]] for row in read.rows(TRIBUTE)]
    return Question(player, "tribute", options, {"min": fewest, "max": most, "cancel": cancel})


def _unselect(read: Reader) -> Question:
    player, finish, cancel, fewest, most = read.numbers("BBBII")
    options: list[Any] = [["sel", *placed(*row)] for row in read.rows(LOCATED)]
    options += [["unsel", *placed(*row)] for row in read.rows(LOCATED)]
    options += [["finish"]] if finish else [["cancel"]] * cancel
    return Question(player, "unselect_card", options, {"min": fewest, "max": most, "finish": finish, "cancel": cancel})


def _sum(read: Reader) -> Question:
    player, mode, goal, fewest, most = read.numbers("BBIII")
    must, options = ([_summand(*row) for row in read.rows(SUMMAND)] for _ in range(2))
    facts = {"mode": mode, "sum": goal, "min": fewest, "max": most, "must": must}
    return Question(player, "sum", options, facts)


def _summand(code: int, controller: int, location: int, sequence: int, position: int, values: int) -> list[int]:
    return [controller, location, sequence, code, values & 0xFFFF, values >> 16]


def _place(message: str) -> Callable[[Reader], Question]:
    def read_place(read: Reader) -> Question:
        player, count, taken = read.numbers("BBI")
        options = [zone for bit, zone in enumerate(_zones(player)) if zone[2] < 8 and not taken >> bit & 1]
        return Question(player, message, options, {"count": count})

    return read_place


def _zones(player: int) -> list[list[int]]:
    """The zones by bits of the mask: eight monster zones, of which the last is unused, and eight spell zones."""
    return [[who, where, 99 if (where, zone) == (MZONE, 7) else zone]
            for who in (player, 1 - player) for where in (MZONE, SZONE) for zone in range(8)]  # fmt: skip


def _position(read: Reader) -> Question:
    player, code, positions = read.numbers("BIB")
    return Question(player, "position", [bit for bit in (1, 2, 4, 8) if positions & bit], {"code": code})


def _counter(read: Reader) -> Question:
    player, kind, count = read.numbers("BHH")
    options = [[*_card(*row[:4]), row[4]] for row in read.rows(COUNTED)]
    return Question(player, "counter", options, {"count": count, "kind": kind})


def _sort(message: str) -> Callable[[Reader], Question]:
    def read_sort(read: Reader) -> Question:
        return Question(read.number("B"), message, [_card(*row) for row in read.rows(SORTED)], {})

    return read_sort


def _bits(message: str, form: str) -> Callable[[Reader], Question]:
    def read_bits(read: Reader) -> Question:
        player, count, allowed = read.numbers("BB" + form)
        return Question(player, message, [1 << bit for bit in range(64) if allowed >> bit & 1], {"count": count})

    return read_bits


def _announce_number(read: Reader) -> Question:
    player = read.number("B")
    return Question(player, "announce_number", [row[0] for row in read.rows(TEXT, "B")], {})


def _announce_card(read: Reader) -> Question:
    """The question without options; `real_duel.complete` adds the cards that match the condition."""
    player = read.number("B")
    return Question(player, "announce_card", [], {"condition": [row[0] for row in read.rows(TEXT, "B")]})


def _hand_sign(read: Reader) -> Question:
    return Question(read.number("B"), "hand_sign", [1, 2, 3], {})


def _retry(read: Reader) -> Question:
    raise LudusError("the core rejected an answer that it had offered itself; its version may differ from 11.0")


QUESTIONS: dict[int, Callable[[Reader], Question]] = {
    RETRY: _retry, 10: _battlecmd, 11: _idlecmd, 12: _effectyn, 13: _yesno, 14: _option, 15: _pick, 16: _chain,
    18: _place("place"), 19: _position, 20: _tribute, 21: _sort("sort_chain"), 22: _counter, 23: _sum,
    24: _place("disfield"), 25: _sort("sort_card"), 26: _unselect, 132: _hand_sign, 140: _bits("announce_race", "Q"),
    141: _bits("announce_attrib", "I"), 142: _announce_card, 143: _announce_number,
}  # fmt: skip
