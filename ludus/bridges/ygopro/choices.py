"""Questions split into decisions for an agent: one option at a time, at most 24 per page.

Several cards are picked one after another; FINISH ends the selection if fewer are enough. Options that lead back to an
earlier position, cancel and unselecting, are not offered. If there are more options than fit on a page, its last option
turns the page; after the last page comes the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ludus.bridges.ygopro import sums
from ludus.bridges.ygopro.messages import Question

MAX_OPTIONS = 24
FINISH, TURN_PAGE = -1, -2


class Choice(NamedTuple):
    """The current decision."""

    question: Question
    picked: tuple[int, ...] = ()
    page: int = 0

    @property
    def open(self) -> list[int]:
        """The indices of the possible options, including FINISH if allowed; empty when everything is decided."""
        return OPTIONS_BY_MESSAGE.get(self.question.message, _any_one)(self.question, self.picked)

    @property
    def shown(self) -> list[int]:
        """The options on this page, with TURN_PAGE at the end if there are more pages."""
        options = self.open
        if len(options) <= MAX_OPTIONS:
            return options
        start = self.page * (MAX_OPTIONS - 1)
        return [*options[start : start + MAX_OPTIONS - 1], TURN_PAGE]

    def take(self, action: int) -> Choice:
        """The next decision after an option of the page was chosen."""
        taken = self.shown[action]
        if taken == TURN_PAGE:
            pages = -(-len(self.open) // (MAX_OPTIONS - 1))
            return self._replace(page=(self.page + 1) % pages)
        return Choice(self.question, (*self.picked, taken))

    @property
    def answer(self) -> list[int] | None:
        """The picked indices when the decision is complete; None before that."""
        if FINISH in self.picked or not self.open:
            return [index for index in self.picked if index != FINISH]
        return None


def _any_one(question: Question, picked: tuple[int, ...]) -> list[int]:
    return [] if picked else list(range(len(question.options)))


def _yes_or_no(question: Question, picked: tuple[int, ...]) -> list[int]:
    """Yes is offered before no."""
    return [] if picked else [1, 0]


def _cards(question: Question, picked: tuple[int, ...]) -> list[int]:
    fewest, most = question.facts["min"], question.facts["max"]
    if len(picked) == most:
        return []
    free = [index for index in range(len(question.options)) if index not in picked]
    return free + [FINISH] * (len(picked) >= fewest) if free else []


def _tributes(question: Question, picked: tuple[int, ...]) -> list[int]:
    """Tributes: at most `max` cards with a total weight of at least `min`; some monsters count as two."""
    fewest, most, weights = question.facts["min"], question.facts["max"], [option[4] for option in question.options]
    worth, room = sum(weights[index] for index in picked), most - len(picked)
    free = [index for index in range(len(weights)) if index not in picked]
    if room == 0 or not free:
        return []

    def enough(index: int) -> bool:
        others = sorted((weights[other] for other in free if other != index), reverse=True)[: room - 1]
        return worth + weights[index] + sum(others) >= fewest

    return [index for index in free if enough(index)] + [FINISH] * (worth >= fewest)


def _sums(question: Question, picked: tuple[int, ...]) -> list[int]:
    more = sums.may_pick(question, picked)
    return more + [FINISH] * sums.may_finish(question, picked) if more else []


def _unselect(question: Question, picked: tuple[int, ...]) -> list[int]:
    """Cards to add, and finish; cancel only if there is nothing else."""
    if picked:
        return []
    kinds = [option[0] for option in question.options]
    forward = [index for index, kind in enumerate(kinds) if kind in ("sel", "finish")]
    return forward or list(range(len(kinds)))


def _exact_count(question: Question, picked: tuple[int, ...]) -> list[int]:
    if len(picked) == question.facts["count"]:
        return []
    return [index for index in range(len(question.options)) if index not in picked]


def _counters(question: Question, picked: tuple[int, ...]) -> list[int]:
    """One pick per removed counter."""
    if len(picked) == question.facts["count"]:
        return []
    return [index for index, option in enumerate(question.options) if picked.count(index) < option[4]]


OPTIONS_BY_MESSAGE: dict[str, Callable[[Question, tuple[int, ...]], list[int]]] = {
    "effectyn": _yes_or_no, "yesno": _yes_or_no, "card": _cards, "tribute": _tributes, "sum": _sums,
    "unselect_card": _unselect, "place": _exact_count, "disfield": _exact_count, "counter": _counters,
    "announce_race": _exact_count, "announce_attrib": _exact_count,
}  # fmt: skip
