"""The layout of a plot: axes, legend and labels in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ludus.rendering.plots.numbers import Ticks, label, ticks, value_text
from ludus.rendering.plots.series import Curve, last_points
from ludus.rendering.plots.sheet import fitted, text_width
from ludus.types import Array

Numbers = TypeVar("Numbers", float, Array)


class Axis(NamedTuple):
    """A linear map from the numbers `low` to `high` to the pixels `first` to `last`."""

    low: float
    high: float
    first: float
    last: float
    ticks: Ticks

    def place(self, values: Numbers) -> Numbers:
        """The pixel positions of numbers."""
        return self.first + (values - self.low) / (self.high - self.low) * (self.last - self.first)


class Words(NamedTuple):
    """The title and the axis labels of a plot."""

    title: str
    x_label: str
    y_label: str


def axes(given: Sequence[Curve], words: Words, size: tuple[float, float], unit: float) -> tuple[Axis, Axis]:
    """The x axis and the y axis (which has its low end at the bottom)."""
    width, height = size
    rows = len(legend_rows(given, width, unit))
    top = unit * (18 + 30 * bool(words.title) + 23 * rows + 23 * bool(words.y_label))
    bottom = height - unit * (36 + 24 * bool(words.x_label))
    low, high = limits([part for curve in given for part in (curve.y, curve.low, curve.high)], margin=0.06)
    marks = ticks(low, high, max(2, int((bottom - top) / (48 * unit))))
    left = unit * 24 + max(unit * 24, *(text_width(label(mark, marks.step), 14 * unit) for mark in marks.values), 0)
    widest = max((text_width(value_text(end), 15 * unit) for _, end in last_points(given)), default=0)
    right = width - unit * 28 - max(unit * 20, widest)
    vertical = Axis(low, high, bottom, top, marks)
    return horizontal_axis([curve.x for curve in given], left, right, unit), vertical


def horizontal_axis(numbers: Sequence[Array], left: float, right: float, unit: float) -> Axis:
    """The x axis, with as many ticks as there is room for labels."""
    low, high = limits(numbers)
    whole = all(bool((np.floor(part) == part).all()) for part in numbers)
    for count in range(max(2, int((right - left) / (80 * unit))), 0, -1):
        axis = Axis(low, high, left, right, ticks(low, high, count, whole))
        widest = max((text_width(label(mark, axis.ticks.step), 14 * unit) for mark in axis.ticks.values), default=0)
        if widest + 18 * unit <= axis.place(low + axis.ticks.step) - left:
            break
    return axis


def limits(parts: Sequence[Array], margin: float = 0.0) -> tuple[float, float]:
    """The range of the numbers, widened by `margin` times its length; a wider range if all numbers are equal."""
    numbers = [part[np.isfinite(part)] for part in parts]
    low = min((float(part.min()) for part in numbers if part.size), default=0.0)
    high = max((float(part.max()) for part in numbers if part.size), default=1.0)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-290):
        spread = size / 2 if size > 1e-280 else 1.0
        return low - spread, high + spread
    return low - margin * (high - low), high + margin * (high - low)


def legend_rows(given: Sequence[Curve], width: float, unit: float) -> list[list[tuple[float, int, str]]]:
    """Rows of (x, index of the curve, name): at most two, since no name takes more than a quarter of a row."""
    left, room = 24 * unit, width - 48 * unit
    rows: list[list[tuple[float, int, str]]] = []
    x = math.inf
    for index, curve in enumerate(given if len(given) > 1 else ()):
        name = fitted(curve.name, 15 * unit, room / min(4, len(given)) - 45 * unit)
        needed = 45 * unit + text_width(name, 15 * unit)
        if x + needed > left + room + unit:
            rows.append([])
            x = left
        rows[-1].append((x, index, name))
        x += needed
    return rows


def apart(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Increasing positions from top to bottom, at least `gap` apart and close to the wanted ones."""
    gap = min(gap, (bottom - top) / max(1, len(wanted) - 1))
    groups: list[list[float]] = []
    # Overlapping neighbours are merged into a group around its mean, which minimises the squared distances.
    for index, place in enumerate(wanted):
        groups.append([place - index * gap])
        while len(groups) > 1 and _mean(groups[-2]) >= _mean(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    most = bottom - gap * (len(wanted) - 1)
    bases = [min(max(_mean(group), top), most) for group in groups for _ in group]
    return [base + index * gap for index, base in enumerate(bases)]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)
