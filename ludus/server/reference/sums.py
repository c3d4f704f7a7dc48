"""Cards whose levels add up exactly: which can be selected next, computed in a bounded time for any request.

`ludus.bridges.ygopro.sums` decides the same for questions of the core, which also ask for *at least* a sum; it stores
every reachable set of sums, which a hostile request could make endless.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from ludus.server.reference.problems import RefusedError

Levels = tuple[int, int]
"""one or two possible levels of a card; 0 for none"""
MOST_CARDS, HIGHEST_SUM = 60, 100


class Limits(Protocol):
    """The part of a message that says what is wanted."""

    @property
    def level_sum(self) -> int: ...
    @property
    def min(self) -> int: ...
    @property
    def max(self) -> int: ...


class Sum(NamedTuple):
    """Select at least `fewest` and at most `most` of the cards, with the sum `goal`."""

    cards: Sequence[Levels]
    must: Sequence[Levels]
    """cards that are counted in any case"""
    goal: int
    fewest: int
    most: int

    @classmethod
    def of(cls, cards: Sequence[Levels], must: Sequence[Levels], limits: Limits) -> Sum:
        """The task of a message; raises RefusedError if it is too large."""
        if len(cards) > MOST_CARDS or not 0 <= limits.level_sum <= HIGHEST_SUM:
            raise RefusedError(
                f"select_sum is supported for at most {MOST_CARDS} cards and sums of 0 to {HIGHEST_SUM}."
            )
        most = min(limits.max, len(cards)) if limits.max > 0 else len(cards)
        return cls(cards, must, limits.level_sum, limits.min, most)


def may_finish(task: Sum, picked: Collection[int]) -> bool:
    """Whether these cards are an answer."""
    return task.fewest <= len(picked) <= task.most and bool(_sums(task, picked) >> task.goal & 1)


def may_pick(task: Sum, picked: Collection[int]) -> set[int]:
    """The cards that can be selected next such that an answer remains possible."""
    free = [card for card in range(len(task.cards)) if card not in picked]
    return {card for card in free if _leads_on(task, [*picked, card], [other for other in free if other != card])}


def _sums(task: Sum, picked: Collection[int]) -> int:
    """The possible sums of cards, as bits."""
    sums = 1
    for levels in [*task.must, *(task.cards[card] for card in picked)]:
        sums = _added(sums, levels, task.goal)
    return sums


def _added(sums: int, levels: Levels, goal: int) -> int:
    """The sums with one more card; a card without a level counts 0."""
    values = {level for level in levels if level > 0} or {0}
    added = 0
    for value in values:
        added |= sums << value if value <= goal else 0
    return added & (1 << goal + 1) - 1


def _leads_on(task: Sum, picked: Sequence[int], free: Sequence[int]) -> bool:
    """Whether these cards are an answer or part of one; `by_count[k]` are the sums with k more cards, as bits."""
    room = task.most - len(picked)
    if room < 0:
        return False
    by_count = [_sums(task, picked), *[0] * room]
    for card in free:
        for count in range(room, 0, -1):
            if by_count[count - 1]:
                by_count[count] |= _added(by_count[count - 1], task.cards[card], task.goal)
    needed = max(task.fewest - len(picked), 0)
    return any(sums >> task.goal & 1 for sums in by_count[needed:])
