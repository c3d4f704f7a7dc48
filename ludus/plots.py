"""Curves as a PNG, and as a line of blocks for the terminal: what a run has scored, drawn with Pillow alone.

A picture is laid out first (`layout`: which number stands at which pixel) and then painted, larger than asked for and
reduced, which smooths its edges. The same numbers give the same bytes.
"""

from __future__ import annotations

import functools
import io
import math
import os
import pathlib
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.types import Array, LudusError

if TYPE_CHECKING:  # Pillow is fetched when the first plot is painted
    from PIL import Image, ImageDraw

COLORS = ("#59c2ff", "#ffb454", "#3f9c66", "#fbff84", "#ff4900", "#a476f5", "#a8ffe0", "#f770af")
"""bright on the background, and apart from one another also for eyes that miss red, green or blue"""
BACKGROUND, GRID, AXIS, INK, TITLE = "#1e2430", "#2c3546", "#55617a", "#a9b3c4", "#e8eaed"
SMOOTHING = 3
SMALLEST, LARGEST = (320, 200), (7680, 4320)
BIGGEST = 1e300
"""larger numbers are drawn as this one, so that the span of an axis is always a number"""
UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = str.maketrans({**dict.fromkeys("‐‑‒–—−", "-"), "×": "x", "·": ".", "‘": "'", "’": "'", "“": '"', "”": '"'})


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


class Ticks(NamedTuple):
    """The numbers written at an axis, and how far they are apart."""

    values: list[float]
    step: float


class Axis(NamedTuple):
    """The numbers `low` to `high` on the pixels `first` to `last`."""

    low: float
    high: float
    first: float
    last: float
    ticks: Ticks

    def place(self, values: Any) -> Any:
        """The pixels of some numbers."""
        return self.first + (values - self.low) / (self.high - self.low) * (self.last - self.first)


class Sheet(NamedTuple):
    """What is painted on; `unit` is a pixel of a plot of 960x540 on this larger canvas."""

    canvas: Image.Image
    pen: ImageDraw.ImageDraw
    unit: float


class Words(NamedTuple):
    """What a plot says around its curves."""

    title: str
    x_label: str
    y_label: str


def curves(
    path: str | os.PathLike[str],
    series: Sequence[Series],
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    size: tuple[int, int] = (960, 540),
) -> None:
    """Draw up to eight series into a .png, whole or not at all; numbers that are not finite are gaps."""
    target = pathlib.Path(path)
    if target.suffix.lower() != ".png":
        raise LudusError(f'cannot write a plot to "{target}"; let its name end in .png')
    words = Words(drawable(title), drawable(x_label), drawable(y_label))
    picture = _painted(_checked(series), words, _checked_size(size))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    from ludus.pictures import write_whole

    write_whole(target, buffer.getvalue())


def spark(values: ArrayLike, width: int = 40) -> str:
    """The values as one line of at most `width` blocks, each the mean of its share; blank where nothing is finite."""
    if width < 1:
        raise LudusError(f"a line of {width} blocks cannot be drawn; give it a width of 1 or more")
    numbers = _floats(values, "the values of a spark line")
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


def ticks(low: float, high: float, count: int, whole: bool = False) -> Ticks:
    """At most count + 1 round numbers from `low` to a larger `high`, 1, 2 or 5 times a power of ten apart."""
    span = max((high - low) / count, 1.0 if whole else 0.0)
    exponent = _order(span)
    mantissa = next(m for m in (1, 2, 5, 10, 20) if float(f"{m}e{exponent}") >= span * (1 - 1e-9))
    step = float(f"{mantissa}e{exponent}")
    numbers = range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)
    # From the decimal text, so that the third tick of a tenth is 0.3 and not 0.30000000000000004.
    return Ticks([float(f"{number * mantissa}e{exponent}") for number in numbers], step)


def label(value: float, step: float) -> str:
    """A tick as people write it: 200k, 0.5, 3e-7; with the digits that tell it from its neighbour."""
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


def layout(given: Sequence[Curve], words: Words, size: tuple[float, float], unit: float) -> tuple[Axis, Axis]:
    """Where the numbers stand: the axis of x and the axis of y (which has its low number at the bottom)."""
    width, height = size
    rows = len(_legend_rows(given, width, unit))
    top = unit * (18 + 30 * bool(words.title) + 23 * rows + 23 * bool(words.y_label))
    bottom = height - unit * (36 + 24 * bool(words.x_label))
    low, high = _limits([part for curve in given for part in (curve.y, curve.low, curve.high)], margin=0.06)
    marks = ticks(low, high, max(2, int((bottom - top) / (48 * unit))))
    left = unit * 24 + max(unit * 24, *(text_width(label(mark, marks.step), 14 * unit) for mark in marks.values), 0)
    right = width - unit * 28 - max([unit * 20, *(text_width(value_text(end), 15 * unit) for _, end in _ends(given))])
    vertical = Axis(low, high, bottom, top, marks)
    return _horizontal([curve.x for curve in given], left, right, unit), vertical


def _horizontal(numbers: Sequence[Array], left: float, right: float, unit: float) -> Axis:
    """The axis of x, with as many ticks as there is room for their labels."""
    low, high = _limits(numbers)
    whole = all(bool((np.floor(part) == part).all()) for part in numbers)
    for count in range(max(2, int((right - left) / (80 * unit))), 0, -1):
        axis = Axis(low, high, left, right, ticks(low, high, count, whole))
        widest = max((text_width(label(mark, axis.ticks.step), 14 * unit) for mark in axis.ticks.values), default=0)
        if widest + 18 * unit <= axis.place(low + axis.ticks.step) - left:
            break
    return axis


def _limits(parts: Sequence[Array], margin: float = 0.0) -> tuple[float, float]:
    """The smallest and the largest number, set apart where all are one, with a margin as a share of their span."""
    numbers = [part[np.isfinite(part)] for part in parts]
    low = min((float(part.min()) for part in numbers if part.size), default=0.0)
    high = max((float(part.max()) for part in numbers if part.size), default=1.0)
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-290):
        spread = size / 2 if size > 1e-280 else 1.0
        return low - spread, high + spread
    return low - margin * (high - low), high + margin * (high - low)


def _checked(series: Sequence[Series]) -> list[Curve]:
    """The series as curves, or a sentence about the first that is none."""
    if isinstance(series, Series) or not all(isinstance(one, Series) for one in series):
        raise LudusError('a plot takes a list of series; give [Series("name", x, y), ...]')
    if len(series) > len(COLORS):
        raise LudusError(f"a plot tells {len(COLORS)} series apart and got {len(series)}; draw several plots")
    return [_curve(one) for one in series]


def _curve(series: Series) -> Curve:
    if (series.low is None) != (series.high is None):
        raise LudusError(f'series "{series.name}" has one edge of a band; give both low and high, or neither')
    x, y = (_floats(part, f'{name} of series "{series.name}"') for part, name in ((series.x, "x"), (series.y, "y")))
    none = np.full(len(y), math.nan)
    low = none if series.low is None else _floats(series.low, f'low of series "{series.name}"')
    high = none if series.high is None else _floats(series.high, f'high of series "{series.name}"')
    lengths = [len(part) for part in (x, y, low, high)]
    if len(set(lengths)) > 1:
        counts = ", ".join(f"{count} {name}" for count, name in zip(lengths, ("x", "y", "low", "high"), strict=True))
        raise LudusError(f'series "{series.name}" has {counts}; give as many of each')
    order = np.argsort(x, kind="stable")[: np.isfinite(x).sum()]  # NaN comes last
    return Curve(drawable(series.name), *(part[order] for part in (x, y, low, high)))


def _floats(values: ArrayLike, what: str) -> Array:
    """[n] floats that are at most BIGGEST; None, NaN and infinities are NaN."""
    try:
        array = np.asarray(values)
        with np.errstate(over="ignore"):  # a longer float may exceed ours: that is an infinity
            numbers = array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or numbers.ndim != 1:
        found = "something else" if numbers is None else f"an array of shape {numbers.shape}"
        raise LudusError(f"{what} must be a row of numbers, and is {found}; give one number a point")
    return np.clip(np.where(np.isfinite(numbers), numbers, math.nan), -BIGGEST, BIGGEST)


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if len(size) != 2 or not all(
        isinstance(side, (int, np.integer)) and least <= side <= most
        for side, least, most in zip(size, SMALLEST, LARGEST, strict=True)
    ):
        least, most = (f"{width}x{height}" for width, height in (SMALLEST, LARGEST))
        raise LudusError(f"cannot draw a plot of size {size}; give whole numbers from {least} to {most}")
    return size


def _painted(given: Sequence[Curve], words: Words, size: tuple[int, int]) -> Image.Image:
    """The whole picture."""
    from PIL import Image, ImageDraw

    large = (size[0] * SMOOTHING, size[1] * SMOOTHING)
    unit = SMOOTHING * max(0.75, min(size[0] / 960, size[1] / 540))
    canvas = Image.new("RGB", large, BACKGROUND)
    sheet = Sheet(canvas, ImageDraw.Draw(canvas), unit)
    horizontal, vertical = layout(given, words, large, unit)
    _paint_words(sheet, given, words, horizontal, vertical)
    if not _ends(given):
        _paint_baseline(sheet, horizontal, vertical)
        middle = (horizontal.first + horizontal.last) / 2, (vertical.first + vertical.last) / 2
        write(sheet, middle, "no scores yet", 20, INK, "mm")
        return canvas.reduce(SMOOTHING)
    _paint_grid(sheet, horizontal, vertical)
    thin = [_thinned(curve, horizontal) for curve in given]
    for curve, color in zip(thin, COLORS, strict=False):
        _paint_band(sheet, curve, color, horizontal, vertical)
    for curve, color in zip(thin, COLORS, strict=False):
        _paint_line(sheet, curve, color, horizontal, vertical)
    _paint_ends(sheet, given, horizontal, vertical)
    return canvas.reduce(SMOOTHING)


def _thinned(curve: Curve, horizontal: Axis) -> Curve:
    """Where points crowd, four a column of pixels, which paint the same: its first, lowest, highest and last."""
    if len(curve.x) <= 4 * (horizontal.last - horizontal.first):
        return curve
    columns = np.floor(horizontal.place(curve.x)).astype(np.int64)
    starts = np.flatnonzero(np.diff(columns, prepend=columns[0] - 1))
    lasts = np.append(starts[1:], len(columns)) - 1
    lowest, highest = np.fmin.reduceat(curve.y, starts), np.fmax.reduceat(curve.y, starts)
    y = np.stack([curve.y[starts], lowest, highest, curve.y[lasts]], axis=1)
    x = np.stack([curve.x[starts], curve.x[starts], curve.x[lasts], curve.x[lasts]], axis=1)
    low, high = np.fmin.reduceat(curve.low, starts), np.fmax.reduceat(curve.high, starts)
    return Curve(curve.name, x.ravel(), y.ravel(), np.repeat(low, 4), np.repeat(high, 4))


def _runs(present: Array) -> list[slice]:
    """The stretches between gaps."""
    edges = np.flatnonzero(np.diff(present.astype(np.int8), prepend=0, append=0)).tolist()
    return [slice(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def _ends(given: Sequence[Curve]) -> list[tuple[float, float]]:
    """The last point of each curve that has one."""
    found = ((curve, np.flatnonzero(np.isfinite(curve.y))) for curve in given)
    return [(float(curve.x[points[-1]]), float(curve.y[points[-1]])) for curve, points in found if points.size]


def _paint_grid(sheet: Sheet, horizontal: Axis, vertical: Axis) -> None:
    unit, pen = sheet.unit, sheet.pen
    left, right, top, bottom = horizontal.first, horizontal.last, vertical.last, vertical.first
    for mark in vertical.ticks.values:
        y = vertical.place(mark)
        pen.line((left, _crisp(y), right, _crisp(y)), fill=GRID, width=round(unit))
        write(sheet, (left - 9 * unit, y), label(mark, vertical.ticks.step), 14, INK, "rm")
    for mark in horizontal.ticks.values:
        x, words = horizontal.place(mark), label(mark, horizontal.ticks.step)
        half = text_width(words, 14 * unit) / 2 + 3 * unit
        pen.line((_crisp(x), top, _crisp(x), bottom), fill=GRID, width=round(unit))
        write(sheet, (min(max(x, half), sheet.canvas.width - half), bottom + 8 * unit), words, 14, INK, "ma")
    _paint_baseline(sheet, horizontal, vertical)


def _crisp(place: float) -> float:
    """The middle of the pixel that this place becomes: a thin line there does not blur into two."""
    return place // SMOOTHING * SMOOTHING + SMOOTHING // 2


def _paint_baseline(sheet: Sheet, horizontal: Axis, vertical: Axis) -> None:
    ends = (horizontal.first, vertical.first, horizontal.last, vertical.first)
    sheet.pen.line(ends, fill=AXIS, width=round(1.5 * sheet.unit))


def _paint_band(sheet: Sheet, curve: Curve, color: str, horizontal: Axis, vertical: Axis) -> None:
    """The band, so thin a colour that the grid and other bands are seen through it."""
    from PIL import Image, ImageDraw

    runs = _runs(np.isfinite(curve.low) & np.isfinite(curve.high))
    if not runs:
        return
    mask = Image.new("L", sheet.canvas.size, 0)
    pen = ImageDraw.Draw(mask)
    for run in runs:
        x, low, high = horizontal.place(curve.x[run]), vertical.place(curve.low[run]), vertical.place(curve.high[run])
        if x[0] == x[-1]:  # a polygon without an area is not seen: a bar
            pen.line((x[0], low.max(), x[0], high.min()), fill=140, width=round(4 * sheet.unit))
        else:
            pen.polygon(_points(np.append(x, x[::-1]), np.append(high, low[::-1])), fill=52)
    sheet.canvas.paste(color, (0, 0), mask)


def _paint_line(sheet: Sheet, curve: Curve, color: str, horizontal: Axis, vertical: Axis) -> None:
    width = round(2.4 * sheet.unit)
    for run in _runs(np.isfinite(curve.y)):
        x, y = horizontal.place(curve.x[run]), vertical.place(curve.y[run])
        sheet.pen.line(_points(x, y), fill=color, width=width, joint="curve")
        radius = width / 2 if len(x) > 1 else 2.4 * sheet.unit  # a point between gaps is a dot to be seen
        for end in (0, -1):
            dot(sheet, x[end], y[end], radius, color)


def _paint_ends(sheet: Sheet, given: Sequence[Curve], horizontal: Axis, vertical: Axis) -> None:
    """A dot at the end of each curve, and its value at the right, moved where it would cover another."""
    unit = sheet.unit
    colors = [color for curve, color in zip(given, COLORS, strict=False) if np.isfinite(curve.y).any()]
    ends = sorted(zip(_ends(given), colors, strict=True), key=lambda end: -end[0][1])
    wanted = [float(vertical.place(y)) for (_, y), _ in ends]
    places = _apart(wanted, 17 * unit, vertical.last, vertical.first)
    for ((x, y), color), place in zip(ends, places, strict=True):
        end = float(horizontal.place(x)), float(vertical.place(y))
        dot(sheet, *end, 4 * unit, color)
        _paint_leader(sheet, end, (horizontal.last + 8 * unit, place), color)
        write(sheet, (horizontal.last + 12 * unit, place), value_text(y), 15, color, "lm")


def _paint_leader(sheet: Sheet, start: tuple[float, float], stop: tuple[float, float], color: str) -> None:
    """Fine dots from the end of a curve that stops early to its value."""
    length = stop[0] - start[0]
    if length < 40 * sheet.unit:
        return
    for share in np.arange(12 * sheet.unit, length, 8 * sheet.unit).tolist():
        y = start[1] + (stop[1] - start[1]) * share / length
        dot(sheet, start[0] + share, y, 0.8 * sheet.unit, color)


def _apart(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Rising places at least a gap apart and near the wanted ones, between top and bottom."""
    gap = min(gap, (bottom - top) / max(1, len(wanted) - 1))
    groups: list[list[float]] = []
    # Neighbours that touch become one group around its mean: the nearest places in the sense of least squares.
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


def _paint_words(sheet: Sheet, given: Sequence[Curve], words: Words, horizontal: Axis, vertical: Axis) -> None:
    unit, width = sheet.unit, sheet.canvas.width
    room, y = width - 48 * unit, 14 * unit
    if words.title:
        write(sheet, (24 * unit, y), fitted(words.title, 21 * unit, room), 21, TITLE, "la")
        y += 30 * unit
    for row in _legend_rows(given, width, unit):
        for x, index, name in row:
            sheet.pen.line((x, y + 10 * unit, x + 18 * unit, y + 10 * unit), COLORS[index], round(4 * unit))
            write(sheet, (x + 25 * unit, y + 10 * unit), name, 15, TITLE, "lm")
        y += 23 * unit
    label_y = vertical.last - 24 * unit
    write(sheet, (24 * unit, label_y), fitted(words.y_label, 14 * unit, room), 14, INK, "la")
    middle = (horizontal.first + horizontal.last) / 2, vertical.first + 32 * unit
    write(sheet, middle, fitted(words.x_label, 14 * unit, horizontal.last - horizontal.first), 14, INK, "ma")


def _legend_rows(given: Sequence[Curve], width: float, unit: float) -> list[list[tuple[float, int, str]]]:
    """Rows of (x, which curve, name): at most two, since no name takes more than a quarter of a row."""
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


def write(sheet: Sheet, place: tuple[float, float], words: str, size: float, color: str, anchor: str) -> None:
    """Words at a place of the large canvas; `size` in pixels of a plot of 960x540."""
    sheet.pen.text(place, words, font=_font(round(size * sheet.unit)), fill=color, anchor=anchor)


def dot(sheet: Sheet, x: float, y: float, radius: float, color: str) -> None:
    """A filled circle, in pixels of the large canvas."""
    sheet.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


def _points(x: Array, y: Array) -> list[float]:
    return np.stack([x, y], axis=1).ravel().tolist()


@functools.lru_cache(32)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text_width(words: str, size: float) -> float:
    """How many pixels wide the words are at this size."""
    return float(_font(round(size)).getlength(words))


def fitted(words: str, size: float, room: float) -> str:
    """The words, without their middle where they are too long: runs differ at their ends."""
    kept, cut = len(words), words
    while kept and text_width(cut, size) > room:
        kept -= 1
        cut = words[: (kept + 1) // 2].rstrip() + "…" + words[len(words) - kept // 2 :].lstrip()
    return cut


def drawable(words: str) -> str:
    """The words on one line in the letters that Pillow's own font has: é is e, and what has no likeness is ?."""
    plain = unicodedata.normalize("NFKD", str(words)[:400].translate(ASCII).replace("…", "..."))
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return " ".join("".join(c if c.isspace() or c == "±" or " " <= c <= "~" else "?" for c in letters).split())


def _order(size: float) -> int:
    """The power of ten of a number: 2 for 100 to 999."""
    return math.floor(math.log10(size) + 1e-9)


def _short_exponent(words: str) -> str:
    mantissa, _, exponent = words.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa
