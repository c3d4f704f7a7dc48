"""The data of a plot: series given by the caller, checked and converted to curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.rendering.plots.colors import COLORS
from ludus.rendering.plots.sheet import drawable
from ludus.types import Array, LudusError

BIGGEST = 1e300
"""numbers are clipped to this absolute value, so that the range of an axis is always finite"""


class Series(NamedTuple):
    """One curve: [points] numbers x and y, and a band from `low` to `high` around it (a confidence interval)."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None


class Curve(NamedTuple):
    """A series ready to be drawn: [points] floats, x rising; NaN is a gap."""

    name: str
    x: Array
    y: Array
    low: Array
    high: Array


def checked(series: Sequence[Series]) -> list[Curve]:
    """The series as curves; raises LudusError for the first one that is invalid."""
    if isinstance(series, Series) or not all(isinstance(one, Series) for one in series):
        raise LudusError('a plot takes a list of series; give [Series("name", x, y), ...]')
    if len(series) > len(COLORS):
        raise LudusError(f"a plot has colours for {len(COLORS)} series and got {len(series)}; draw several plots")
    return [curve_of(one) for one in series]


def curve_of(series: Series) -> Curve:
    if (series.low is None) != (series.high is None):
        raise LudusError(f'series "{series.name}" has one edge of a band; give both low and high, or neither')
    x, y = (floats(part, f'{name} of series "{series.name}"') for part, name in ((series.x, "x"), (series.y, "y")))
    none = np.full(len(y), math.nan)
    low = none if series.low is None else floats(series.low, f'low of series "{series.name}"')
    high = none if series.high is None else floats(series.high, f'high of series "{series.name}"')
    lengths = [len(part) for part in (x, y, low, high)]
    if len(set(lengths)) > 1:
        counts = ", ".join(f"{count} {name}" for count, name in zip(lengths, ("x", "y", "low", "high"), strict=True))
        raise LudusError(f'series "{series.name}" has {counts}; give the same number of each')
    order = np.argsort(x, kind="stable")[: np.isfinite(x).sum()]  # NaN comes last
    return Curve(drawable(series.name), *(part[order] for part in (x, y, low, high)))


def floats(values: ArrayLike, what: str) -> Array:
    """[n] floats clipped to ±BIGGEST; None, NaN and infinities become NaN."""
    try:
        array = np.asarray(values)
        with np.errstate(over="ignore"):  # a longdouble may overflow to infinity
            numbers = array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or numbers.ndim != 1:
        found = "something else" if numbers is None else f"an array of shape {numbers.shape}"
        raise LudusError(f"{what} must be a list of numbers, but is {found}; give one number per point")
    return np.clip(np.where(np.isfinite(numbers), numbers, math.nan), -BIGGEST, BIGGEST)


def stretches(present: Array) -> list[slice]:
    """The ranges between gaps."""
    edges = np.flatnonzero(np.diff(present.astype(np.int8), prepend=0, append=0)).tolist()
    return [slice(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def last_points(given: Sequence[Curve]) -> list[tuple[float, float]]:
    """The last point of each curve that has one."""
    found = ((curve, np.flatnonzero(np.isfinite(curve.y))) for curve in given)
    return [(float(curve.x[points[-1]]), float(curve.y[points[-1]])) for curve, points in found if points.size]
