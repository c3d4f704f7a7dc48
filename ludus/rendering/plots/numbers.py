"""Number formatting: round numbers for axis ticks, four digits for other values."""

from __future__ import annotations

import math
from typing import NamedTuple

UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class Ticks(NamedTuple):
    """The numbers at the ticks of an axis, and the distance between them."""

    values: list[float]
    step: float


def ticks(low: float, high: float, count: int, whole: bool = False) -> Ticks:
    """At most count + 1 round numbers from `low` to `high` (> low), 1, 2 or 5 times a power of ten apart."""
    span = max((high - low) / count, 1.0 if whole else 0.0)
    exponent = _order(span)
    mantissa = next(m for m in (1, 2, 5, 10, 20) if float(f"{m}e{exponent}") >= span * (1 - 1e-9))
    step = float(f"{mantissa}e{exponent}")
    numbers = range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)
    # Convert from decimal text, so that a tick is 0.3 and not 0.30000000000000004.
    return Ticks([float(f"{number * mantissa}e{exponent}") for number in numbers], step)


def label(value: float, step: float) -> str:
    """The label of a tick, such as 200k, 0.5 or 3e-7, with enough digits to distinguish it from its neighbour."""
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1e15 or (step < 1e-5 and size < 1e-3):
        return _short_exponent(f"{value:.{max(0, _order(size) - _order(step))}e}")
    unit, suffix = next((pair for pair in UNITS if size >= pair[0] and step >= 0.0099 * pair[0]), (1.0, ""))
    return f"{value / unit:.{max(0, -_order(step / unit))}f}{suffix}"


def value_text(value: float) -> str:
    """A number in four digits: 0.9132, 487.3, 1.234M."""
    if not 1e-4 < abs(value) < 1e15:
        return _short_exponent(f"{value + 0.0:.3g}")
    unit, suffix = next((pair for pair in UNITS if abs(value) >= pair[0]), (1.0, ""))
    return f"{value / unit:.4g}{suffix}"


def _order(size: float) -> int:
    """The decimal exponent of a number: 2 for 100 to 999."""
    return math.floor(math.log10(size) + 1e-9)


def _short_exponent(words: str) -> str:
    mantissa, _, exponent = words.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa
