"""How much of the real duel engine's speed is left through the bridge: the same duels, bare and as `duel@ygopro`.

    make real-core && python benchmarks/ygopro.py --out benchmarks/results/ygopro.json
    python benchmarks/ygopro.py --core ~/edopro/libocgcore.so           # a library in this process instead

Two decks of Normal Monsters play at random. Bare is the core alone, in the process where it runs, duel after duel:
process, get the message, set the recorded response, and nothing looked at. Bridged is the pool: the same duels side by
side, with observations and masks written; choosing actions is not timed. All times are of the processor, of both
processes where there are two, so that a busy machine does not matter much.
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
from typing import Any, NamedTuple

import numpy as np
import reporting

from ludus import bench, hardware
from ludus.bridges import open_pool
from ludus.bridges.ygopro import driving, messages, replaying, yrp
from ludus.bridges.ygopro.core import Setup
from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.native import NativeCore
from ludus.bridges.ygopro.node import find_package, pack_card
from ludus.games.duel.tables import ROWS
from ludus.words import kernel

NORMAL_MONSTER, TOKEN = 0x11, 0x4000
TABLES = (
    "create table datas(id integer primary key, ot, alias, setcode, type, atk, def, level, race, attribute, category)",
    "create table texts(id integer primary key, name text, desc text)",
)
BARE = pathlib.Path(__file__).with_name("ygopro_bare.mjs")
SEED = 1


class Played(NamedTuple):
    """Duels to play again."""

    setups: list[Setup]
    answers: list[tuple[bytes, ...]]
    decisions: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", default="wasm", help="wasm, or your libocgcore")
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = measure(chosen, pathlib.Path(folder))
    settings = {"core": chosen.core if chosen.core == "wasm" else "libocgcore", "rows": chosen.rows}
    document = {"hardware": hardware.describe(), "settings": settings, "results": [each._asdict() for each in results]}
    reporting.publish(document, chosen.out, chosen.json)


def measure(chosen: argparse.Namespace, folder: pathlib.Path) -> list[bench.Result]:
    """The rate of both, and what is left; bare and bridged take turns, so that a disturbance hits both."""
    name = write_game(chosen.core, folder)
    played = record(name, chosen, folder / "kept")
    library = Files(folder / "cards.cdb")
    bare = bare_in_node if chosen.core == "wasm" else bare_in_here
    pairs = []
    for done in range(chosen.rounds):
        pairs.append((bare(chosen.core, played, library, folder), bridged(name, chosen)))
        reporting.tell(f"round {done + 1} of {chosen.rounds}: {pairs[-1][0]:.0f} bare, {pairs[-1][1]:.0f} bridged")
    rates = [statistics.median(each) for each in zip(*pairs, strict=True)]
    share = statistics.median(through / alone for alone, through in pairs)
    return [
        bench.Result("ygopro/bare", rates[0], "decisions/s"),
        bench.Result("ygopro/bridged", rates[1], "decisions/s"),
        bench.Result("ygopro/share", share, "x"),
    ]


def write_game(core: str, folder: pathlib.Path) -> str:
    """A database of the Normal Monsters that we know, two decks of them, and the name of the game."""
    cards = [card for card in ROWS if card.types & (NORMAL_MONSTER | TOKEN) == NORMAL_MONSTER]
    base = sqlite3.connect(folder / "cards.cdb")
    for statement in TABLES:
        base.execute(statement)
    rows = [(c.code, 3, 0, 0, c.types, c.attack, c.defense, c.level, c.race, c.attribute, 0) for c in cards]
    base.executemany("insert into datas values(?,?,?,?,?,?,?,?,?,?,?)", rows)
    base.executemany("insert into texts values(?,?,'')", [(card.code, card.name) for card in cards])
    base.commit()
    base.close()
    for start, deck in ((0, "one"), (9, "two")):
        codes = [str(cards[(start + place // 3) % len(cards)].code) for place in range(40)]
        (folder / f"{deck}.ydk").write_text("\n".join(["#main", *codes, "#extra", "!side", ""]))
    return f"duel@ygopro(core={core}, cards={folder}/cards.cdb, deck1={folder}/one.ydk, deck2={folder}/two.ydk)"


def record(name: str, chosen: argparse.Namespace, kept: pathlib.Path) -> Played:
    """The duels that the pool plays to their end, with all answers."""
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
    """Decisions a second of processor through the pool, after as many steps to warm up."""
    pool = open_pool(name, chosen.rows, SEED)
    node = getattr(pool._games._core, "process", None)  # type: ignore[attr-defined]
    for _ in range(2):
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
    """Seconds of processor that another process has taken so far."""
    if process is None:
        return 0.0
    numbers = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def bare_in_node(core: str, played: Played, library: Files, folder: pathlib.Path) -> float:
    """The core in Node without us: the script plays the duels twice, and tells what the second time took."""
    duels: list[dict[str, Any]] = [
        {"seed": setup.seed[0], "decks": [deck.main for deck in setup.decks], "answers": [a.hex() for a in answers]}
        for setup, answers in zip(played.setups, played.answers, strict=True)
    ]
    cards = {card.code: pack_card(card).hex() for card in library.all_cards()}
    (folder / "duels.json").write_text(json.dumps({"cards": cards, "duels": duels}))
    told = subprocess.run(
        ["node", BARE, find_package(), folder / "duels.json"], check=True, capture_output=True, text=True
    )
    return played.decisions / float(told.stdout)


def bare_in_here(core: str, played: Played, library: Files, folder: pathlib.Path) -> float:
    """The library without us, called from a compiled loop; the second time counts."""
    native = NativeCore(library, core)
    for _ in range(2):
        start = time.process_time()
        for setup, answers in zip(played.setups, played.answers, strict=True):
            duel = native.open(setup)
            packed = np.frombuffer(b"".join(answers), np.uint8)
            sizes = np.array([len(answer) for answer in answers], np.int64)
            starts = packed.ctypes.data + np.cumsum(sizes) - sizes
            given = answer_all(duel.number, native.called, starts, sizes, native.scratch)
            duel.close()
            if given != len(answers):
                raise SystemExit(f"the core took {given} of {len(answers)} answers: it plays the duel otherwise")
        spent = time.process_time() - start
    return played.decisions / spent


@kernel
def answer_all(duel: Any, functions: Any, answers: Any, sizes: Any, scratch: Any) -> Any:
    """Process, message, response, to the end of the duel; how many answers were given."""
    given = 0
    while True:
        status = driving.call(functions[driving.PROCESS], duel, 0, 0) & 0xFFFFFFFF
        start = driving.call(functions[driving.GET_MESSAGE], duel, scratch.address, 0)
        told = driving.bytes_at(start, scratch.words[driving.LENGTH] & 0xFFFFFFFF)
        newest = driving.newest(told)
        if status == driving.ENDED or (newest < len(told) and told[newest] == messages.WIN):
            return given
        if status == driving.AWAITING:
            if driving.offers_nothing(told, newest):
                driving.call(functions[driving.SET_RESPONSE], duel, scratch.address + 8 * driving.PASS, 4)
            elif given == len(sizes):
                return given + 1
            else:
                driving.call(functions[driving.SET_RESPONSE], duel, answers[given], sizes[given])
                given += 1


if __name__ == "__main__":
    main()
