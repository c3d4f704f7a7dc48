"""Benchmarks: each suite is a generator of results, and every one prints the same JSON shape."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ludus.pool import hardware
from ludus.types import JsonObject

Tell = Callable[[str, int, int], None]
"""called with the name of the present measurement, the number of finished parts and their total"""


class Result(NamedTuple):
    """One measured number."""

    name: str
    value: float
    unit: str


def as_json(results: Iterable[Result]) -> JsonObject:
    """{"hardware": {…}, "reference": iterations/s, "results": [{"name", "value", "unit"}, …]}."""
    from ludus.bench import reference

    measured = [result._asdict() for result in results]
    return {"hardware": hardware.describe(), "reference": reference.rate(), "results": measured}


def median_rate(measure: Callable[[], float], rounds: int) -> float:
    """The median of several rounds, which is robust against outliers."""
    return statistics.median(measure() for _ in range(rounds))


def readable(value: float) -> str:
    """31,400,000 -> 31.4 M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
