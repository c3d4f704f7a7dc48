"""The core and another engine play the same duel in lockstep; the first difference between them is reported.

The other engine implements `Engine`, in the formats of the golden duels. A recorded duel is such an engine too:
`Recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ludus.bridges.ygopro.core import Cards, Setup
from ludus.bridges.ygopro.messages import Question
from ludus.types import JsonObject

UNORDERED = ("act", "chain", "spsummon")
"""options whose order is not compared, since it depends on the core's internal effect numbers"""
COMPARED_FACTS = ("min", "max", "cancel", "finish", "forced", "count", "sum", "mode", "must", "code", "card", "desc")
"""facts of a question besides its options; compared if both engines give them"""
FACE_DOWN = 0xA


class Engine(Protocol):
    """An engine that plays the duel alongside the core."""

    def question(self) -> Question | None:
        """The current question, with options in the engine's order; None when the duel is over."""

    def state(self) -> JsonObject:
        """The position in the format of the golden duels: lp, turn, tp, ph, ds, m, s, h, g, b, x, d, dc, ch."""

    def feed(self, results: list[Any]) -> None:
        """Random outcomes before the next question: ["hand", player, codes], ["coin", player, results], …"""

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose these options by index; an empty choice cancels."""

    @property
    def winner(self) -> int | None:
        """The winner of a finished duel: 0, 1, or 2 for a draw."""


Choose = Callable[[Question], Sequence[int]]
"""chooses options, as indices into the core's question"""


class Difference(NamedTuple):
    """The first difference between two engines."""

    what: str
    """player, message, options, facts, a part of the state, or winner"""
    real: object
    other: object
    question: Question | None
    """the core's question"""


class Comparison(NamedTuple):
    """The result of comparing two engines."""

    decisions: int
    """number of decisions in which they agreed"""
    difference: Difference | None
    """the first difference; None if they agreed to the end"""


class RealEngine(Protocol):
    """The core's side; implemented by `real_duel.RealDuel`."""

    continued_after_win: bool
    random: list[Any]
    """random outcomes since the previous question"""
    winner: int | None

    def question(self) -> Question | None: ...
    def state(self) -> JsonObject: ...
    def answer(self, chosen: Sequence[int]) -> None: ...


def compare(real: RealEngine, other: Engine, choose: Choose, most: int = 10_000) -> Comparison:
    """Play both until they differ or the duel ends; the other engine gets the core's random outcomes."""
    other.feed(real.random)
    for decisions in range(most):
        question = real.question()
        if found := difference(real, other):
            return Comparison(decisions, found)
        if question is None:
            return Comparison(decisions, None)
        chosen = choose(question)
        other_question = other.question()
        assert other_question is not None
        matching = translate(question, other_question, chosen)
        real.answer(chosen)
        other.feed(real.random)
        other.answer(matching)
    return Comparison(most, None)


def difference(real: RealEngine, other: Engine) -> Difference | None:
    """The first difference between the current states of two engines."""
    mine, theirs = real.question(), other.question()
    if mine is None or theirs is None:
        pairs: dict[str, tuple[object, object]] = {
            "over": (mine is None, theirs is None),
            "winner": (real.winner, other.winner),
        }
    else:
        shared = [key for key in COMPARED_FACTS if key in mine.facts and key in theirs.facts]
        facts = [[(key, question.facts[key]) for key in shared] for question in (mine, theirs)]
        pairs = {
            "player": (mine.player, theirs.player), "message": (mine.message, theirs.message),
            "options": (_comparable(mine), _comparable(theirs)), "facts": (facts[0], facts[1]),
        }  # fmt: skip
    for what, (ours, their) in pairs.items():
        if ours != their:
            return Difference(what, ours, their, mine)
    if mine is None and real.continued_after_win:
        return None
    here, there = real.state(), other.state()
    for part in here:
        if _visible(part, here[part]) != _visible(part, there[part]):
            return Difference(f"state {part}", here[part], there[part], mine)
    return None


def translate(question: Question, other: Question, chosen: Sequence[int]) -> list[int]:
    """The indices of the same options in the other engine's list."""
    free: dict[str, list[int]] = {}
    for index, option in enumerate(other.options):
        free.setdefault(repr(option), []).append(index)
    return [free[repr(question.options[index])].pop(0) for index in chosen]


def _comparable(question: Question) -> list[object]:
    """The options in order; those without a defined order come first, sorted."""

    def is_unordered(option: object) -> bool:
        return isinstance(option, list) and option[0] in UNORDERED

    unordered = sorted((option for option in question.options if is_unordered(option)), key=repr)
    return unordered + [option for option in question.options if not is_unordered(option)]


def _visible(part: str, value: Any) -> object:
    """The compared part of a state: hands in any order, and face-down monsters without their values."""
    if part == "h":
        return [sorted(hand) for hand in value]
    if part == "m":
        return [[_without_hidden_values(monster) for monster in side] for side in value]
    return value


def _without_hidden_values(monster: list[Any] | None) -> list[Any] | None:
    return [*monster[:2], 0, 0, *monster[4:]] if monster and monster[1] & FACE_DOWN else monster


class Recording:
    """A recorded duel as an engine: it replays the recorded questions, whatever the answers."""

    def __init__(self, duel: JsonObject) -> None:
        self._decisions, self._end, self._at = duel["dec"], duel["end"], 0
        self.winner: int | None = None

    def question(self) -> Question | None:
        if self._at == len(self._decisions):
            return None
        decision = self._decisions[self._at]
        return Question(decision["p"], decision["m"], decision["o"], decision)

    def state(self) -> JsonObject:
        state: JsonObject = (self._end if self._at == len(self._decisions) else self._decisions[self._at])["s"]
        return state

    def feed(self, results: list[Any]) -> None:
        """Ignored: random outcomes are part of the recording."""

    def answer(self, chosen: Sequence[int]) -> None:
        self._at += 1
        if self._at == len(self._decisions):
            self.winner = self._end["winner"]

    def choose(self, question: Question) -> Sequence[int]:
        """The recorded choice, translated to the options of this question."""
        decision = self._decisions[self._at]
        chosen = decision["c"] if isinstance(decision["c"], list) else [decision["c"]]
        recorded = self.question()
        assert recorded is not None
        return translate(recorded, question, chosen)


def setup_of(duel: JsonObject) -> Setup:
    """The setup of a recorded duel; its decks are already in order, and only hands are shuffled."""
    first, second = (Cards(tuple(deck["main"]), tuple(deck["extra"])) for deck in duel["decks"])
    return Setup((first, second), (duel["seed"], 0, 0, 0), duel["flags"], duel["lp"], duel["hand"], duel["draw"])
