"""Schedules: numbers that change during training, such as an exploration rate, a learning rate or a temperature.

A schedule is plain data: a start value, an end value and how one turns into the other. Kernels and Python code compute
it with the same function `value`, so that both get the same bits for the same step.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np

from ludus.dsl import kernel, rule
from ludus.types import Array, LudusError

CONSTANT, LINEAR, EXPONENTIAL = 0, 1, 2

Numbers = tuple[int, float, float, float]


@rule
def value(kind: int, a: float, b: float, c: float, step: float) -> float:
    """The value at a step: w a + (1 - w) b, where w falls from 1 to 0; clipped to the range from a to b.

    CONSTANT: w = 1. LINEAR: w = 1 - step / c. EXPONENTIAL: w = exp(-c step). Steps before 0 count as 0.
    """
    elapsed = max(float(step), 0.0)
    if kind == CONSTANT:
        return a
    if kind == LINEAR:
        if elapsed >= c:
            return b
        left = 1.0 - elapsed / c
    else:
        left = math.exp(-c * elapsed)
    mixed = left * a + (1.0 - left) * b
    return min(max(mixed, min(a, b)), max(a, b))


@kernel
def fill(kind: int, a: float, b: float, c: float, steps: Array, out: Array) -> None:
    """Write the value at each of `steps`."""
    for index in range(len(steps)):
        out[index] = value(kind, a, b, c, steps[index])


# For a single step, plain Python is faster than a call of compiled code.
_plain_value: Callable[..., float] = getattr(value, "py_func", value)


class Schedule(Protocol):
    """A number for every step; `schedule(step)` takes one step, or an array of them."""

    def numbers(self) -> Numbers:
        """The first four arguments of `value`, as compiled code needs them."""
        ...

    @overload
    def __call__(self, step: float) -> float: ...
    @overload
    def __call__(self, step: Array) -> Array: ...
    def __call__(self, step: float | Array) -> float | Array:
        """The value at a step, or the values at an array of steps."""
        if isinstance(step, (int, float)) or np.ndim(step) == 0:
            return _plain_value(*self.numbers(), float(step))
        steps = np.asarray(step, np.float64)
        out = np.empty(steps.size)
        fill(*self.numbers(), steps.ravel(), out)
        return out.reshape(steps.shape)


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value at every step."""

    value: float

    def __post_init__(self) -> None:
        _store_floats(self, "value")

    def numbers(self) -> Numbers:
        return CONSTANT, self.value, self.value, 0.0

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Linear(Schedule):
    """start + (end - start) step / steps, and `end` from then on."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _store_floats(self, "start", "end", "steps")
        if self.steps < 0 or self.steps != int(self.steps):
            raise LudusError(f"the steps of a linear schedule must be a whole number, 0 or more, not {self.steps:g}")
        object.__setattr__(self, "steps", int(self.steps))

    def numbers(self) -> Numbers:
        return LINEAR, self.start, self.end, float(self.steps)

    def __str__(self) -> str:
        return f"linear({self.start!r}, {self.end!r}, {self.steps})"


@dataclass(frozen=True)
class Exponential(Schedule):
    """end + (start - end) exp(-rate step): each step reduces the distance to `end` by about the fraction `rate`."""

    start: float
    end: float
    rate: float

    def __post_init__(self) -> None:
        _store_floats(self, "start", "end", "rate")
        if self.rate < 0:
            raise LudusError(f"the rate of an exponential schedule must be 0 or more, not {self.rate:g}")

    def numbers(self) -> Numbers:
        return EXPONENTIAL, self.start, self.end, self.rate

    def __str__(self) -> str:
        return f"exponential({self.start!r}, {self.end!r}, {self.rate!r})"


def _store_floats(schedule: Schedule, *names: str) -> None:
    """Convert the fields to plain floats, so that schedules print and compare the same for NumPy numbers."""
    for name in names:
        number = float(getattr(schedule, name))
        if not math.isfinite(number):
            raise LudusError(f"the {name} of a schedule must be a finite number, not {number}")
        object.__setattr__(schedule, name, number)


_FORMS: dict[str, tuple[Callable[..., Schedule], str]] = {
    "constant": (Constant, "constant(value)"),
    "linear": (Linear, "linear(start, end, steps)"),
    "exponential": (Exponential, "exponential(start, end, rate)"),
}


def parse(text: str | float) -> Schedule:
    """A schedule from a setting: `0.1`, "0.1", "linear(1.0, 0.05, 100000)" or "exponential(1.0, 0.01, 1e-5)"."""
    call = re.fullmatch(r"\s*([^\s()]+)\s*\((.*)\)\s*", str(text))
    if call is None:
        return Constant(_number(str(text), str(text)))
    word, inside = call.groups()
    if word not in _FORMS:
        raise LudusError(f'unknown schedule "{word}"; {_hint(word)}')
    make, form = _FORMS[word]
    arguments = [_number(part, str(text)) for part in inside.split(",")] if inside.strip() else []
    expected = form.count(",") + 1
    if len(arguments) != expected:
        raise LudusError(f'"{text}" has {len(arguments)} numbers; write {form}, with {expected}')
    return make(*arguments)


def _number(part: str, text: str) -> float:
    try:
        return float(part)
    except ValueError:
        forms = ", ".join(form for _, form in _FORMS.values())
        raise LudusError(f'"{part.strip()}" in the schedule "{text}" is not a number; write 0.1 or {forms}') from None


def _hint(word: str) -> str:
    close = difflib.get_close_matches(word.lower(), _FORMS, 1)
    return f'did you mean "{close[0]}"?' if close else f"known are {', '.join(_FORMS)}"
