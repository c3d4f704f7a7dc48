"""Our rules behind the interface of `lockstep.compare`, for comparison with the real core."""

from __future__ import annotations

from collections.abc import Sequence

from ludus.bridges.ygopro.core import Setup
from ludus.bridges.ygopro.messages import Question
from ludus.games.duel.tools import engine, recorded_duels
from ludus.games.duel import state as words
from ludus.games.duel.text import text
from ludus.games.duel.tools.recorded_duels import RandomResult
from ludus.types import JsonObject

OWN_LINES = 30
"""lines with smaller numbers belong to a card, the others to the game itself"""


class OwnEngine:
    """One duel in our rules, with the random results of the real core."""

    def __init__(self, setup: Setup) -> None:
        self.duel = engine.Duel(setup.decks, setup.points, setup.opening)
        self._begun = False

    @property
    def winner(self) -> int | None:
        state = self.duel.state
        return int(state["winner"]) if state["status"] else None

    def question(self) -> Question | None:
        state = self.duel.state
        if state["status"]:
            return None
        message = words.MESSAGES[state["question"]]
        return Question(int(state["asked"]), message, recorded_duels.options(self.duel), self._facts(message))

    def state(self) -> JsonObject:
        return recorded_duels.digest(self.duel)

    def feed(self, results: Sequence[RandomResult]) -> None:
        self.duel.feed(recorded_duels.random_of({"r": results}))
        if not self._begun:
            self._begun = True
            self.duel.begin()

    def answer(self, chosen: Sequence[int]) -> None:
        self.duel.answer(chosen)

    def position(self) -> str:
        """The field as text."""
        return text(self.duel.state)

    def _facts(self, message: str) -> JsonObject:
        state = self.duel.state
        if message in ("card", "tribute"):
            return {"min": int(state["fewest"]), "max": int(state["most"]), "cancel": int(state["may_cancel"])}
        if message == "sum":
            return {"sum": int(state["goal"])}
        if message == "effectyn":
            return {"card": recorded_duels.card_words(self.duel.columns(), int(state["about"]))}
        return {}
