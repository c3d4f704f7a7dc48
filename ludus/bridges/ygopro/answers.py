"""Responses to the core in its byte format, from the indices of the chosen options."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ludus.bridges.ygopro.messages import IDLE_GROUPS, Question
from ludus.types import LudusError

IDLE_KINDS = {kind: number for number, kind in enumerate((*IDLE_GROUPS, "bp", "ep"))}
BATTLE_KINDS = {"act": 0, "attack": 1, "m2": 2, "ep": 3}
WORD = struct.Struct("<i")


def response(question: Question, chosen: Sequence[int]) -> bytes:
    """The response in bytes; an empty choice cancels, finishes or passes if the question allows it."""
    if any(index not in range(len(question.options)) for index in chosen):
        raise LudusError(f"{list(chosen)} was not offered; {question.message} has {len(question.options)} options")
    return WRITERS[question.message](question, chosen)


def _command(question: Question, chosen: Sequence[int]) -> bytes:
    """The group of the option and its number within the group."""
    kinds = IDLE_KINDS if question.message == "idlecmd" else BATTLE_KINDS
    kind = question.options[chosen[0]][0]
    number = sum(option[0] == kind for option in question.options[: chosen[0]])
    return WORD.pack(kinds[kind] | number << 16)


def _index(question: Question, chosen: Sequence[int]) -> bytes:
    return WORD.pack(chosen[0])


def _chain(question: Question, chosen: Sequence[int]) -> bytes:
    passes = not chosen or question.options[chosen[0]] == ["pass"]
    return WORD.pack(-1 if passes else chosen[0])


def _cards(question: Question, chosen: Sequence[int]) -> bytes:
    if not chosen and (question.facts.get("cancel") or question.message == "card"):
        return WORD.pack(-1)
    return struct.pack(f"<iI{len(chosen)}I", 0, len(chosen), *chosen)


def _unselect(question: Question, chosen: Sequence[int]) -> bytes:
    stops = not chosen or len(question.options[chosen[0]]) == 1
    return WORD.pack(-1) if stops else struct.pack("<ii", 1, chosen[0])


def _places(question: Question, chosen: Sequence[int]) -> bytes:
    return b"".join(bytes(question.options[index]) for index in chosen)


def _value(question: Question, chosen: Sequence[int]) -> bytes:
    return WORD.pack(question.options[chosen[0]])


def _bits(form: str) -> Callable[[Question, Sequence[int]], bytes]:
    return lambda question, chosen: struct.pack(form, sum(question.options[index] for index in chosen))


def _counters(question: Question, chosen: Sequence[int]) -> bytes:
    """The number of counters from each card; each index is repeated once per counter."""
    counts = [list(chosen).count(index) for index in range(len(question.options))]
    return struct.pack(f"<{len(counts)}H", *counts)


def _order(question: Question, chosen: Sequence[int]) -> bytes:
    """The rank of each card in the chosen order; an empty choice leaves the order unchanged."""
    if not chosen:
        return b"\xff"
    rank = {index: number for number, index in enumerate(chosen)}
    return bytes(rank[index] for index in range(len(question.options)))


WRITERS: dict[str, Callable[[Question, Sequence[int]], bytes]] = {
    "idlecmd": _command, "battlecmd": _command, "chain": _chain, "effectyn": _index, "yesno": _index, "option": _index,
    "card": _cards, "tribute": _cards, "sum": _cards, "unselect_card": _unselect, "place": _places,
    "disfield": _places, "position": _value, "counter": _counters, "sort_card": _order, "sort_chain": _order,
    "announce_race": _bits("<Q"), "announce_attrib": _bits("<I"), "announce_number": _index, "announce_card": _value,
    "hand_sign": _value,
}  # fmt: skip
