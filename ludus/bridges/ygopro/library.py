"""The user's cards.cdb and script folder, and the numbering of cards in observations."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import sqlite3
from collections.abc import Iterable, Sequence

from ludus.bridges.ygopro.core import CardData
from ludus.games.duel.tables import ROW_OF
from ludus.types import LudusError

MONSTER, NORMAL, LINK, TOKEN = 0x1, 0x10, 0x4000000, 0x4000
COLUMNS = ("id", "alias", "setcode", "type", "atk", "def", "level", "race", "attribute")
FIRST_SCRIPTS = ("constant.lua", "utility.lua")
"""scripts that must be loaded before any card; they load the others themselves"""


class Files:
    """Cards from one .cdb file or all in a folder; scripts from a folder and its subfolders.

    Without scripts, only Normal Monsters can be played.
    """

    def __init__(self, cards: str | pathlib.Path, scripts: str | pathlib.Path | None = None) -> None:
        self._cards: dict[int, CardData] = {}
        self.names: dict[int, str] = {}
        for path in _databases(pathlib.Path(cards)):
            self._read(path)
        self._scripts = _scripts(pathlib.Path(scripts)) if scripts else {}
        self.has_scripts = bool(scripts)

    def card(self, code: int) -> CardData | None:
        return self._cards.get(code)

    def script(self, name: str) -> bytes | None:
        path = self._scripts.get(name)
        return path.read_bytes() if path else None

    def script_names(self) -> Sequence[str]:
        return sorted(self._scripts)

    def first_scripts(self) -> Sequence[tuple[str, bytes]]:
        return [(name, self._scripts[name].read_bytes()) for name in FIRST_SCRIPTS if name in self._scripts]

    def all_cards(self) -> Iterable[CardData]:
        return self._cards.values()

    @functools.cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each code in observations: the row for cards of Ludus' own duel, others follow."""
        numbers = {code: row for code, row in ROW_OF.items() if code}
        others = sorted(self._cards.keys() - numbers.keys())
        return numbers | {
            code: number for number, code in enumerate(others, start=max(numbers.values(), default=0) + 1)
        }

    def name(self, code: int) -> str:
        return self.names.get(code) or str(code)

    def check(self, codes: Iterable[int], whose: str) -> None:
        """Raise LudusError for cards that the core cannot play."""
        for code in codes:
            card = self._cards.get(code)
            if card is None:
                raise LudusError(
                    f"{whose}: card {code} is not in the card database; use a newer cards.cdb, or remove the card"
                )
            if not is_plain(card) and f"c{code}.lua" not in self._scripts:
                reason = "the script folder lacks it" if self.has_scripts else "no script folder was given (scripts=…)"
                raise LudusError(f"{whose}: {self.name(code)} needs its script c{code}.lua, but {reason}")

    def can_play(self, code: int) -> bool:
        """Whether the core can play this card."""
        try:
            self.check([code], "")
        except LudusError:
            return False
        return True

    def _read(self, path: pathlib.Path) -> None:
        try:
            with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
                rows = base.execute(f"select {', '.join(COLUMNS)} from datas").fetchall()
                self.names |= dict(base.execute("select id, name from texts"))
        except sqlite3.Error as error:
            raise LudusError(
                f"{path} is not a card database: {error}; a cards.cdb has the tables datas and texts"
            ) from None
        self._cards |= {row[0]: card_of(*row) for row in rows}


def card_of(
    code: int, alias: int, sets: int, types: int, attack: int, defense: int, level: int, race: int, attribute: int
) -> CardData:
    """A card from its row: four sets are packed in one number, scales with the level, a Link's arrows as defense."""
    few = tuple(number for shift in (0, 16, 32, 48) if (number := sets >> shift & 0xFFFF))
    arrows = defense if types & LINK else 0
    return CardData(
        code, alias, types, level & 0xFF, attribute, race & (2**64 - 1), attack, 0 if arrows else defense,
        level >> 24 & 0xFF, level >> 16 & 0xFF, arrows, few,
    )  # fmt: skip


def is_plain(card: CardData) -> bool:
    """Whether this is a Normal Monster, which has no effects and needs no script."""
    return card.types & (MONSTER | NORMAL) == MONSTER | NORMAL


def _databases(path: pathlib.Path) -> list[pathlib.Path]:
    found = sorted(path.glob("*.cdb")) if path.is_dir() else [path] if path.is_file() else []
    if not found:
        raise LudusError(f"there is no card database at {path}; set cards=… to a cards.cdb or a folder of .cdb files")
    return found


def _scripts(path: pathlib.Path) -> dict[str, pathlib.Path]:
    """All scripts by name; of two with the same name, the one in the higher folder is used."""
    if not path.is_dir():
        raise LudusError(f"there is no script folder at {path}; set scripts=… to the folder of utility.lua and c….lua")
    found = sorted(path.rglob("*.lua"), key=lambda file: (-len(file.parts), file))
    return {file.name: file for file in found}
