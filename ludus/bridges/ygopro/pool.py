"""Duels in the YGOPro core as a pool: `duel@ygopro(core=…, cards=…)` works wherever a game's name is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ludus.bridges.foreign import ForeignPool, Sheet, check_rows, open_each
from ludus.bridges.ygopro import features
from ludus.bridges.ygopro import settings as duel_settings
from ludus.bridges.ygopro.answers import response
from ludus.bridges.ygopro.choices import FINISH, MAX_OPTIONS, Choice
from ludus.bridges.ygopro.compiled_messages import AS_PICKS
from ludus.bridges.ygopro.core import Cards, Core, Setup
from ludus.bridges.ygopro.duel_record import MAX_ANSWER, MAX_QUESTION_BYTES, NO_PLAYER, new_tables
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.messages import Question, read_question
from ludus.bridges.ygopro.observations import OBSERVATION, Observer
from ludus.bridges.ygopro.real_duel import AUTOMATIC, Position, complete
from ludus.bridges.ygopro.replays import ReplayWriter
from ludus.bridges.ygopro.settings import NAME, RANDOM, Decks, Settings
from ludus.bridges.ygopro.steps import apply_actions, are_legal, write_seats_and_masks
from ludus.bridges.ygopro.text import describe
from ludus.games import load, split_name
from ludus.types import Array, Discrete, LudusError, Spec

NATIVE_GAME = "duel"
MASKS = np.tri(MAX_OPTIONS + 1, MAX_OPTIONS, -1, bool)
"""[options, A] the mask for each number of options"""


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> RealPool:
    """A pool of duels in the core; `name` is the part after `duel@ygopro`: empty, or settings in brackets."""
    given = split_name(f"duel{name}")[1]
    settings = duel_settings.read(given)
    check_rows(rows)
    core, library = duel_settings.open_core(settings)
    try:
        decks = tuple(duel_settings.find_decks(deck, library) for deck in (settings.deck1, settings.deck2))
        replay_writer = ReplayWriter(settings.keep) if settings.keep else None
    except LudusError:
        core.close()
        raise
    spec = Spec(seats=2, actions=Discrete(MAX_OPTIONS), horizon=settings.steps, zero_sum=True)
    inside = ", ".join(f"{key}={value}" for key, value in given.items())
    whole = f"{NAME}({inside})" if inside else NAME

    def start(sheet: Sheet) -> RealGames:
        return RealGames(core, library, decks, settings, replay_writer, sheet)

    return RealPool(whole, spec, Options(), OBSERVATION, rows, seed, start)


class RealPool(ForeignPool):
    """A pool with the same actions and observations as Ludus' own duel, so that its agents can play here too."""

    can_draw = False

    @property
    def fingerprint(self) -> str:
        return load(NATIVE_GAME).fingerprint

    def current(self, row: int = 0) -> tuple[Position, Array, Choice | None]:
        """The position of a duel, its record, and the current decision; None at the end of the duel."""
        assert isinstance(self._games, RealGames)
        return self._games.current(row)

    def check(self, actions: ArrayLike) -> Array:
        """The checked actions; int64 arrays of the right shape take a fast compiled path."""
        sheet = self._sheet
        if isinstance(actions, np.ndarray) and actions.dtype == np.int64 and actions.shape == self._lines.shape:
            checked = np.asarray(actions)
            if are_legal(checked, sheet.idle, sheet.mask):
                return checked
        return super().check(actions)


class Options:
    """Names of actions: their numbers on the page of options that `describe` shows."""

    def name(self, action: Array | int) -> str:
        return str(int(action))


class Row:
    """One duel and its seats."""

    def __init__(self, core: Core, decks: Sequence[Decks], settings: Settings, random: np.random.Generator) -> None:
        first = int(random.integers(2)) if settings.starts == RANDOM else int(settings.starts)
        self.seats = (first, 1 - first)
        """the seats of the core's players 0 and 1; player 0 moves first"""
        both = [_shuffled(decks[seat], random) for seat in self.seats]
        key = int(random.integers(2**32))  # replays store 32-bit seeds
        rules = {"points": settings.points, "opening": settings.opening, "draws": settings.draws}
        self.setup = Setup((both[0], both[1]), (key, 0, 0, 0), **rules)
        self.duel = core.open(self.setup)
        self.answers: list[bytes] = []
        """all responses to the core in bytes, if replays are saved"""


class RealGames:
    """Duels that write into one sheet."""

    one_seed = False

    def __init__(
        self,
        core: Core,
        library: Files,
        decks: Sequence[Decks],
        settings: Settings,
        replay_writer: ReplayWriter | None,
        sheet: Sheet,
    ) -> None:
        self._core, self._library, self._decks, self._settings, self._sheet = core, library, decks, settings, sheet
        self._observer, self._tables = Observer(library, bool(settings.oppo_info)), new_tables(len(sheet.status))
        self._replay_writer = replay_writer
        self._rows: list[Row | None] = [None] * len(sheet.status)
        self._choices: dict[int, Choice] = {}
        """by row, the unfinished choice of a non-simple question, which needs several picks or pages"""
        self._random = [np.random.default_rng(0) for _ in self._rows]
        self._all = np.arange(len(self._rows))
        self._waiting, self._ended = (np.zeros(len(self._rows), bool) for _ in range(2))
        """[rows] whether more picks are needed before the answer, and whether the duel has ended"""
        sheet.masked = True

    def open(self, chosen: Array, seeds: list[int] | None) -> None:
        open_each(self._open_row, chosen, seeds)
        self._run(np.flatnonzero(chosen))
        self._write_step()

    def advance(self, actions: Array) -> None:
        sheet, waiting = self._sheet, self._waiting
        more = apply_actions(self._tables, sheet.idle, actions, sheet.observation["actions_"], waiting)
        if sheet.idle.any():
            for number in np.flatnonzero(sheet.idle).tolist():
                self._open_row(number, None)
        for number in list(self._choices):
            waiting[number] = not self._pick(number, int(actions[number]))
            more += waiting[number]
        self._run(np.flatnonzero(~waiting) if more else self._all)
        if self._write_step():
            self._finish()

    def text(self, number: int) -> str:
        """The position as text, with the options."""
        position, table, choice = self.current(number)
        return describe(position, self._library, int(table["player"]), self._row(number).seats, choice)

    def current(self, number: int) -> tuple[Position, Array, Choice | None]:
        """The position of a duel, its record, and the current decision; None at the end of the duel."""
        table = self._tables[number]
        results = self._row(number).duel.query_all().query_results
        position = Position(int(table["turn"]), int(table["phase"]), results)
        choice = self._choices.get(number)
        if choice is None and table["kind"]:
            picks = table["picks"][: table["pick_count"]] if table["reply_form"] == AS_PICKS else ()
            choice = Choice(self._question(number), tuple(map(int, picks)))
        return position, table, choice

    def render(self, number: int) -> NoReturn:
        raise LudusError(f"{NAME} has no pictures; ludus play shows the duel as text")

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
        """Choose an option of a non-simple question; returns whether the question is answered."""
        choice = self._choices[number].take(action)
        answered = self._decide(number, choice)
        if answered:
            self._tables["shown_count"][number], self._tables["viewer"][number] = 0, NO_PLAYER
        return answered

    def _decide(self, number: int, choice: Choice) -> bool:
        """Answer if the choice is complete, else store it; returns whether the question is answered."""
        chosen = choice.answer
        if chosen is None:
            self._choices[number] = choice
            return False
        self._choices.pop(number, None)
        self._set_answer(number, response(choice.question, chosen))
        return True

    def _set_answer(self, number: int, answer: bytes) -> None:
        if len(answer) > MAX_ANSWER:
            raise LudusError(f"an answer of {len(answer)} bytes is too long; the maximum is {MAX_ANSWER}")
        self._tables["answer"][number, : len(answer)] = np.frombuffer(answer, np.uint8)
        self._tables["answer_size"][number] = len(answer)

    def _run(self, which: Array) -> None:
        """Send the answers of these rows and process until every duel has a choice or has ended."""
        while len(which):
            if self._replay_writer:
                self._record_answers(which)
            if not self._core.play(self._tables, which, self._observer):
                return
            remaining = which[self._tables["is_simple"][which] == 0].tolist()
            which = np.array([number for number in remaining if self._start_question(number)], np.int64)

    def _record_answers(self, which: Array) -> None:
        """Store the answers for a replay."""
        for number in which.tolist():
            answer = self._tables["answer"][number, : self._tables["answer_size"][number]].tobytes()
            self._row(number).answers += [answer] if answer else []

    def _start_question(self, number: int) -> bool:
        """Start a non-simple question; returns whether it was answered at once because there is no choice."""
        question = self._question(number)
        if question.message in AUTOMATIC:
            self._set_answer(number, response(question, ()))
            return True
        return self._decide(number, Choice(question))

    def _question(self, number: int) -> Question:
        table = self._tables[number]
        length = int(table["question_length"])
        if length > MAX_QUESTION_BYTES:
            raise LudusError(f"the core sent a question of {length} bytes; the maximum is {MAX_QUESTION_BYTES}")
        question = read_question(table["question"][:length].tobytes()) if table["kind"] else None
        if question is None:
            raise LudusError("the core sent a question that version 11 does not have; it may be a newer version")
        return complete(question, self._library, self._row(number).setup.codes)

    def _write_step(self) -> int:
        """Write the step; returns the number of ended duels."""
        sheet, tables = self._sheet, self._tables
        self._observer.write(tables, sheet.observation)
        count = write_seats_and_masks(tables, self._settings.steps, sheet.mask, sheet.seat, self._ended)
        for number, choice in self._choices.items():
            sheet.mask[number] = MASKS[self._write_page(number, choice)]
        return count

    def _write_page(self, number: int, choice: Choice) -> int:
        """Write the options on the page of a non-simple question; returns their number."""
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
        """Mark the last step of duels that are over or truncated."""
        for number in np.flatnonzero(self._ended).tolist():
            row, over = self._row(number), bool(self._tables["over"][number])
            if over:
                if self._replay_writer:
                    self._replay_writer.write(row.setup, row.answers)
                self._reward(number, row)
            self._sheet.finish(number, terminated=over)

    def _reward(self, number: int, row: Row) -> None:
        table = self._tables[number]
        winner = int(table["winner"])
        if winner > 1:
            return
        reward = _win_reward(winner, int(table["turn"])) if self._settings.greedy else 1.0
        self._sheet.reward[number, row.seats[winner]] = reward
        self._sheet.reward[number, row.seats[1 - winner]] = -reward


def _shuffled(decks: Decks, random: np.random.Generator) -> Cards:
    deck = decks.draw(random)
    return Cards(tuple(int(code) for code in random.permutation(deck.main)), deck.extra)


def _win_reward(winner: int, turn: int) -> float:
    """The reward of a win: doubled for each earlier own turn; the second player has had one turn less."""
    adjusted_turn = turn if winner == 0 else turn + 2
    for limit, reward in ((1, 16.0), (3, 8.0), (5, 4.0), (7, 2.0)):
        if adjusted_turn <= limit:
            return reward
    return 0.5 + 1 / (adjusted_turn - 7)
