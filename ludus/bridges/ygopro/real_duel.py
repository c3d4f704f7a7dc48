"""A duel in the core as questions and answers, with the position at each question."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from ludus.bridges.ygopro import messages, queries
from ludus.bridges.ygopro.answers import response
from ludus.bridges.ygopro.core import (
    BANISHED,
    DECK,
    EXTRA,
    GRAVE,
    HAND,
    MZONE,
    PLACES,
    SZONE,
    Core,
    Library,
    Setup,
    split_messages,
)
from ludus.bridges.ygopro.declarable_cards import declarable
from ludus.bridges.ygopro.messages import Question
from ludus.types import LudusError

AUTOMATIC = ("sort_card", "sort_chain")
"""questions about an order without effect; the order is left unchanged"""
XYZ, LINK = 0x800000, 0x4000000
Position = dict[tuple[int, int], tuple[queries.Seen | None, ...]]
"""the cards of each player and location"""


class Standing(NamedTuple):
    """The position of a duel, as bytes from the core."""

    turn: int
    phase: int
    places: list[bytes]
    """the results of the queries in `PLACES`"""

    def field(self) -> queries.Field:
        """Life points and chain."""
        return queries.read_field(self.places[0])

    def cards(self) -> Position:
        """All cards, by player and location."""
        told = zip(PLACES[1:], self.places[1:], strict=True)
        return {(place.player, place.location): queries.read_cards(seen) for place, seen in told}


class RealDuel:
    """One duel: get its question, answer with indices of options, read its state."""

    def __init__(self, core: Core, setup: Setup) -> None:
        self.turn = self.turn_player = self.phase = self.damage_step = 0
        self.winner: int | None = None
        self.went_on = False
        """whether the core continued after announcing the winner, so that the position is later than the end"""
        self.reason = 0
        self.random: list[Any] = []
        """random outcomes since the previous question"""
        self.shown: list[tuple[int, list[int]]] = []
        """pairs of a player and a card shown to them since the previous question"""
        self._question: Question | None = None
        self.places: list[bytes] = []
        """the results of the queries in `PLACES`"""
        self.answers: list[bytes] = []
        """all responses to the core, in bytes"""
        self._library, self._near = core.library, setup.codes
        self._duel = core.open(setup)
        self._run(b"")

    def question(self) -> Question | None:
        """The current question; None when the duel is over."""
        return self._question

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose options of the question by index, and continue to the next question."""
        if self._question is None:
            raise LudusError("the duel is over; there is nothing to answer")
        self.give(response(self._question, chosen))

    def give(self, answer: bytes) -> None:
        """Send a response in bytes, as stored in a replay."""
        self._run(answer)

    def standing(self) -> Standing:
        """The position at the current question."""
        return Standing(self.turn, self.phase, self.places)

    def field(self) -> queries.Field:
        """Life points and chain."""
        return self.standing().field()

    def state(self) -> dict[str, Any]:
        """The position in the format of the golden duels."""
        return digest(self)

    def close(self) -> None:
        self._duel.close()

    def _run(self, answer: bytes) -> None:
        self.random, self.shown = [], []
        while True:
            if answer:
                self.answers.append(answer)
            told = self._duel.run(answer)
            self.places, asked = told.places, None
            for message in split_messages(told.messages):
                self._note(message)
                asked = messages.read_question(message) or asked
            if told.over or self.winner is not None:
                self._question = None
                return
            if asked is None:
                raise LudusError("the core sent a question that version 11 does not have; it may be a newer version")
            if asked.message not in AUTOMATIC:
                self._question = complete(asked, self._library, self._near)
                return
            answer = response(asked, ())

    def _note(self, message: bytes) -> None:
        kind = message[0]
        self.went_on = self.winner is not None
        if kind == messages.NEW_TURN:
            self.turn, self.turn_player = self.turn + 1, message[1]
        elif kind == messages.NEW_PHASE:
            self.phase = messages.read_phase(message)
        elif kind in (messages.DAMAGE_STEP_START, messages.DAMAGE_STEP_END):
            self.damage_step = int(kind == messages.DAMAGE_STEP_START)
        elif kind == messages.WIN and self.winner is None:
            self.winner, self.reason = messages.read_winner(message)
        elif kind == messages.CONFIRM_CARDS:
            self.shown += messages.read_confirmed(message)
        elif result := messages.read_random(message):
            self.random.append(result)


def complete(question: Question, library: Library, near: Collection[int]) -> Question:
    """Add the options to a question about declaring a card: matching cards, preferably of this duel."""
    if question.message != "announce_card":
        return question
    return question._replace(options=declarable(library.all_cards(), question.facts["condition"], near))


def digest(duel: RealDuel) -> dict[str, Any]:
    """The position in the format of the golden duels."""
    standing = duel.standing()
    field, cards = standing.field(), standing.cards()

    def codes(where: int) -> list[list[int]]:
        return [[card.code for card in cards[player, where] if card] for player in (0, 1)]

    chain = [[*link[:4], messages.text(link.description)] for link in field.chain]
    return {
        "lp": list(field.points), "turn": duel.turn, "tp": duel.turn_player, "ph": duel.phase, "ds": duel.damage_step,
        "m": [[_monster(card) for card in cards[player, MZONE]] for player in (0, 1)],
        "s": [[_spell(card) for card in cards[player, SZONE]] for player in (0, 1)],
        "h": codes(HAND), "g": codes(GRAVE),
        "b": [[[card.code, card.position] for card in cards[player, BANISHED] if card] for player in (0, 1)],
        "x": [sorted(extra) for extra in codes(EXTRA)], "d": [len(deck) for deck in codes(DECK)],
        "dc": [zlib.crc32(struct.pack(f"<{len(deck)}I", *deck)) for deck in codes(DECK)], "ch": chain,
    }  # fmt: skip


def _monster(card: queries.Seen | None) -> list[Any] | None:
    if card is None:
        return None
    level, defense = (0, 0) if card.types & LINK else (card.level, card.defense)
    counters = [list(pair) for pair in card.counters]
    return [
        card.code,
        card.position,
        card.attack,
        defense,
        level,
        counters,
        list(card.overlays),
        card.owner,
        int(card.negated),
    ]


def _spell(card: queries.Seen | None) -> list[Any] | None:
    if card is None:
        return None
    equipped = list(card.equipped_to) if card.equipped_to else 0
    return [card.code, card.position, [list(pair) for pair in card.counters], card.owner, int(card.negated), equipped]
