"""Learning curves as a Matplotlib figure and as a PNG, and as a sparkline for the terminal.

Figures are made without pyplot, so that they need no display and leave the caller's figures and settings alone.
"""

from __future__ import annotations

import io
import math
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.files import write_atomically
from ludus.types import Array, LudusError

if TYPE_CHECKING:  # Matplotlib is imported when the first figure is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#59c2ff", "#ffb454", "#3f9c66", "#fbff84", "#ff4900", "#a476f5", "#a8ffe0", "#f770af")
"""colours of curves: bright on the background, and distinguishable with colour blindness"""
BACKGROUND, GRID, AXIS, INK, TITLE = "#1e2430", "#2c3546", "#55617a", "#a9b3c4", "#e8eaed"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "font.size": 10, "figure.facecolor": BACKGROUND, "savefig.facecolor": "auto",
    "axes.facecolor": BACKGROUND, "axes.edgecolor": AXIS, "axes.labelcolor": INK, "axes.titlecolor": TITLE,
    "axes.titlesize": 15, "axes.titlelocation": "left", "axes.grid": True, "axes.axisbelow": True, "grid.color": GRID,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "xtick.color": INK,
    "ytick.color": INK, "ytick.left": False, "text.color": INK, "text.parse_math": False, "legend.frameon": False,
    "legend.labelcolor": TITLE, "legend.columnspacing": 1.2, "legend.handlelength": 1.2,
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.1,
}  # fmt: skip
SMALLEST, LARGEST = (320, 200), (7680, 4320)
BIGGEST = 1e100
"""numbers are clipped to this absolute value, so that the range of an axis is always finite"""
BLOCKS = "▁▂▃▄▅▆▇█"


class Series(NamedTuple):
    """One curve: [points] numbers x and y, and a band from `low` to `high` around it (a confidence interval)."""

    name: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None


def curves(
    path: str | os.PathLike[str],
    series: Sequence[Series],
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    size: tuple[int, int] = (960, 540),
) -> None:
    """Draw up to eight series into a .png file (atomically); numbers that are not finite are gaps."""
    save(figure(series, title, x_label, y_label, size), path)


def figure(
    series: Sequence[Series],
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    size: tuple[int, int] = (960, 540),
) -> Figure:
    """Up to eight series as a figure of `size` pixels; several series have a legend with their last values."""
    given, (width, height) = checked(series), checked_size(size)
    import matplotlib
    from matplotlib.figure import Figure

    scale = max(0.75, min(width / 960, height / 540))
    room = width / scale * 0.72  # in points: 100 pixels are an inch of 72 points
    with matplotlib.rc_context(STYLE):
        # A little more than a whole pixel, since Matplotlib rounds down.
        shape = (width + 0.01) / (100 * scale), (height + 0.01) / (100 * scale)
        made = Figure(shape, dpi=100 * scale, layout="constrained")
        axes = made.add_subplot()
        axes.set_title(fitted(title, 15, room - 70))
        axes.set_xlabel(fitted(x_label, 10, room - 70))
        axes.set_ylabel(fitted(y_label, 10, height / scale * 0.72 - 90))
        lines = [_draw(axes, one, color) for one, color in zip(given, COLORS, strict=False)]
        if not any(np.isfinite(one.y).any() for one in given):
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, "no scores yet", transform=axes.transAxes, ha="center", va="center", size=14)
            return made
        _label_axes(axes, given)
        if len(given) == 1:
            x, y = _last_point(given[0])
            place: dict[str, Any] = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
            axes.annotate(value_text(y), (x, y), (7, 0), color=COLORS[0], **place)
        else:
            columns = min(int(room // 150), len(given), 4)
            names = [_entry(one, room / columns - 40) for one in given]
            made.legend(lines, names, loc="outside lower left", ncols=columns)
    return made


def _draw(axes: Axes, series: Series, color: str) -> Any:
    """The line of a series and its band; a point between gaps is a dot with a bar."""
    x, y, low, high = (np.asarray(part) for part in series[1:])
    axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
    alone = _between_gaps(np.isfinite(low) & np.isfinite(high))
    axes.vlines(x[alone], low[alone], high[alone], color=color, alpha=0.5, linewidth=3)
    (line,) = axes.plot(x, y, color=color, linewidth=1.8, solid_capstyle="round")
    dots = _between_gaps(np.isfinite(y))
    if np.isfinite(y).any():
        dots[np.flatnonzero(np.isfinite(y))[-1]] = True
    axes.plot(x[dots], y[dots], "o", color=color, markersize=5)
    return line


def _between_gaps(present: Array) -> Array:
    """Where a point is present and both its neighbours are not."""
    padded = np.concatenate([[False], present, [False]])
    return present & ~padded[:-2] & ~padded[2:]


def _label_axes(axes: Axes, given: Sequence[Series]) -> None:
    """Ticks such as 200k on the x axis, at whole numbers if all x are whole."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    left, right = axes.get_xlim()
    whole = all(bool((np.floor(np.asarray(one.x)) == one.x).all()) for one in given)
    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=whole, min_n_ticks=1))
    if right - left > 1e-3 * max(abs(left), abs(right)):  # else neighbours would have the same label
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a .png file (atomically)."""
    target = pathlib.Path(path)
    if target.suffix.lower() != ".png":
        raise LudusError(f'cannot write a plot to "{target}"; use a name that ends in .png')
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    write_atomically(target, buffer.getvalue())


def fitted(words: str, size: float, room: float) -> str:
    """The text on one line of at most `room` points; its middle is cut out, since names of runs differ at their ends.

    Characters that the font does not have become question marks.
    """
    known = _font(size).get_charmap()
    whole = " ".join("".join(c if c.isspace() or ord(c) in known else "?" for c in str(words)[:400]).split())
    kept, cut = len(whole), whole
    while kept and text_width(cut, size) > room:
        kept -= 1
        cut = whole[: (kept + 1) // 2].rstrip() + "…" + whole[len(whole) - kept // 2 :].lstrip()
    return cut


def text_width(words: str, size: float) -> float:
    """The width of a text in points."""
    font = _font(size)
    font.set_text(words)
    return float(font.get_width_height()[0]) / 64


def _font(size: float) -> Any:
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    font.set_size(size, 72)
    return font


def value_text(value: float) -> str:
    """A number in four digits: 0.9132, 487.3, 1.234M."""
    from matplotlib.ticker import EngFormatter

    return f"{value + 0.0:.4g}" if abs(value) < 1000 or abs(value) >= 1e15 else EngFormatter(sep="", places=3)(value)


def _entry(series: Series, room: float) -> str:
    """A legend entry of at most `room` points: the name, and the last value if there is one."""
    value = f": {value_text(_last_point(series)[1])}" if np.isfinite(np.asarray(series.y)).any() else ""
    return fitted(series.name, 10, room - text_width(value, 10)) + value


def _last_point(series: Series) -> tuple[float, float]:
    last = np.flatnonzero(np.isfinite(np.asarray(series.y)))[-1]
    return float(np.asarray(series.x)[last]), float(np.asarray(series.y)[last])


def checked(series: Sequence[Series]) -> list[Series]:
    """The series as floats, with x rising and NaN for gaps; raises LudusError for the first one that is invalid."""
    if isinstance(series, Series) or not all(isinstance(one, Series) for one in series):
        raise LudusError('a plot takes a list of series; give [Series("name", x, y), ...]')
    if len(series) > len(COLORS):
        raise LudusError(f"a plot has colours for {len(COLORS)} series and got {len(series)}; draw several plots")
    return [_checked_series(one) for one in series]


def _checked_series(series: Series) -> Series:
    if (series.low is None) != (series.high is None):
        raise LudusError(f'series "{series.name}" has one edge of a band; give both low and high, or neither')
    x, y = (floats(part, f'{name} of series "{series.name}"') for part, name in ((series.x, "x"), (series.y, "y")))
    none = np.full(len(y), math.nan)
    low = none if series.low is None else floats(series.low, f'low of series "{series.name}"')
    high = none if series.high is None else floats(series.high, f'high of series "{series.name}"')
    lengths = [len(part) for part in (x, y, low, high)]
    if len(set(lengths)) > 1:
        counts = ", ".join(f"{count} {name}" for count, name in zip(lengths, Series._fields[1:], strict=True))
        raise LudusError(f'series "{series.name}" has {counts}; give the same number of each')
    order = np.argsort(x, kind="stable")[: np.isfinite(x).sum()]  # NaN comes last
    return Series(series.name, *(part[order] for part in (x, y, low, high)))


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


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if len(size) != 2 or not all(
        isinstance(side, (int, np.integer)) and least <= side <= most
        for side, least, most in zip(size, SMALLEST, LARGEST, strict=True)
    ):
        least, most = (f"{width}x{height}" for width, height in (SMALLEST, LARGEST))
        raise LudusError(f"cannot draw a plot of size {size}; give whole numbers from {least} to {most}")
    return size


def spark(values: ArrayLike, width: int = 40) -> str:
    """The values as one line of at most `width` blocks, each the mean of its part; blank if no value is finite."""
    if width < 1:
        raise LudusError(f"a line of {width} blocks cannot be drawn; give it a width of 1 or more")
    numbers = floats(values, "the values of a spark line")
    if not np.isfinite(numbers).any():
        return " " * min(width, len(numbers))
    numbers /= max(float(np.nanmax(np.abs(numbers))), 1e-300)
    starts = np.arange(min(width, len(numbers))) * len(numbers) // min(width, len(numbers))
    counts = np.add.reduceat(np.isfinite(numbers).astype(np.int64), starts)
    means = np.add.reduceat(np.nan_to_num(numbers), starts) / np.maximum(counts, 1)
    low, high = means[counts > 0].min(), means[counts > 0].max()
    share = (means - low) / (high - low) if high - low > 1e-9 else np.full(len(means), 0.5)
    levels = np.clip(share * len(BLOCKS), 0, len(BLOCKS) - 1).astype(int)
    return "".join(BLOCKS[level] if count else " " for level, count in zip(levels, counts, strict=True))
