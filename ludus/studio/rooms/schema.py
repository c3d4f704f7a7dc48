"""The commands of a room and their fields, checked before a command reaches the room's thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard

from ludus.types import JsonObject, LudusError

SLOWEST, FASTEST = 0.05, 16.0
MOST_NUMBERS, MOST_SEATS = 64, 64
Check = Callable[[object], bool]


def whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value < high


def number(low: float, high: float) -> Check:
    return lambda value: _is_number(value) and low <= value <= high


def _is_number(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def _switch(value: object) -> bool:
    return isinstance(value, bool)


def _names(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MOST_SEATS and all(isinstance(name, str) for name in value)


def _numbers(value: object) -> bool:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_NUMBERS:
        return False
    return all(_is_number(one) and math.isfinite(one) for one in value)


FIELDS: dict[str, dict[str, tuple[bool, Check, str]]] = {
    "act": {
        "action": (True, whole(0, 2**31), "the number of a move"),
        "move": (True, whole(0, 2**31), "the number of moves played when it was chosen"),
    },
    "undo": {}, "hint": {}, "tick": {},
    "again": {"seed": (False, whole(0, 2**63), "a whole number from 0 to 2^63 - 1")},
    "set": {
        "speed": (False, number(SLOWEST, FASTEST), f"a number from {SLOWEST} to {FASTEST:g}"),
        "paused": (False, _switch, "true or false"), "ghost": (False, _switch, "true or false"),
        "imagine": (False, _switch, "true or false"), "swarm": (False, whole(1, 2**31), "a whole number from 1"),
        "seats": (False, _names, "the names of the players in a list"),
    },
    "control": {"hands": (True, lambda value: value in ("person", "agent"), "person or agent")},
    "input": {"action": (True, _numbers, "numbers in a list")},
}  # fmt: skip
"""for each command its fields: whether required, the check, and a description of valid values"""


def checked(message: JsonObject) -> JsonObject:
    """The command without the name of the room; raises LudusError if it is unknown or malformed."""
    do = message.get("do")
    if not isinstance(do, str) or do not in FIELDS:
        raise LudusError(f"unknown command {do!r:.40}; the commands of a room are {', '.join(FIELDS)}")
    fields, given = FIELDS[do], {name: value for name, value in message.items() if name not in ("do", "room")}
    for name in given:
        if name not in fields:
            raise LudusError(f'"{do}" has no field "{name[:40]}"; it has {", ".join(fields) or "none"}')
    for name, (needed, check, words) in fields.items():
        if (needed and name not in given) or (name in given and not check(given[name])):
            raise LudusError(f'"{name}" of "{do}" should be {words}, not {given.get(name)!r:.60}')
    return {"do": do, **given}
