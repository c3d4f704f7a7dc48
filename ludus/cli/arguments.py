"""Find the game among the arguments of `ludus train`; its preset and algorithm define which flags exist."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import re
from collections.abc import Iterator
from typing import get_args, get_origin, get_type_hints

from ludus.types import LudusError

NONE, ONE, MANY = 0, 1, 2
"""how many values a flag takes"""
NEGATIVE = re.compile(r"-[\d.]")


def game_first(arguments: list[str]) -> list[str]:
    """The same arguments with the game moved to the front; unchanged if no game is among them."""
    place = _place_of_game(arguments)
    if place is None:
        return arguments
    return [arguments[place], *arguments[:place], *arguments[place + 1 :]]


def value_of(flag: str, arguments: list[str]) -> str | None:
    """The value of a flag, given as the next word or after "="; None if the flag is absent."""
    for index, word in enumerate(arguments):
        if word == flag and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


@functools.cache
def flags() -> dict[str, int]:
    """All flags of runs of any algorithm, with the number of values each takes."""
    from ludus import algorithms, runtimes
    from ludus.training.config import Run

    kinds = set()
    for group in (algorithms, runtimes):
        for name in group.names():
            with contextlib.suppress(LudusError):  # a broken module of another author matters only if it is used
                kinds.add(group.settings_kind(name))
    return {"-h": NONE, "--help": NONE, "--algorithm": ONE, **{k: v for kind in (Run, *kinds) for k, v in _flags(kind)}}


def _flags(kind: type, prefix: str = "") -> Iterator[tuple[str, int]]:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        name, hint = f"{prefix}{field.name.replace('_', '-')}", hints[field.name]
        if field.name in ("settings", "runtime_settings"):
            continue  # their fields are flags themselves
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            yield from _flags(hint, f"{name}.")
        elif hint is bool:
            *path, last = name.rpartition(".")
            yield from ((f"--{name}", NONE), (f"--{''.join(path)}no-{last}", NONE))
        else:
            yield f"--{name}", MANY if any(get_origin(kind) is tuple for kind in (hint, *get_args(hint))) else ONE


def _place_of_game(arguments: list[str]) -> int | None:
    """Index of the first word that belongs to no flag; else of the last value of a tuple flag, if that names a game."""
    place, taken = 0, []
    while place < len(arguments):
        if not arguments[place].startswith("-"):
            return place
        values = _values(arguments, place)
        taken += [place + values] if values and _arity(arguments[place]) == MANY else []
        place += 1 + values
    games = [place for place in taken if _names_a_game(arguments[place])]
    return games[-1] if games else None


def _values(arguments: list[str], place: int) -> int:
    """The number of following words that are values of this flag."""
    most = {NONE: 0, ONE: 1, MANY: len(arguments)}[_arity(arguments[place])]
    following = arguments[place + 1 : place + 1 + most]
    ends = (count for count, word in enumerate(following) if word.startswith("-") and not NEGATIVE.match(word))
    return next(ends, len(following))


def _arity(word: str) -> int:
    flag, equals, _ = word.partition("=")
    if equals:
        return NONE
    known, flag = flags(), flag.replace("_", "-")
    if flag not in known:
        close = difflib.get_close_matches(flag, known, 1)
        hint = f' did you mean "{close[0]}"?' if close else ""
        raise LudusError(f'unknown flag "{flag}";{hint} ludus train GAME --help lists all flags')
    return known[flag]


def _names_a_game(word: str) -> bool:
    from ludus import games
    from ludus.bridges import PREFIXES

    return word.partition(":")[0] in PREFIXES or word.partition("(")[0].partition("@")[0] in games.names()
