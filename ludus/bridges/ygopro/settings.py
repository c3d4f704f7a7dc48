"""The settings of `duel@ygopro(core=…, cards=…, scripts=…, deck1=…)`, from the name or the environment."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ludus.bridges.ygopro.core import Cards, Core
from ludus.bridges.ygopro.library import Files
from ludus.games import split_name
from ludus.games.duel.stages import STAGES, cards_of_stage
from ludus.games.duel.tables import ROW_OF
from ludus.games.duel.ydk import random_deck
from ludus.types import LudusError

NAME = "duel@ygopro"
WASM = "wasm"
VARIABLES = {"core": "LUDUS_OCGCORE", "cards": "LUDUS_CARDS_CDB", "scripts": "LUDUS_CARD_SCRIPTS"}
"""environment variables for settings that are the same for all duels on a machine"""
DESCRIPTIONS = {
    "core": "your libocgcore (version 11), or wasm for npm's ocgcore-wasm",
    "cards": "your cards.cdb, or a folder of .cdb files",
    "scripts": "your script folder, with utility.lua and c….lua",
}
DECKS = pathlib.Path(__file__).parents[2] / "games" / "duel" / "decks"
MIN_MAIN, MAX_MAIN, MAX_EXTRA, COPIES = 40, 60, 15, 3
RANDOM, ANY = "random", "any"


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings of duels."""

    core: str = ""
    """path of the user's libocgcore, or `wasm`"""
    cards: str = ""
    """path of cards.cdb, or of a folder of .cdb files"""
    scripts: str = ""
    """folder of card scripts; Normal Monsters need none"""
    deck1: str = "yugi"
    """deck of seat 0: a bundled deck, a .ydk file, a folder of them, `any` bundled deck, or a `random` one"""
    deck2: str = "kaiba"
    """deck of seat 1"""
    starts: str = RANDOM
    """the seat that moves first: 0, 1 or random"""
    points: int = 8000
    opening: int = 5
    draws: int = 1
    steps: int = 2000
    """decisions after which a duel is truncated"""
    oppo_info: int = 0
    """1 to show hidden cards too, marked in `mask_`"""
    greedy: int = 0
    """1 to reward quick wins more"""
    keep: str = ""
    """folder for a .yrp replay of every duel; empty for none"""


def read(given: Mapping[str, str]) -> Settings:
    """Settings from the name; missing ones come from the environment."""
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    values: dict[str, str | int] = {name: os.environ[key] for name, key in VARIABLES.items() if os.environ.get(key)}
    for key, text in given.items():
        if key not in fields:
            raise LudusError(f'{NAME} has no parameter "{key}"; it has {", ".join(fields)}')
        values[key] = _number(key, text) if isinstance(fields[key].default, int) else text
    settings = Settings(**values)  # type: ignore[arg-type]
    if settings.starts not in ("0", "1", RANDOM):
        raise LudusError(f"starts={settings.starts} is not allowed; it is the seat that moves first: 0, 1 or random")
    return settings


def card_numbers(game: str) -> dict[int, int]:
    """The number in observations of each card by its official code, for `duel` or `duel@ygopro(…)`."""
    name, bracket, given = game.partition("(")
    if name.strip() != NAME:
        return {code: row for code, row in ROW_OF.items() if code}
    cards = read(split_name(f"duel{bracket}{given}")[1]).cards
    if not cards:
        raise LudusError(f"{NAME} needs {DESCRIPTIONS['cards']}: write {NAME}(cards=…), or set {VARIABLES['cards']}")
    return Files(cards).numbers


def open_core(settings: Settings) -> tuple[Core, Files]:
    """Open the core and the cards; raises LudusError if one is missing."""
    for name in ("core", "cards"):
        if not getattr(settings, name):
            raise LudusError(f"{NAME} needs {DESCRIPTIONS[name]}: write {NAME}({name}=…), or set {VARIABLES[name]}")
    library = Files(settings.cards, settings.scripts or None)
    if settings.core == WASM:
        from ludus.bridges.ygopro.node import NodeCore

        return NodeCore(library), library
    from ludus.bridges.ygopro.native import NativeCore

    return NativeCore(library, settings.core), library


class Decks(NamedTuple):
    """The decks of one seat: a list to choose from, or a pool of cards for random decks."""

    listed: tuple[Cards, ...]
    pool: tuple[int, ...] = ()

    def draw(self, random: np.random.Generator) -> Cards:
        """A deck for a duel, not shuffled."""
        if self.pool:
            deck = random_deck(random, pool=self.pool)
            return Cards(deck.main, deck.extra)
        return self.listed[int(random.integers(len(self.listed)))] if len(self.listed) > 1 else self.listed[0]


def find_decks(name: str, library: Files) -> Decks:
    """The checked decks for a name."""
    path = pathlib.Path(name)
    if name == RANDOM:
        return Decks((), tuple(filter(library.can_play, cards_of_stage(STAGES[-1]))))
    if name == ANY:
        files = sorted(DECKS.glob("*.ydk"))
    elif path.is_dir():
        files = sorted(path.glob("*.ydk"))
    else:
        files = [file for file in (DECKS / f"{name}.ydk", path) if file.is_file()][:1]
    if not files:
        known = ", ".join(sorted(file.stem for file in DECKS.glob("*.ydk")))
        raise LudusError(
            f'there is no deck "{name}"; name a .ydk file, a folder of them, any, random, or one of {known}'
        )
    return Decks(tuple(read_deck(file, library) for file in files))


def read_deck(path: pathlib.Path, library: Files) -> Cards:
    """A .ydk file of cards that the core can play."""
    parts: dict[str, list[int]] = {"#main": [], "#extra": [], "!side": []}
    part = ""
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        word = line.strip()
        if word in parts:
            part = word
        elif word and not word.startswith("#"):
            if not part or not word.isdigit():
                raise LudusError(f"{path}, line {number}: {word[:40]!r} is not a card number in #main, #extra or !side")
            parts[part].append(int(word))
    main, extra = parts["#main"], parts["#extra"]
    _check(path, main, extra)
    library.check([*main, *extra], str(path))
    return Cards(tuple(main), tuple(extra))


def _check(path: pathlib.Path, main: list[int], extra: list[int]) -> None:
    if not MIN_MAIN <= len(main) <= MAX_MAIN:
        raise LudusError(f"{path} has {len(main)} cards in its main deck; it needs {MIN_MAIN} to {MAX_MAIN}")
    if len(extra) > MAX_EXTRA:
        raise LudusError(f"{path} has {len(extra)} cards in its extra deck; the maximum is {MAX_EXTRA}")
    for code in {*main, *extra}:
        if (main + extra).count(code) > COPIES:
            raise LudusError(f"{path} has {(main + extra).count(code)} copies of card {code}; the maximum is {COPIES}")


def _number(key: str, text: str) -> int:
    if not text.isdigit():
        raise LudusError(f"{key}={text} is not allowed; give a whole number of at least 0")
    return int(text)
