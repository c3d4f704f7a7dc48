"""One duel in a core as Python objects: its questions, the answers to them, and the position at each question."""

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
    QUERIES,
    SZONE,
    Core,
    Library,
    Setup,
    split_messages,
)
from ludus.bridges.ygopro.declarable_cards import declarable
from ludus.bridges.ygopro.messages import Question
from ludus.types import JsonObject, LudusError

AUTOMATIC = ("sort_card", "sort_chain")
"""questions about an order that has no effect on the game; they are answered automatically, with the order unchanged"""
XYZ, LINK = 0x800000, 0x4000000
CardsByLocation = dict[tuple[int, int], tuple[queries.Seen | None, ...]]
"""the cards of each player and location"""


class Position(NamedTuple):
    """The position of a duel, as query results of the core."""

    turn: int
    phase: int
    query_results: list[bytes]
    """the results of the queries in `QUERIES`"""

    def field(self) -> queries.Field:
        """Life points and chain."""
        return queries.read_field(self.query_results[0])

    def cards(self) -> CardsByLocation:
        """All cards, by player and location."""
        pairs = zip(QUERIES[1:], self.query_results[1:], strict=True)
        return {(query.player, query.location): queries.read_cards(result) for query, result in pairs}


class RealDuel:
    """One duel: get its question, answer with indices of options, read its state."""

    def __init__(self, core: Core, setup: Setup) -> None:
        self.turn = self.turn_player = self.phase = self.damage_step = 0
        self.winner: int | None = None
        self.continued_after_win = False
        """whether the core continued after announcing the winner, so that the position is later than the end"""
        self.reason = 0
        self.random: list[Any] = []
        """random outcomes since the previous question"""
        self.shown: list[tuple[int, list[int]]] = []
        """pairs of a player and a card shown to them since the previous question"""
        self._question: Question | None = None
        self.query_results: list[bytes] = []
        """the results of the queries in `QUERIES`"""
        self.answers: list[bytes] = []
        """all responses to the core, in bytes"""
        self._library, self._deck_codes = core.library, setup.codes
        self._duel = core.open(setup)
        self._run(b"")

    def question(self) -> Question | None:
        """The current question; None when the duel is over."""
        return self._question

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose options of the question by index, and continue to the next question."""
        if self._question is None:
            raise LudusError("the duel is over; there is nothing to answer")
        self.send(response(self._question, chosen))

    def send(self, answer: bytes) -> None:
        """Send a response in bytes, as stored in a replay."""
        self._run(answer)

    def position(self) -> Position:
        """The position at the current question."""
        return Position(self.turn, self.phase, self.query_results)

    def field(self) -> queries.Field:
        """Life points and chain."""
        return self.position().field()

    def state(self) -> JsonObject:
        """The position in the format of the golden duels."""
        return golden_state(self)

    def close(self) -> None:
        self._duel.close()

    def _run(self, answer: bytes) -> None:
        self.random, self.shown = [], []
        while True:
            if answer:
                self.answers.append(answer)
            output = self._duel.run(answer)
            self.query_results, question = output.query_results, None
            for message in split_messages(output.messages):
                self._read_event(message)
                question = messages.read_question(message) or question
            if output.over or self.winner is not None:
                self._question = None
                return
            if question is None:
                raise LudusError("the core sent a question that version 11 does not have; it may be a newer version")
            if question.message not in AUTOMATIC:
                self._question = complete(question, self._library, self._deck_codes)
                return
            answer = response(question, ())

    def _read_event(self, message: bytes) -> None:
        kind = message[0]
        self.continued_after_win = self.winner is not None
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


def complete(question: Question, library: Library, preferred: Collection[int]) -> Question:
    """Add the options to a question about declaring a card: the matching cards, of `preferred` if any matches."""
    if question.message != "announce_card":
        return question
    return question._replace(options=declarable(library.all_cards(), question.facts["condition"], preferred))


def golden_state(duel: RealDuel) -> JsonObject:
    """The position in the format of the golden duels."""
    position = duel.position()
    field, cards = position.field(), position.cards()

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


def _monster(card: queries.Seen | None) -> list[object] | None:
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


def _spell(card: queries.Seen | None) -> list[object] | None:
    if card is None:
        return None
    equipped = list(card.equipped_to) if card.equipped_to else 0
    return [card.code, card.position, [list(pair) for pair in card.counters], card.owner, int(card.negated), equipped]
