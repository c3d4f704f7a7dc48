"""Duels of `duel@ygopro` in which every question is also asked as a request of /v0.

The agent in the process decides, and what an agent behind the API would have done can be compared with it.
"""

from __future__ import annotations

import contextlib
import pathlib
import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ludus.agents.bound import BoundAgent
from ludus.bridges.ygopro.choices import TURN_PAGE, Choice
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.pool import RealPool, open_pool
from ludus.bridges.ygopro.real_duel import Position
from ludus.games.duel.stages import cards_by_code
from ludus.games.duel.tools import scripts
from ludus.server.reference.client import Situation, input_of, option_of
from ludus.types import Array, JsonObject, Step

TABLES = (
    "create table datas(id integer primary key, ot, alias, setcode, type, atk, def, level, race, attribute, category)",
    "create table texts(id integer primary key, name text, desc text)",
)
CardRow = tuple[int, int, int, int, int, int, int, int, int, int, int, str]
"""a row of the table datas, with the name at the end"""


class Decision(NamedTuple):
    """One decision of a player."""

    player: int
    input: JsonObject | None
    """the request that asks for it; None if the API has no message for it"""
    best: int
    """the entry of the answer that the agent in the process chooses, or -1 without a request"""
    played: int
    """the entry that was played"""
    observation: dict[str, Array]
    """what the agent saw"""
    value: float


Explore = Callable[[Step, int], int]
"""another action to play, from the step and the action of the agent"""


def write_cards(folder: pathlib.Path, more: Iterable[tuple[CardRow, str]] = ()) -> pathlib.Path:
    """A card database of our cards and the scripts of our own; `more` are further cards, with their scripts."""
    rows: list[CardRow] = []
    for card in cards_by_code().values():
        data = scripts.card_data(card)
        values = (data.types, data.attack, data.markers or data.defense, data.level, data.race, data.attribute)
        rows.append((card.code, 3, 0, 0, *values, 0, card.name))
    found = list(more)
    with contextlib.closing(sqlite3.connect(folder / "cards.cdb")) as base:
        for statement in TABLES:
            base.execute(statement)
        rows += [row for row, _ in found]
        base.executemany("insert into datas values(?,?,?,?,?,?,?,?,?,?,?)", [row[:11] for row in rows])
        base.executemany("insert into texts values(?,?,'')", [(row[0], row[11]) for row in rows])
        base.commit()
    (folder / "script").mkdir()
    texts = (text for _, text in sorted(scripts.texts().items(), key=lambda pair: scripts.FILES.index(pair[0])))
    (folder / "script" / "utility.lua").write_text("\n".join(f"do\n{text}\nend" for text in texts))
    for code in scripts.scripted_codes():
        (folder / "script" / f"c{code}.lua").write_text(f"self_table.initial_effect = cards[{code}]")
    for row, script in found:
        (folder / "script" / f"c{row[0]}.lua").write_text(script)
    return folder


def write_deck(folder: pathlib.Path, name: str, main: Sequence[int], extra: Sequence[int] = ()) -> pathlib.Path:
    """A deck as a .ydk file."""
    path = folder / f"{name}.ydk"
    path.write_text("\n".join(["#main", *map(str, main), "#extra", *map(str, extra), "!side", ""]))
    return path


def random_decks(folder: pathlib.Path, kind: str, seed: int) -> tuple[pathlib.Path, pathlib.Path]:
    """Two random decks of this kind, as files."""
    rng = random.Random(f"{kind} {seed}")
    decks = [scripts.random_deck(kind, rng) for _ in range(2)]
    first, second = (write_deck(folder, f"{kind}{seed}_{n}", deck.main, deck.extra) for n, deck in enumerate(decks))
    return first, second


def open_duels(folder: pathlib.Path, decks: Sequence[pathlib.Path], seed: int) -> RealPool:
    """A pool of one duel with the cards of a folder."""
    cards = f"core=wasm, cards={folder / 'cards.cdb'}, scripts={folder / 'script'}"
    return open_pool(f"({cards}, deck1={decks[0]}, deck2={decks[1]})", 1, seed)


def play(
    pool: RealPool, agent: BoundAgent, printed: Files, longest: int, explore: Explore = lambda _, action: action
) -> Iterator[Decision]:
    """Play one duel, the same agent on both sides; options on several pages are one decision."""
    memory, first = agent.agent.memory(1), True
    for _ in range(longest):
        position, table, choice = pool.current()
        if choice is None or table["over"]:
            return
        situation = _situation(position, table)
        asked = input_of(situation, choice, printed)
        observation = {name: field[0] for name, field in pool.step.observation.items()}
        taken = TURN_PAGE
        while taken == TURN_PAGE:
            step = pool.step._replace(first=np.array([first]))
            decision, memory = agent.agent.act(agent.params, memory, step, 0)
            first, action = False, int(decision.action[0])
            taken = choice.shown[action]
            played = TURN_PAGE if taken == TURN_PAGE else explore(step, action)
            pool.advance(np.array([action if taken == TURN_PAGE else played]))
            if taken == TURN_PAGE:
                choice = choice.take(action)
        best, other = (entry_of(choice, option) if asked else -1 for option in (taken, choice.shown[played]))
        value = float(decision.value[0, step.seat[0]])
        yield Decision(situation.player, asked, best, other, observation, value)


def _situation(position: Position, table: Array) -> Situation:
    shown = [tuple(map(int, card)) for card in table["shown"][: table["shown_count"]]]
    return Situation(
        int(table["player"]), (int(table["points"][0]), int(table["points"][1])), position.turn,
        int(table["turn_player"]), position.phase, bool(table["damage_step"]), position.cards(),
        [(card[0], card[1], card[2], card[3]) for card in shown],
    )  # fmt: skip


def entry_of(choice: Choice, option: int) -> int:
    """The entry of the answer for an option of the question, or for FINISH."""
    message, count = choice.question.message, len(choice.question.options)
    entries = count + (message in ("card", "tribute"))
    if message == "unselect_card":
        entries = len(choice.open)
    return next(entry for entry in range(entries) if option_of(choice, entry) == option)
