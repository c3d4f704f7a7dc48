"""The language for writing games: records, compiled rules and parameters; see also `random` and `draw`.

A state is a flat record of bytes: assign it to clone it, call `tobytes` to save or send it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from ludus.dsl.cache import caching_in, inside_folder, loops_folder, plain_python
from ludus.dsl.compiler import Rule, whole
from ludus.dsl.interfaces import Control, Ghost, Instrument
from ludus.dsl.records import bounds, f32, f64, i8, i16, i32, i64, record, u8, u16, u32, u64, within
from ludus.types import Continuous, Discrete, LudusError, Mirror, Spec

__all__ = [
    "CUT", "HEAD", "OVER", "PLAYING", "Continuous", "Control", "Discrete", "Ghost", "Instrument", "LudusError",
    "Mirror", "Parameter", "Spec", "bounds", "choice", "f32", "f64", "i8", "i16", "i32", "i64", "integer", "number",
    "record", "rule", "u8", "u16", "u32", "u64", "within",
]  # fmt: skip

PLAYING, OVER, CUT = 0, 1, 2
"""Status of a game: running, terminated, or truncated by its horizon (the last state still has a value)."""

HEAD: dict[str, object] = {"key": u64, "seat": i8, "status": i8}
"""The first fields of every state: its random key, the seat to act, and PLAYING, OVER or CUT."""

Function = TypeVar("Function", bound=Callable[..., object])


def rule(function: Function) -> Function:
    """Compile a function of a game. It reads and writes only its arguments, and never raises.

    With NUMBA_DISABLE_JIT=1 all rules run as plain Python, for debugging.
    """
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise LudusError(f"the rule {function.__name__} cannot yield or await; it reads and writes its arguments")
    return _compiled(function, Rule)


def part(function: Function) -> Function:
    """Compile a function that is always inlined into the loop that calls it, so passing arguments costs nothing."""
    return _compiled(function, functools.partial(Rule, forceinline=True))


def kernel(function: Function) -> Function:
    """Compile a loop over many rows that calls rules; cached on disk, so it must be a top-level function."""
    with contextlib.nullcontext() if inside_folder() else caching_in(loops_folder()):
        return _compiled(function, whole)


def _compiled(function: Function, compiler: Callable[[Function], object]) -> Function:
    return cast(Function, _like_compiled(function) if plain_python() else compiler(function))


def _like_compiled(function: Function) -> Function:
    """Make plain Python behave like compiled code: overflow and division by zero give no warning."""

    @functools.wraps(function)
    def plain(*arguments: object) -> object:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(Function, plain)


class Parameter(NamedTuple):
    """A setting in the name of a game, as in `car(track=7)`; stored in the field of the state with the same name."""

    default: str
    parse: Callable[[str], ArrayLike]
    """converts the text to the value of the field, or raises LudusError"""
    meaning: str
    options: tuple[str, ...] = ()
    """all allowed values, if there are only a few"""
    by_hand: str = ""
    """the default when a person plays; empty if it is the same"""
    layout: bool = False
    """True for the seed of the game's layout: a whole number below 2**31, or "random" for a new layout in each game.
    Interfaces that show several games in one picture use the same value for all of them."""


def number(default: float, low: float, high: float, meaning: str) -> Parameter:
    """A parameter that is a number from `low` to `high`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not low <= value <= high:
            raise LudusError(f'"{text}" is not a number from {low:g} to {high:g}')
        return value

    return Parameter(f"{default:g}", parse, meaning)


def integer(default: int, low: int, high: int, meaning: str) -> Parameter:
    """A parameter that is a whole number from `low` to `high`."""

    def parse(text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and low <= int(text) <= high):
            raise LudusError(f'"{text}" is not a whole number from {low} to {high}')
        return int(text)

    return Parameter(str(default), parse, meaning)


def choice(default: str, options: tuple[str, ...], meaning: str, by_hand: str = "") -> Parameter:
    """A parameter that is one of a few words; the record holds the index of the word."""

    def parse(text: str) -> int:
        if text not in options:
            raise LudusError(f'"{text}" is not one of {", ".join(options)}')
        return options.index(text)

    return Parameter(default, parse, meaning, options, by_hand)
