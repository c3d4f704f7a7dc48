"""Duels in a real core as a pool: `duel@ygopro(core=…, cards=…)` opens wherever the name of a game is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ludus.bridges.foreign import ForeignPool, Sheet, check_rows, open_each
from ludus.bridges.ygopro import settings as setting
from ludus.bridges.ygopro.choices import MOST_OPTIONS, Choice
from ludus.bridges.ygopro.core import Cards, Core, Setup
from ludus.bridges.ygopro.dueling import RealDuel
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.observing import OBSERVATION, Eyes, Memory, Sight, View
from ludus.bridges.ygopro.replaying import keep
from ludus.bridges.ygopro.settings import NAME, RANDOM, Decks, Settings
from ludus.bridges.ygopro.telling import describe
from ludus.games import load, split_name
from ludus.types import Array, Discrete, LudusError, Spec

NOBODY = 2
OURS = "duel"
ALLOWED = np.tri(MOST_OPTIONS + 1, MOST_OPTIONS, -1, bool)
"""the mask of so many options"""


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> RealPool:
    """A pool of real duels; `name` is what follows `duel@ygopro`: nothing, or settings in brackets."""
    given = split_name(f"duel{name}")[1]
    settings = setting.read(given)
    check_rows(rows)
    core, library = setting.open_core(settings)
    try:
        decks = tuple(setting.find_decks(deck, library) for deck in (settings.deck1, settings.deck2))
    except LudusError:
        core.close()
        raise
    spec = Spec(seats=2, actions=Discrete(MOST_OPTIONS), horizon=settings.steps, zero_sum=True)
    inside = ", ".join(f"{key}={value}" for key, value in given.items())
    whole = f"{NAME}({inside})" if inside else NAME

    def start(sheet: Sheet) -> RealGames:
        return RealGames(core, library, decks, settings, sheet)

    return RealPool(whole, spec, Options(), OBSERVATION, rows, seed, start)


class RealPool(ForeignPool):
    """The same decisions and the same observation as in our own duel: whoever learned that plays here too."""

    @property
    def rules(self) -> ModuleType:
        """Those of our own duel, which say how networks read it."""
        return load(OURS).rules

    @property
    def fingerprint(self) -> str:
        return load(OURS).fingerprint


class Options:
    """Actions have no names of their own: they are places on the page that `describe` shows."""

    def name(self, action: Any) -> str:
        return str(int(action))


class Row:
    """One duel, and who sits where in it."""

    def __init__(self, core: Core, decks: Sequence[Decks], settings: Settings, random: np.random.Generator) -> None:
        first = int(random.integers(2)) if settings.starts == RANDOM else int(settings.starts)
        self.seats = (first, 1 - first)
        """the seats of the core's players, of whom 0 moves first"""
        both = [_shuffled(decks[seat], random) for seat in self.seats]
        key = int(random.integers(2**32))  # as much as a replay can hold
        rules = {"points": settings.points, "opening": settings.opening, "draws": settings.draws}
        self.setup = Setup((both[0], both[1]), (key, 0, 0, 0), **rules)
        self.duel, self.memory, self.steps = RealDuel(core, self.setup), Memory(), 0
        self.player = 0
        """who was asked last"""
        self.choice: Choice | None = None
        self._sight: Sight | None = None
        self._options: list[list[int]] = []
        self._ask()

    def take(self, action: int) -> None:
        """Play an option of the page."""
        assert self.choice is not None
        self.memory.note(self.duel, self.player, self._options[action])
        self.choice, self.steps = self.choice.take(action), self.steps + 1
        self._ask()

    def view(self, eyes: Eyes) -> View:
        """What the player sees who is asked; as long as the question is the same, so is the field."""
        if self._sight is None:
            self._sight = eyes.look(self.duel, self.player)
        self._options = eyes.options(self._sight, self.player, self.choice)
        return View(self.duel, self.player, self._sight, self._options, self.memory)

    def _ask(self) -> None:
        """Go on to where somebody has something to choose."""
        if self.choice is None:
            self._next()
        while self.choice is not None and (answer := self.choice.answer) is not None:
            self.duel.answer(answer)
            self._next()

    def _next(self) -> None:
        question = self.duel.question()
        self.choice = Choice(question) if question else None
        self.player = question.player if question else self.player
        self._sight = None


class RealGames:
    """Rows of duels behind one sheet."""

    one_seed = False

    def __init__(self, core: Core, library: Files, decks: Sequence[Decks], settings: Settings, sheet: Sheet) -> None:
        self._core, self._library, self._decks, self._settings, self._sheet = core, library, decks, settings, sheet
        self._eyes = Eyes(library, bool(settings.oppo_info))
        self._rows: list[Row | None] = [None] * len(sheet.status)
        self._random = [np.random.default_rng(0) for _ in self._rows]

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)

    def advance(self, actions: Array) -> None:
        for number, (action, idle) in enumerate(zip(actions.tolist(), self._sheet.idle.tolist(), strict=True)):
            if idle:
                self._open_row(number, None)
                continue
            row = self._row(number)
            row.take(action)
            self._show(number, row)
            if row.choice is None:
                if self._settings.keep:
                    keep(self._settings.keep, row.setup, row.duel)
                self._reward(number, row)
                self._sheet.finish(number, terminated=True)
            elif row.steps >= self._settings.steps:
                self._sheet.finish(number, terminated=False)

    def text(self, number: int) -> str:
        """The position in words, with the options."""
        row = self._row(number)
        return describe(row.duel, self._library, row.player, row.seats, row.choice)

    def render(self, number: int) -> NoReturn:
        raise LudusError(f"{NAME} has no picture; ludus play tells the duel in words")

    def close(self) -> None:
        for row in self._rows:
            if row:
                row.duel.close()
        self._rows = [None] * len(self._rows)
        self._core.close()

    def _row(self, number: int) -> Row:
        row = self._rows[number]
        assert row is not None
        return row

    def _open_row(self, number: int, seed: int | None) -> None:
        if seed is not None:
            self._random[number] = np.random.default_rng(seed)
        old = self._rows[number]
        if old:
            old.duel.close()
        row = self._rows[number] = Row(self._core, self._decks, self._settings, self._random[number])
        self._sheet.begin(number)
        self._show(number, row)

    def _show(self, number: int, row: Row) -> None:
        self._sheet.seat[number] = row.seats[row.player]
        view = row.view(self._eyes)
        self._eyes.write(view, self._sheet.observation, number)
        self._sheet.mask[number] = ALLOWED[len(view.options) or MOST_OPTIONS]
        self._sheet.masked = True

    def _reward(self, number: int, row: Row) -> None:
        winner = NOBODY if row.duel.winner is None else row.duel.winner
        if winner == NOBODY:
            return
        worth = _quick(winner, row.duel.turn) if self._settings.greedy else 1.0
        self._sheet.reward[number, row.seats[winner]] = worth
        self._sheet.reward[number, row.seats[1 - winner]] = -worth


def _shuffled(decks: Decks, random: np.random.Generator) -> Cards:
    deck = decks.one(random)
    return Cards(tuple(int(code) for code in random.permutation(deck.main)), deck.extra)


def _quick(winner: int, turn: int) -> float:
    """A victory counts double for every turn of one's own that it comes earlier; the second player has had one less."""
    early = turn if winner == 0 else turn + 2
    for limit, worth in ((1, 16.0), (3, 8.0), (5, 4.0), (7, 2.0)):
        if early <= limit:
            return worth
    return 0.5 + 1 / (early - 7)
