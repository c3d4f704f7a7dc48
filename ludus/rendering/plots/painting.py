"""Paint a plot: grid, curves with bands, and the last values at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ludus.rendering.plots.colors import AXIS, BACKGROUND, COLORS, GRID, INK, TITLE
from ludus.rendering.plots.layout import Axis, Words, apart, axes, legend_rows
from ludus.rendering.plots.numbers import label, value_text
from ludus.rendering.plots.series import Curve, last_points, stretches
from ludus.rendering.plots.sheet import SMOOTHING, Sheet, dot, fitted, text_width, write
from ludus.types import Array

if TYPE_CHECKING:
    from PIL import Image


def painted(given: Sequence[Curve], words: Words, size: tuple[int, int]) -> Image.Image:
    """The whole picture."""
    from PIL import Image, ImageDraw

    large = (size[0] * SMOOTHING, size[1] * SMOOTHING)
    unit = SMOOTHING * max(0.75, min(size[0] / 960, size[1] / 540))
    canvas = Image.new("RGB", large, BACKGROUND)
    sheet = Sheet(canvas, ImageDraw.Draw(canvas), unit)
    horizontal, vertical = axes(given, words, large, unit)
    _paint_words(sheet, given, words, horizontal, vertical)
    if not last_points(given):
        _paint_baseline(sheet, horizontal, vertical)
        middle = (horizontal.first + horizontal.last) / 2, (vertical.first + vertical.last) / 2
        write(sheet, middle, "no scores yet", 20, INK, "mm")
        return canvas.reduce(SMOOTHING)
    _paint_grid(sheet, horizontal, vertical)
    thin = [thinned(curve, horizontal) for curve in given]
    for curve, color in zip(thin, COLORS, strict=False):
        _paint_band(sheet, curve, color, horizontal, vertical)
    for curve, color in zip(thin, COLORS, strict=False):
        _paint_line(sheet, curve, color, horizontal, vertical)
    _paint_ends(sheet, given, horizontal, vertical)
    return canvas.reduce(SMOOTHING)


def thinned(curve: Curve, horizontal: Axis) -> Curve:
    """The curve reduced to four points per pixel column (first, lowest, highest, last), which looks the same."""
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
    """The centre of the pixel at this position, so that a thin line does not blur over two pixels."""
    return place // SMOOTHING * SMOOTHING + SMOOTHING // 2


def _paint_baseline(sheet: Sheet, horizontal: Axis, vertical: Axis) -> None:
    ends = (horizontal.first, vertical.first, horizontal.last, vertical.first)
    sheet.pen.line(ends, fill=AXIS, width=round(1.5 * sheet.unit))


def _paint_band(sheet: Sheet, curve: Curve, color: str, horizontal: Axis, vertical: Axis) -> None:
    """The band, transparent enough to show the grid and other bands behind it."""
    from PIL import Image, ImageDraw

    runs = stretches(np.isfinite(curve.low) & np.isfinite(curve.high))
    if not runs:
        return
    mask = Image.new("L", sheet.canvas.size, 0)
    pen = ImageDraw.Draw(mask)
    for run in runs:
        x, low, high = horizontal.place(curve.x[run]), vertical.place(curve.low[run]), vertical.place(curve.high[run])
        if x[0] == x[-1]:  # a polygon without area would be invisible, so draw a bar
            pen.line((x[0], low.max(), x[0], high.min()), fill=140, width=round(4 * sheet.unit))
        else:
            pen.polygon(_points(np.append(x, x[::-1]), np.append(high, low[::-1])), fill=52)
    sheet.canvas.paste(color, (0, 0), mask)


def _paint_line(sheet: Sheet, curve: Curve, color: str, horizontal: Axis, vertical: Axis) -> None:
    width = round(2.4 * sheet.unit)
    for run in stretches(np.isfinite(curve.y)):
        x, y = horizontal.place(curve.x[run]), vertical.place(curve.y[run])
        sheet.pen.line(_points(x, y), fill=color, width=width, joint="curve")
        radius = width / 2 if len(x) > 1 else 2.4 * sheet.unit  # a single point between gaps needs a visible dot
        for end in (0, -1):
            dot(sheet, x[end], y[end], radius, color)


def _paint_ends(sheet: Sheet, given: Sequence[Curve], horizontal: Axis, vertical: Axis) -> None:
    """A dot at the end of each curve, and its value at the right, shifted to avoid overlaps."""
    unit = sheet.unit
    colors = [color for curve, color in zip(given, COLORS, strict=False) if np.isfinite(curve.y).any()]
    ends = sorted(zip(last_points(given), colors, strict=True), key=lambda end: -end[0][1])
    wanted = [float(vertical.place(y)) for (_, y), _ in ends]
    places = apart(wanted, 17 * unit, vertical.last, vertical.first)
    for ((x, y), color), place in zip(ends, places, strict=True):
        end = float(horizontal.place(x)), float(vertical.place(y))
        dot(sheet, *end, 4 * unit, color)
        _paint_leader(sheet, end, (horizontal.last + 8 * unit, place), color)
        write(sheet, (horizontal.last + 12 * unit, place), value_text(y), 15, color, "lm")


def _paint_leader(sheet: Sheet, start: tuple[float, float], stop: tuple[float, float], color: str) -> None:
    """A dotted line from the end of a curve that stops early to its value."""
    length = stop[0] - start[0]
    if length < 40 * sheet.unit:
        return
    for share in np.arange(12 * sheet.unit, length, 8 * sheet.unit).tolist():
        y = start[1] + (stop[1] - start[1]) * share / length
        dot(sheet, start[0] + share, y, 0.8 * sheet.unit, color)


def _paint_words(sheet: Sheet, given: Sequence[Curve], words: Words, horizontal: Axis, vertical: Axis) -> None:
    unit, width = sheet.unit, sheet.canvas.width
    room, y = width - 48 * unit, 14 * unit
    if words.title:
        write(sheet, (24 * unit, y), fitted(words.title, 21 * unit, room), 21, TITLE, "la")
        y += 30 * unit
    for row in legend_rows(given, width, unit):
        for x, index, name in row:
            sheet.pen.line((x, y + 10 * unit, x + 18 * unit, y + 10 * unit), COLORS[index], round(4 * unit))
            write(sheet, (x + 25 * unit, y + 10 * unit), name, 15, TITLE, "lm")
        y += 23 * unit
    label_y = vertical.last - 24 * unit
    write(sheet, (24 * unit, label_y), fitted(words.y_label, 14 * unit, room), 14, INK, "la")
    middle = (horizontal.first + horizontal.last) / 2, vertical.first + 32 * unit
    write(sheet, middle, fitted(words.x_label, 14 * unit, horizontal.last - horizontal.first), 14, INK, "ma")


def _points(x: Array, y: Array) -> list[float]:
    return np.stack([x, y], axis=1).ravel().tolist()
