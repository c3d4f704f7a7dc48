"""The real core and another engine play the same duel in step, and the first difference between them is told.

The other engine is asked for three things, in the forms of the golden duels: its question, its state, and to take an
answer. A recorded duel is such an engine too: `Recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ludus.bridges.ygopro.core import Cards, Setup
from ludus.bridges.ygopro.messages import Question

UNORDERED = ("act", "chain", "spsummon")
"""options whose order only the core knows: it goes by the numbers it gave to effects"""
TOLD = ("min", "max", "cancel", "finish", "forced", "count", "sum", "mode", "must", "code", "card", "desc")
"""what besides its options belongs to a question; compared where both tell it"""
FACE_DOWN = 0xA


class Engine(Protocol):
    """Whoever plays the duel beside the core."""

    def question(self) -> Question | None:
        """Who is asked what, with options in the engine's order; None when the duel is over."""

    def state(self) -> dict[str, Any]:
        """The position, as GOLDEN writes it: lp, turn, tp, ph, ds, m, s, h, g, b, x, d, dc, ch."""

    def feed(self, results: list[Any]) -> None:
        """What chance will decide before the next question: ["hand", player, codes], ["coin", player, results], …"""

    def answer(self, chosen: Sequence[int]) -> None:
        """Choose these options, by their indices; none at all cancels."""

    @property
    def winner(self) -> int | None:
        """Of a duel that is over: 0, 1, or 2 for nobody."""


Choose = Callable[[Question], Sequence[int]]
"""which options are taken, as indices into the core's question"""


class Difference(NamedTuple):
    """Where two engines part."""

    what: str
    """player, message, options, facts, a part of the state, or winner"""
    real: Any
    other: Any
    question: Question | None
    """of the core"""


class Comparison(NamedTuple):
    """How far two engines went together."""

    decisions: int
    """in which they agreed"""
    difference: Difference | None
    """the first; None where they agreed to the end"""


class Real(Engine, Protocol):
    """The core's side; `dueling.RealDuel` is one."""

    @property
    def random(self) -> list[Any]: ...


def compare(real: Any, other: Engine, choose: Choose, most: int = 10_000) -> Comparison:
    """Play both until they differ or the duel ends; the core leads, and the other is fed what chance decided there."""
    other.feed(real.random)
    for decisions in range(most):
        question = real.question()
        if found := difference(real, other):
            return Comparison(decisions, found)
        if question is None:
            return Comparison(decisions, None)
        chosen = choose(question)
        beside = other.question()
        assert beside is not None
        matching = translate(question, beside, chosen)
        real.answer(chosen)
        other.feed(real.random)
        other.answer(matching)
    return Comparison(most, None)


def difference(real: Any, other: Engine) -> Difference | None:
    """The first thing in which two engines differ at this moment."""
    mine, theirs = real.question(), other.question()
    if mine is None or theirs is None:
        pairs: dict[str, tuple[Any, Any]] = {
            "over": (mine is None, theirs is None),
            "winner": (real.winner, other.winner),
        }
    else:
        told = [key for key in TOLD if key in mine.facts and key in theirs.facts]
        facts = [[(key, question.facts[key]) for key in told] for question in (mine, theirs)]
        pairs = {
            "player": (mine.player, theirs.player), "message": (mine.message, theirs.message),
            "options": (_comparable(mine), _comparable(theirs)), "facts": (facts[0], facts[1]),
        }  # fmt: skip
    for what, (ours, their) in pairs.items():
        if ours != their:
            return Difference(what, ours, their, mine)
    here, there = real.state(), other.state()
    for part in here:
        if _visible(part, here[part]) != _visible(part, there[part]):
            return Difference(f"state {part}", here[part], there[part], mine)
    return None


def translate(question: Question, other: Question, chosen: Sequence[int]) -> list[int]:
    """The same options where they stand in the other engine's list."""
    free: dict[str, list[int]] = {}
    for index, option in enumerate(other.options):
        free.setdefault(repr(option), []).append(index)
    return [free[repr(question.options[index])].pop(0) for index in chosen]


def _comparable(question: Question) -> list[Any]:
    """The options in order, but those that have none sorted."""

    def is_unordered(option: Any) -> bool:
        return isinstance(option, list) and option[0] in UNORDERED

    unordered = sorted((option for option in question.options if is_unordered(option)), key=repr)
    return unordered + [option for option in question.options if not is_unordered(option)]


def _visible(part: str, value: Any) -> Any:
    """What is compared of a part of the state: hands in any order, and nothing of the values of what lies face-down."""
    if part == "h":
        return [sorted(hand) for hand in value]
    if part == "m":
        return [[_face(monster) for monster in side] for side in value]
    return value


def _face(monster: list[Any] | None) -> list[Any] | None:
    return [*monster[:2], 0, 0, *monster[4:]] if monster and monster[1] & FACE_DOWN else monster


class Recording:
    """A recorded duel, as an engine: it asks what was asked, and whatever is answered it goes on as it did."""

    def __init__(self, duel: dict[str, Any]) -> None:
        self._decisions, self._end, self._at = duel["dec"], duel["end"], 0
        self.winner: int | None = None

    def question(self) -> Question | None:
        if self._at == len(self._decisions):
            return None
        asked = self._decisions[self._at]
        return Question(asked["p"], asked["m"], asked["o"], asked)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = (self._end if self._at == len(self._decisions) else self._decisions[self._at])["s"]
        return state

    def feed(self, results: list[Any]) -> None:
        """Chance is recorded too."""

    def answer(self, chosen: Sequence[int]) -> None:
        self._at += 1
        if self._at == len(self._decisions):
            self.winner = self._end["winner"]

    def choose(self, question: Question) -> Sequence[int]:
        """What was chosen then, by the options' identity."""
        asked = self._decisions[self._at]
        chosen = asked["c"] if isinstance(asked["c"], list) else [asked["c"]]
        beside = self.question()
        assert beside is not None
        return translate(beside, question, chosen)


def setup_of(duel: dict[str, Any]) -> Setup:
    """How a recorded duel begins; its decks lie as they were, and only hands are shuffled."""
    first, second = (Cards(tuple(deck["main"]), tuple(deck["extra"])) for deck in duel["decks"])
    return Setup((first, second), (duel["seed"], 0, 0, 0), duel["flags"], duel["lp"], duel["hand"], duel["draw"])
