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
from ludus.bridges.ygopro.choices import FINISH, MOST_OPTIONS, Choice
from ludus.bridges.ygopro.core import Cards, Core, Setup
from ludus.bridges.ygopro.dueling import AUTOMATIC, Standing, complete
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.messages import Question, read_question
from ludus.bridges.ygopro.observing import OBSERVATION, Eyes
from ludus.bridges.ygopro.replaying import Keeper
from ludus.bridges.ygopro.settings import NAME, RANDOM, Decks, Settings
from ludus.bridges.ygopro.steps import are_legal, direct, take
from ludus.bridges.ygopro.table import MOST_ANSWER, MOST_BYTES, NOBODY_YET, new_tables
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

    def check(self, actions: Any) -> Array:
        """The same as in every pool, in one go where all is well."""
        sheet = self._sheet
        is_plain = isinstance(actions, np.ndarray) and actions.dtype == np.int64 and actions.shape == self._lines.shape
        if is_plain and are_legal(actions, sheet.idle, sheet.mask):
            return np.asarray(actions)
        return super().check(actions)


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
        self.duel = core.open(self.setup)
        self.answers: list[bytes] = []
        """all that was answered, as the core was given it, where replays are kept"""


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
        self._choices: dict[int, Choice] = {}
        """by row, what is left of a question that takes more than one pick, or more than one page"""
        self._random = [np.random.default_rng(0) for _ in self._rows]
        self._all = np.arange(len(self._rows))
        self._waiting, self._ended = (np.zeros(len(self._rows), bool) for _ in range(2))
        """which rows have more to pick before the core is told, and which have ended"""
        sheet.masked = True

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)
        self._run(np.flatnonzero(chosen))
        self._show()

    def advance(self, actions: Array) -> None:
        sheet, waiting = self._sheet, self._waiting
        more = take(self._tables, sheet.idle, actions, sheet.observation["actions_"], waiting)
        if sheet.idle.any():
            for number in np.flatnonzero(sheet.idle).tolist():
                self._open_row(number, None)
        for number in list(self._choices):
            waiting[number] = not self._pick(number, int(actions[number]))
            more += waiting[number]
        self._run(np.flatnonzero(~waiting) if more else self._all)
        if self._show():
            self._finish()

    def text(self, number: int) -> str:
        """The position in words, with the options."""
        row, table = self._row(number), self._tables[number]
        standing = Standing(int(table["turn"]), int(table["phase"]), row.duel.look().places)
        choice = self._choices.get(number) or (Choice(self._question(number)) if table["kind"] else None)
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
        table = new_tables(1)
        table["duel"], table["seats"] = self._row(number).duel.number, self._row(number).seats
        self._tables[number : number + 1] = table
        self._choices.pop(number, None)
        self._sheet.begin(number)

    def _pick(self, number: int, action: int) -> bool:
        """Take an option of a question that is not simple; whether it is answered now."""
        choice = self._choices[number].take(action)
        answered = self._decide(number, choice)
        if answered:
            self._tables["shown_count"][number], self._tables["viewer"][number] = 0, NOBODY_YET
        return answered

    def _decide(self, number: int, choice: Choice) -> bool:
        """Answer where nothing is left to pick, else keep what is left; whether it is answered."""
        chosen = choice.answer
        if chosen is None:
            self._choices[number] = choice
            return False
        self._choices.pop(number, None)
        self._give(number, response(choice.question, chosen))
        return True

    def _give(self, number: int, answer: bytes) -> None:
        if len(answer) > MOST_ANSWER:
            raise LudusError(f"an answer of {len(answer)} bytes is too long; {MOST_ANSWER} are the most")
        self._tables["answer"][number, : len(answer)] = np.frombuffer(answer, np.uint8)
        self._tables["answer_size"][number] = len(answer)

    def _run(self, which: Array) -> None:
        """Give the answers of these rows, and go on to where somebody has something to choose in every duel."""
        while len(which):
            if self._keeper:
                self._remember(which)
            if not self._core.play(self._tables, which, self._eyes):
                return
            intricate = which[self._tables["is_simple"][which] == 0]
            which = np.array([number for number in intricate.tolist() if self._ask(number)], np.int64)

    def _remember(self, which: Array) -> None:
        """Keep the answers for a replay."""
        for number in which.tolist():
            answer = self._tables["answer"][number, : self._tables["answer_size"][number]].tobytes()
            self._row(number).answers += [answer] if answer else []

    def _ask(self, number: int) -> bool:
        """Begin to ask a question that is not simple; whether it is answered because there is nothing to ask."""
        question = self._question(number)
        if question.message in AUTOMATIC:
            self._give(number, response(question, ()))
            return True
        return self._decide(number, Choice(question))

    def _question(self, number: int) -> Question:
        table = self._tables[number]
        length = int(table["question_length"])
        if length > MOST_BYTES:
            raise LudusError(f"the core asks a question of {length} bytes; {MOST_BYTES} are the most")
        question = read_question(table["question"][:length].tobytes()) if table["kind"] else None
        if question is None:
            raise LudusError("the core asks something that version 11 does not have; is it newer?")
        return complete(question, self._library, self._row(number).setup.codes)

    def _show(self) -> int:
        """Write the page; how many duels have ended."""
        sheet, tables = self._sheet, self._tables
        self._eyes.write(tables, sheet.observation)
        count = direct(tables, self._settings.steps, sheet.mask, sheet.seat, self._ended)
        for number, choice in self._choices.items():
            sheet.mask[number] = ALLOWED[self._write_page(number, choice)]
        return count

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
        for number in np.flatnonzero(self._ended).tolist():
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
