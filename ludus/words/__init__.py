"""The words a game is written in: records of bytes, compiled rules, parameters; with `random` and `draw` beside them.

A state is N bytes. That is the whole interface: clone is an assignment, save is `tobytes`, and sending it is free.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from ludus.types import Continuous, Discrete, LudusError, Mirror, Spec
from ludus.words.cache import caching_in, inside_folder, loops_folder, plain_python
from ludus.words.compiling import Rule, whole

__all__ = [
    "CUT", "HEAD", "OVER", "PLAYING", "Continuous", "Discrete", "LudusError", "Mirror", "Parameter", "Spec", "choice",
    "f32", "f64", "i8", "i16", "i32", "i64", "integer", "number", "record", "rule", "u8", "u16", "u32", "u64", "within",
]  # fmt: skip

i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
f32, f64 = np.float32, np.float64

PLAYING, OVER, CUT = 0, 1, 2
"""A game is running, has truly ended, or was cut off by its horizon (what comes after still has value)."""

HEAD: dict[str, Any] = {"key": u64, "seat": i8, "status": i8}
"""The fields every state begins with: its randomness, who is to act, and PLAYING, OVER or CUT."""

Function = TypeVar("Function", bound=Callable[..., Any])


def rule(function: Function) -> Function:
    """Compile a function of the rules. It reads and writes only its arguments, and never raises.

    This one decorator holds every flag, so NUMBA_DISABLE_JIT=1 makes all rules plain Python for debugging.
    """
    return _compiled(function, Rule)


def part(function: Function) -> Function:
    """Compile a part of a loop that is always built into it: its arguments then cost nothing to hand over."""
    return _compiled(function, functools.partial(Rule, forceinline=True))


def kernel(function: Function) -> Function:
    """Compile a loop over many rows, which calls rules; kept on disk, so it must stand at the top of its module."""
    with contextlib.nullcontext() if inside_folder() else caching_in(loops_folder()):
        return _compiled(function, whole)


def _compiled(function: Function, compiler: Callable[[Function], Any]) -> Function:
    return cast(Function, _like_compiled(function) if plain_python() else compiler(function))


def _like_compiled(function: Function) -> Function:
    """A plain rule treats numbers as a compiled one does: they wrap and divide by zero without a word."""

    @functools.wraps(function)
    def plain(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(Function, plain)


class Within(NamedTuple):
    """A field with the range its values stay in."""

    low: Any
    high: Any
    type: Any
    shape: tuple[int, ...]


def within(low: Any, high: Any, type: Any, *shape: int) -> Within:
    """A field of numbers between `low` and `high` (scalars, or one bound a component)."""
    return Within(low, high, type, shape)


def record(**fields: Any) -> np.dtype[Any]:
    """A flat record: `record(board=(i8, 9), moves=i8, sensors=within(0, 1, f32, 6))`."""
    return np.dtype([(name, *_layout(field)) for name, field in fields.items()], align=True)


def _layout(field: Any) -> tuple[Any, ...]:
    if isinstance(field, Within):
        # The range travels inside the dtype, so that a record is one thing and still a plain NumPy dtype.
        return np.dtype(field.type, metadata={"low": field.low, "high": field.high}), field.shape
    if isinstance(field, tuple):
        return field[0], tuple(np.atleast_1d(field[1]).tolist())
    return (field,)


def bounds(dtype: np.dtype[Any], name: str) -> tuple[Any, Any]:
    """The declared range of a field, broadcast to its shape; the whole range of its type where none is declared."""
    field = dtype.fields[name][0]  # type: ignore[index]
    base, shape = field.base, field.shape
    if base.metadata and "low" in base.metadata:
        low, high = base.metadata["low"], base.metadata["high"]
    elif base.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(base).min, np.iinfo(base).max
    plain = np.dtype(base.str)
    return np.broadcast_to(np.asarray(low, plain), shape), np.broadcast_to(np.asarray(high, plain), shape)


class Parameter(NamedTuple):
    """A setting given in the name of a game, `car(track=7)`; it lives in the state's field of the same name."""

    default: str
    parse: Callable[[str], Any]
    """turns the text into the field's value, or raises LudusError with a sentence"""
    meaning: str


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


def choice(default: str, options: tuple[str, ...], meaning: str) -> Parameter:
    """A parameter that is one of a few words; the record holds the index of the word."""

    def parse(text: str) -> int:
        if text not in options:
            raise LudusError(f'"{text}" is not one of {", ".join(options)}')
        return options.index(text)

    return Parameter(default, parse, meaning)
