"""Common code of the bridge's tests: a card database, decks, and the core from npm."""

import json
import lzma
import pathlib
import sqlite3

import pytest

from ludus.bridges.ygopro.library import Files
from ludus.bridges.ygopro.node import NodeCore, find_package
from ludus.types import LudusError

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / "data" / "duels_stage1.json.xz"
NORMAL_MONSTER, TOKEN = 0x11, 0x4000
SCHEMA = (
    "create table datas(id integer primary key, ot, alias, setcode, type, atk, def, level, race, attribute, category)",
    "create table texts(id integer primary key, name text, desc text)",
)


def normal_monsters():
    """The Normal Monsters of Ludus' own duel, as rows of a card database: code, name and values."""
    from ludus.games.duel.tables import ROWS

    return [card for card in ROWS if card.types & (NORMAL_MONSTER | TOKEN) == NORMAL_MONSTER]


def write_cdb(path, cards, more=()):
    """A card database of these cards; `more` are whole rows of values, with a name at the end."""
    rows = [(c.code, 3, 0, 0, c.types, c.attack, c.defense, c.level, c.race, c.attribute, 0, c.name) for c in cards]
    base = sqlite3.connect(path)
    for statement in SCHEMA:
        base.execute(statement)
    base.executemany("insert into datas values(?,?,?,?,?,?,?,?,?,?,?)", [row[:11] for row in (*rows, *more)])
    base.executemany("insert into texts values(?,?,'')", [(row[0], row[11]) for row in (*rows, *more)])
    base.commit()
    base.close()
    return path


def write_ydk(path, main, extra=()):
    path.write_text("\n".join(["#main", *map(str, main), "#extra", *map(str, extra), "!side", ""]))
    return path


def plain_deck(start=0):
    """Forty Normal Monsters."""
    codes = [card.code for card in normal_monsters()]
    return [codes[(start + place // 3) % len(codes)] for place in range(40)]


def stage_1_duels():
    """Seven recorded duels of Normal Monsters, 768 decisions."""
    return json.loads(lzma.decompress(GOLDEN.read_bytes()))


def needs_wasm():
    """Skip the test if the core in WebAssembly is not installed, with the reason."""
    try:
        return find_package()
    except LudusError as error:
        pytest.skip(str(error))


def open_node_core(library):
    needs_wasm()
    return NodeCore(library)


def library_of(folder, scripts=None, more=()):
    return Files(write_cdb(folder / "cards.cdb", normal_monsters(), more), scripts)
