"""A run of our engine behind the interface, with what the interface tells and our state does not hold."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ludus.bridges.balatrobot.protocol import BLIND_SELECT, GAME_OVER, PACK, ROUND_EVAL, SELECTING_HAND, SHOP
from ludus.dsl import OVER, PLAYING
from ludus.dsl.cache import interpreted
from ludus.dsl.rows import as_plain
from ludus.games.balatro.actions import SKIP_BLIND
from ludus.games.balatro.state import BOSS, CASHING_OUT, PHASES, SMALL
from ludus.games.balatro.tables import cards
from ludus.pool import Pool
from ludus.types import Array

STATES = (BLIND_SELECT, SELECTING_HAND, ROUND_EVAL, SHOP, PACK)
assert len(STATES) == len(PHASES)


def applied(rule: Callable[..., Any], *arguments: object) -> Any:
    """The result of a rule of the game, run as plain Python, so that nothing is compiled for it."""
    with interpreted():
        return rule(*arguments)


class Run:
    """One run of Balatro."""

    def __init__(
        self, deck: str, stake: str, seed: str = "random", actions: str = "all", endless: str = "yes",
        key: int | None = None,
    ) -> None:  # fmt: skip
        name = f"balatro(deck={deck.lower()}, stake={stake.lower()}, seed={seed}, actions={actions}, endless={endless})"
        self.pool = Pool(name, 1, secrets.randbits(63) if key is None else key, threads=1)
        self.skipped: set[int] = set()
        """blinds of this ante that were skipped: 0 small, 1 big"""

    @functools.cached_property
    def record(self) -> np.void:
        """The state of our engine, a view of the record in the pool."""
        record: np.void = self.pool.states[0]
        return record

    @functools.cached_property
    def plain(self) -> np.void:
        """The same memory, for rules that plain Python runs."""
        plain: np.void = as_plain(self.pool.states)[0]
        return plain

    def by_rule(self, rule: Callable[..., Any], *arguments: object) -> Any:
        """The result of a rule for this state."""
        return applied(rule, self.plain, *arguments)

    @property
    def mask(self) -> Array:
        """[A] the legal actions."""
        mask: Array = self.pool.step.mask[0]
        return mask

    @property
    def over(self) -> bool:
        return bool(self.record["status"] != PLAYING)

    @property
    def state(self) -> str:
        """The name that the interface has for the state of the run."""
        record = self.record
        won_at_the_end = record["status"] == OVER and record["phase"] == CASHING_OUT
        if record["status"] != PLAYING and not won_at_the_end:
            return GAME_OVER
        return STATES[record["phase"]]

    @property
    def hand(self) -> Array:
        """[cards in hand] their numbers."""
        record = self.record
        hand: Array = record["hand"][: record["hand_count"]]
        return hand

    @property
    def selected(self) -> list[int]:
        """The positions of the selected cards."""
        flags = self.record["cards"]["flags"][self.hand]
        return [int(place) for place in np.flatnonzero(flags & cards.SELECTED)]

    @property
    def forced(self) -> list[int]:
        """The positions of cards that a boss forces to be played, at most one."""
        flags = self.record["cards"]["flags"][self.hand]
        return [int(place) for place in np.flatnonzero(flags & cards.FORCED)]

    def take(self, action: int) -> None:
        """Carry out a legal action of our engine."""
        blind = int(self.record["blind"])
        self.pool.advance([action])
        if action == SKIP_BLIND:
            self.skipped.add(blind)
        elif blind == BOSS and self.record["blind"] == SMALL:
            self.skipped.clear()

    def select(self, places: Sequence[int]) -> None:
        """Select exactly these cards of the hand."""
        states = self.pool.states.copy()
        flags, hand = states["cards"]["flags"][0], self.hand
        flags[hand] &= 255 - cards.SELECTED
        flags[hand[list(places)]] |= cards.SELECTED
        self.pool.put(states)

    def put(self, **fields: object) -> None:
        """Set fields of the state."""
        states = self.pool.states.copy()
        for name, value in fields.items():
            states[name][0] = value
        self.pool.put(states)
