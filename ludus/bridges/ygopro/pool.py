"""Duels in a real core as a pool: `duel@ygopro(core=…, cards=…)` opens wherever the name of a game is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ludus.bridges.foreign import ForeignPool, Sheet, check_rows, open_each
from ludus.bridges.ygopro import features
from ludus.bridges.ygopro import settings as setting
from ludus.bridges.ygopro.answers import response
from ludus.bridges.ygopro.asking import MOST_REPLY, take
from ludus.bridges.ygopro.choices import FINISH, MOST_OPTIONS, Choice
from ludus.bridges.ygopro.core import Cards, Core, Setup
from ludus.bridges.ygopro.dueling import AUTOMATIC, Standing, complete
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.messages import Question, read_question
from ludus.bridges.ygopro.observing import OBSERVATION, Eyes
from ludus.bridges.ygopro.replaying import Keeper
from ludus.bridges.ygopro.settings import NAME, RANDOM, Decks, Settings
from ludus.bridges.ygopro.table import MOST_BYTES, new_tables
from ludus.bridges.ygopro.telling import describe
from ludus.games import load, split_name
from ludus.types import Array, Discrete, LudusError, Spec

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
        keeper = Keeper(settings.keep) if settings.keep else None
    except LudusError:
        core.close()
        raise
    spec = Spec(seats=2, actions=Discrete(MOST_OPTIONS), horizon=settings.steps, zero_sum=True)
    inside = ", ".join(f"{key}={value}" for key, value in given.items())
    whole = f"{NAME}({inside})" if inside else NAME

    def start(sheet: Sheet) -> RealGames:
        return RealGames(core, library, decks, settings, keeper, sheet)

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
        self.duel, self.steps = core.open(self.setup), 0
        self.choice: Choice | None = None
        """what is left of a question that takes more than one pick, or more than one page"""
        self.answers: list[bytes] = []
        """all that was answered, as the core was given it"""


class RealGames:
    """Rows of duels behind one sheet."""

    one_seed = False

    def __init__(
        self,
        core: Core,
        library: Files,
        decks: Sequence[Decks],
        settings: Settings,
        keeper: Keeper | None,
        sheet: Sheet,
    ) -> None:
        self._core, self._library, self._decks, self._settings, self._sheet = core, library, decks, settings, sheet
        self._eyes, self._tables = Eyes(library, bool(settings.oppo_info)), new_tables(len(sheet.status))
        self._keeper = keeper
        self._rows: list[Row | None] = [None] * len(sheet.status)
        self._random = [np.random.default_rng(0) for _ in self._rows]
        self._replies = np.zeros((len(self._rows), MOST_REPLY), np.uint8)
        self._sizes = np.zeros(len(self._rows), np.int64)
        sheet.masked = True

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)
        self._run(dict.fromkeys(np.flatnonzero(chosen).tolist(), b""))
        self._show()

    def advance(self, actions: Array) -> None:
        take(
            self._tables, self._sheet.idle, actions, self._sheet.observation["actions_"], self._replies, self._sizes
        )  # fmt: skip
        given: dict[int, bytes] = {}
        for number, (action, idle) in enumerate(zip(actions.tolist(), self._sheet.idle.tolist(), strict=True)):
            if idle:
                self._open_row(number, None)
                given[number] = b""
            elif (answer := self._answer(number, action)) is not None:
                given[number] = answer
        self._run(given)
        self._show()
        self._finish()

    def text(self, number: int) -> str:
        """The position in words, with the options."""
        row, table = self._row(number), self._tables[number]
        standing = Standing(int(table["turn"]), int(table["phase"]), row.duel.look().places)
        choice = row.choice or (Choice(self._question(number)) if table["kind"] else None)
        return describe(standing, self._library, int(table["player"]), row.seats, choice)

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
        self._rows[number] = Row(self._core, self._decks, self._settings, self._random[number])
        self._tables[number : number + 1] = new_tables(1)
        self._sheet.begin(number)

    def _answer(self, number: int, action: int) -> bytes | None:
        """What an action tells the core; None where there is more to pick."""
        row = self._row(number)
        row.steps += 1
        if row.choice is None:
            return self._replies[number, : self._sizes[number]].tobytes()
        row.choice = row.choice.take(action)
        chosen = row.choice.answer
        return None if chosen is None else response(row.choice.question, chosen)

    def _run(self, given: dict[int, bytes]) -> None:
        """Give these answers, and go on to where somebody has something to choose in every duel."""
        self._tables["shown_count"][list(given)] = 0
        while given:
            which = np.array(list(given), np.int64)
            rows = [self._row(number) for number in given]
            for row, answer in zip(rows, given.values(), strict=True):
                row.choice = None
                if answer:
                    row.answers.append(answer)
            duels = [row.duel for row in rows]
            self._core.play(duels, list(given.values()), self._tables, which, self._eyes)
            told_more = which[(self._tables["over"][which] == 0) & (self._tables["is_simple"][which] == 0)]
            asked = {number: self._ask(number) for number in told_more.tolist()}
            given = {number: answer for number, answer in asked.items() if answer is not None}

    def _ask(self, number: int) -> bytes | None:
        """Begin to ask a question that is not simple; an answer where there is nothing to ask."""
        row, question = self._row(number), self._question(number)
        if question.message in AUTOMATIC:
            return response(question, ())
        row.choice = Choice(question)
        chosen = row.choice.answer
        return None if chosen is None else response(question, chosen)

    def _question(self, number: int) -> Question:
        table = self._tables[number]
        length = int(table["question_length"])
        if length > MOST_BYTES:
            raise LudusError(f"the core asks a question of {length} bytes; {MOST_BYTES} are the most")
        question = read_question(table["question"][:length].tobytes()) if table["kind"] else None
        if question is None:
            raise LudusError("the core asks something that version 11 does not have; is it newer?")
        return complete(question, self._library, self._row(number).setup.codes)

    def _show(self) -> None:
        sheet, tables = self._sheet, self._tables
        self._eyes.write(tables, sheet.observation)
        counts = np.where(tables["kind"] > 0, tables["option_count"], MOST_OPTIONS)
        for number, row in enumerate(self._rows):
            if row and row.choice:
                counts[number] = self._write_page(number, row.choice)
        sheet.mask[:] = ALLOWED[counts]
        sheet.seat[:] = [
            row.seats[player] for row, player in zip(self._rows, tables["player"].tolist(), strict=True) if row
        ]

    def _write_page(self, number: int, choice: Choice) -> int:
        """The options on the page of a question that is not simple; how many they are."""
        page, options = self._sheet.observation["actions_"][number], self._tables[number]["options"]
        for action, index in enumerate(choice.shown):
            page[action] = 0
            page[action, features.MESSAGE] = features.MESSAGE_IDS[choice.question.message]
            if index < 0:
                page[action, features.FINISH] = index == FINISH
            elif choice.question.message == "announce_card":
                code = self._library.numbers.get(choice.question.options[index], 0)
                page[action, features.ID_HIGH : features.ID_LOW + 1] = features.two_bytes(code)
            else:
                page[action] = options[index]
        return len(choice.shown)

    def _finish(self) -> None:
        """Close the page of duels that are over, or too long."""
        steps = np.array([row.steps for row in self._rows if row])
        ended = (self._tables["over"] > 0) | (steps >= self._settings.steps)
        for number in np.flatnonzero(ended).tolist():
            row, over = self._row(number), bool(self._tables["over"][number])
            if over:
                if self._keeper:
                    self._keeper.keep(row.setup, row.answers)
                self._reward(number, row)
            self._sheet.finish(number, terminated=over)

    def _reward(self, number: int, row: Row) -> None:
        table = self._tables[number]
        winner = int(table["winner"])
        if winner > 1:
            return
        worth = _quick(winner, int(table["turn"])) if self._settings.greedy else 1.0
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
