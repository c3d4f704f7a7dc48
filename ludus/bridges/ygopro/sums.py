"""Cards that may be picked when levels must add up: exactly to a goal, or to at least the goal with no needless card.

A card may have two alternative values. Only reachable sums are enumerated, not sets of cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ludus.bridges.ygopro.messages import Question

EXACTLY = 0
NOTHING = 10**9
"""the smallest value of an empty set"""


class Sums(NamedTuple):
    """The possible sums of a set of cards."""

    picked: int
    low: int
    """the sum of the smaller values"""
    smallest: int
    """the smallest of the smaller values"""
    high: int
    exact: frozenset[int]
    """all sums over the choices of values"""


def may_finish(question: Question, picked: Sequence[int]) -> bool:
    """Whether these cards, together with the mandatory ones, are an answer."""
    return _is_right(question, _start(question, picked))


def may_pick(question: Question, picked: Sequence[int]) -> list[int]:
    """The cards that can be picked next such that an answer remains possible."""
    free = [index for index in range(len(question.options)) if index not in picked]
    return [index for index in free if _leads_on(question, [*picked, index])]


def _leads_on(question: Question, picked: Sequence[int]) -> bool:
    """Whether these cards are an answer or part of one."""
    reached = {_start(question, picked)}
    if any(_is_right(question, sums) for sums in reached):
        return True
    for index, option in enumerate(question.options):
        if index not in picked:
            reached |= {more for sums in reached if _is_possible(question, more := _add(sums, option))}
    return any(_is_right(question, sums) for sums in reached)


def _start(question: Question, picked: Sequence[int]) -> Sums:
    sums = Sums(0, 0, NOTHING, 0, frozenset([0]))
    for card in question.facts["must"]:
        sums = _add(sums, card)._replace(picked=0)
    for index in picked:
        sums = _add(sums, question.options[index])
    return sums


def _add(sums: Sums, card: Sequence[int]) -> Sums:
    values = [value for value in card[4:6] if value] or [0]
    low, high = min(values), max(values)
    exact = frozenset(total + value for total in sums.exact for value in values)
    return Sums(sums.picked + 1, sums.low + low, min(sums.smallest, low), sums.high + high, exact)


def _is_right(question: Question, sums: Sums) -> bool:
    facts, goal = question.facts, question.facts["sum"]
    if facts["mode"] == EXACTLY:
        return facts["min"] <= sums.picked <= facts["max"] and goal in sums.exact
    return sums.high >= goal > sums.low - sums.smallest


def _is_possible(question: Question, sums: Sums) -> bool:
    """Whether more cards can still lead to an answer: the number of cards and the sums never decrease."""
    facts, goal = question.facts, question.facts["sum"]
    if facts["mode"] == EXACTLY:
        return sums.picked <= facts["max"] and sums.low <= goal
    return sums.low - sums.smallest < goal
