"""The overhead of the YGOPro bridge: the same duels in the bare core and as `duel@ygopro`.

    make real-core && python benchmarks/ygopro.py --out benchmarks/results/ygopro.json
    python benchmarks/ygopro.py --core ~/edopro/libocgcore.so           # a library in this process instead
    python benchmarks/ygopro.py --cards ~/edopro/expansions --scripts ~/edopro/script --deck1 yugi --deck2 kaiba

Duels are played at random: with Normal Monsters, which need no scripts (plain), with five scripted test cards among
them (effects), or with your cards and decks (yours). "Bare" is the core alone, in the process where it runs, duel after
duel: process, get the message, set the recorded response, without queries. "Bridged" is the pool: the same duels in
parallel, with observations and masks; choosing actions is not timed. All times are CPU times, of both processes if
there are two, so a busy machine matters little; the last of several laps is used, since the first ones compile.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import reporting

from ludus import bench
from ludus.bridges import open_pool
from ludus.bridges.ygopro import compiled_driver, messages, yrp
from ludus.bridges.ygopro import replays as replaying
from ludus.bridges.ygopro.core import Setup
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.native import NativeCore
from ludus.bridges.ygopro.node import find_package, pack_card
from ludus.dsl import kernel
from ludus.games.duel.tables import ROWS
from ludus.pool import hardware

NORMAL_MONSTER, TOKEN = 0x11, 0x4000
TABLES = (
    "create table datas(id integer primary key, ot, alias, setcode, type, atk, def, level, race, attribute, category)",
    "create table texts(id integer primary key, name text, desc text)",
)
BARE = pathlib.Path(__file__).with_name("ygopro_bare.mjs")
EFFECTS = pathlib.Path(__file__).with_name("ygopro_effects.lua")
EFFECT_MONSTER, SPELL, TRAP = 0x21, 0x2, 0x4
OURS = (
    (10000011, EFFECT_MONSTER, 1400, 1000, 4), (10000012, EFFECT_MONSTER, 1000, 800, 3), (10000013, SPELL, 0, 0, 0),
    (10000014, SPELL, 0, 0, 0), (10000015, TRAP, 0, 0, 0),
)  # fmt: skip
"""code, type, attack, defense and level of the scripted test cards"""
SEED, LAPS = 1, 4


class Case(NamedTuple):
    """One case of the benchmark."""

    name: str
    game: str
    library: Files


class Played(NamedTuple):
    """Recorded duels."""

    setups: list[Setup]
    answers: list[tuple[bytes, ...]]
    decisions: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", default="wasm", help="wasm, or your libocgcore")
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", choices=("plain", "effects"), help="only one of the two")
    parser.add_argument("--cards", help="your cards.cdb, to measure your own decks")
    parser.add_argument("--scripts", help="your card scripts")
    parser.add_argument("--deck1", default="yugi")
    parser.add_argument("--deck2", default="kaiba")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        both = ours(chosen.core, pathlib.Path(folder))
        cases = [yours(chosen)] if chosen.cards else [case for case in both if chosen.case in (None, case.name)]
        results = [
            result for case in cases for result in measure(case, chosen, pathlib.Path(folder) / f"{case.name}-kept")
        ]
    settings = {"core": chosen.core if chosen.core == "wasm" else "libocgcore", "rows": chosen.rows}
    document = {"hardware": hardware.describe(), "settings": settings, "results": [each._asdict() for each in results]}
    reporting.publish(document, chosen.out, chosen.json)


def measure(case: Case, chosen: argparse.Namespace, folder: pathlib.Path) -> list[bench.Result]:
    """Both rates and their ratio; bare and bridged alternate, so that a disturbance affects both."""
    played = record(case.game, chosen, folder)
    bare = bare_in_node if chosen.core == "wasm" else bare_in_here
    pairs = []
    for done in range(chosen.rounds):
        pairs.append((bare(chosen.core, played, case.library, folder), bridged(case.game, chosen)))
        rates = f"{pairs[-1][0]:.0f} bare, {pairs[-1][1]:.0f} bridged"
        reporting.tell(f"{case.name}, round {done + 1} of {chosen.rounds}: {rates}")
    rates = [statistics.median(each) for each in zip(*pairs, strict=True)]
    share = statistics.median(through / alone for alone, through in pairs)
    return [
        bench.Result(f"ygopro/{case.name}/bare", rates[0], "decisions/s"),
        bench.Result(f"ygopro/{case.name}/bridged", rates[1], "decisions/s"),
        bench.Result(f"ygopro/{case.name}/share", share, "x"),
    ]


def yours(chosen: argparse.Namespace) -> Case:
    """The user's own cards and decks."""
    files = f"cards={chosen.cards}" + (f", scripts={chosen.scripts}" if chosen.scripts else "")
    game = f"duel@ygopro(core={chosen.core}, {files}, deck1={chosen.deck1}, deck2={chosen.deck2})"
    return Case("yours", game, Files(chosen.cards, chosen.scripts))


def ours(core: str, folder: pathlib.Path) -> list[Case]:
    """Duels of Normal Monsters, and duels with effects among them."""
    plain = write_game(core, folder)
    scripts = folder / "script"
    scripts.mkdir()
    for code, *_ in OURS:
        (scripts / f"c{code}.lua").write_bytes(EFFECTS.read_bytes())
    effects = write_game(core, folder, [code for code, *_ in OURS], scripts)
    return [
        Case("plain", plain, Files(folder / "cards.cdb")),
        Case("effects", effects, Files(folder / "effects.cdb", scripts)),
    ]


def write_game(core: str, folder: pathlib.Path, first: Sequence[int] = (), scripts: pathlib.Path | None = None) -> str:
    """Write a database of Ludus' Normal Monsters and the test cards, and two decks that begin with three of each of the
    `first` cards; returns the name of the game."""
    kind = "effects" if first else "cards"
    cards = [card for card in ROWS if card.types & (NORMAL_MONSTER | TOKEN) == NORMAL_MONSTER]
    base = sqlite3.connect(folder / f"{kind}.cdb")
    for statement in TABLES:
        base.execute(statement)
    rows = [(c.code, 3, 0, 0, c.types, c.attack, c.defense, c.level, c.race, c.attribute, 0) for c in cards]
    rows += [(code, 3, 0, 0, types, attack, defense, level, 1, 1, 0) for code, types, attack, defense, level in OURS]
    base.executemany("insert into datas values(?,?,?,?,?,?,?,?,?,?,?)", rows)
    base.executemany("insert into texts values(?,?,'')", [(row[0], str(row[0])) for row in rows])
    base.commit()
    base.close()
    for start, deck in ((0, "one"), (9, "two")):
        codes = [code for code in first for _ in range(3)]
        codes += [cards[(start + place // 3) % len(cards)].code for place in range(40 - len(codes))]
        (folder / f"{kind}-{deck}.ydk").write_text("\n".join(["#main", *map(str, codes), "#extra", "!side", ""]))
    files = f"cards={folder}/{kind}.cdb" + (f", scripts={scripts}" if scripts else "")
    return f"duel@ygopro(core={core}, {files}, deck1={folder}/{kind}-one.ydk, deck2={folder}/{kind}-two.ydk)"


def record(name: str, chosen: argparse.Namespace, kept: pathlib.Path) -> Played:
    """Record the duels that the pool plays to the end, with all answers."""
    pool = open_pool(f"{name[:-1]}, keep={kept})", chosen.rows, SEED)
    decisions, steps = 0, np.zeros(chosen.rows, np.int64)
    for step in range(chosen.steps):
        steps += pool.status == 0
        pool.advance(pool.random_actions(step))
        ended = pool.status != 0
        decisions, steps[ended] = decisions + int(steps[ended].sum()), 0
    pool.close()
    replays = [yrp.read_yrp(path) for path in sorted(kept.glob("*.yrp"))]
    return Played([replaying.setup_of(each) for each in replays], [each.responses for each in replays], decisions)


def bridged(name: str, chosen: argparse.Namespace) -> float:
    """Decisions per CPU second through the pool."""
    pool = open_pool(name, chosen.rows, SEED)
    node = getattr(pool._games._core, "process", None)  # type: ignore[attr-defined]
    for _ in range(LAPS):
        spent, decisions, begun = 0.0, 0, spent_by(node)
        for step in range(chosen.steps):
            actions = pool.random_actions(step)
            decisions += int((pool.status == 0).sum())
            start = time.process_time()
            pool.advance(actions)
            spent += time.process_time() - start
        spent += spent_by(node) - begun
    pool.close()
    return decisions / spent


def spent_by(process: subprocess.Popen[bytes] | None) -> float:
    """CPU seconds that another process has used so far."""
    if process is None:
        return 0.0
    numbers = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def bare_in_node(core: str, played: Played, library: Files, folder: pathlib.Path) -> float:
    """The core in Node without the bridge: a script plays the duels and prints the time of the last lap."""
    duels: list[dict[str, Any]] = [
        {"seed": setup.seed[0], "decks": setup.decks, "answers": [answer.hex() for answer in answers]}
        for setup, answers in zip(played.setups, played.answers, strict=True)
    ]
    cards = {card.code: pack_card(card).hex() for card in library.all_cards()}
    scripts = {name: (library.script(name) or b"").decode() for name in library.script_names()}
    first = [name for name, _ in library.first_scripts()]
    given = {"cards": cards, "duels": duels, "scripts": scripts, "first": first, "laps": LAPS}
    (folder / "duels.json").write_text(json.dumps(given))
    done = subprocess.run(
        ["node", BARE, find_package(), folder / "duels.json"], check=True, capture_output=True, text=True
    )
    return played.decisions / float(done.stdout)


def bare_in_here(core: str, played: Played, library: Files, folder: pathlib.Path) -> float:
    """The library without the bridge, called from a compiled loop."""
    native = NativeCore(library, core)
    for _ in range(LAPS):
        start = time.process_time()
        for setup, answers in zip(played.setups, played.answers, strict=True):
            duel = native.open(setup)
            packed = np.frombuffer(b"".join(answers), np.uint8)
            sizes = np.array([len(answer) for answer in answers], np.int64)
            starts = packed.ctypes.data + np.cumsum(sizes) - sizes
            given = answer_all(duel.number, native.called, starts, sizes, native.scratch)
            duel.close()
            if given != len(answers):
                raise SystemExit(f"the core took {given} of {len(answers)} answers: it plays the duel differently")
        spent = time.process_time() - start
    return played.decisions / spent


@kernel
def answer_all(duel: Any, functions: Any, answers: Any, sizes: Any, scratch: Any) -> Any:
    """Process, message, response, to the end of the duel; returns the number of answers used."""
    given = 0
    while True:
        status = compiled_driver.call(functions[compiled_driver.PROCESS], duel, 0, 0) & 0xFFFFFFFF
        start = compiled_driver.call(functions[compiled_driver.GET_MESSAGE], duel, scratch.address, 0)
        message = compiled_driver.bytes_at(start, scratch.words[compiled_driver.LENGTH] & 0xFFFFFFFF)
        newest = compiled_driver.newest(message)
        if status == compiled_driver.ENDED or (newest < len(message) and message[newest] == messages.WIN):
            return given
        if status == compiled_driver.AWAITING:
            if compiled_driver.offers_nothing(message, newest):
                compiled_driver.call(
                    functions[compiled_driver.SET_RESPONSE], duel, scratch.address + 8 * compiled_driver.PASS, 4
                )
            elif given == len(sizes):
                return given + 1
            else:
                compiled_driver.call(functions[compiled_driver.SET_RESPONSE], duel, answers[given], sizes[given])
                given += 1


if __name__ == "__main__":
    main()
