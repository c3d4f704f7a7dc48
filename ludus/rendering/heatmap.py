"""Heat map of match results as a PNG: a square of shares from 0 to 1, in the colours of `ludus.rendering.plots`.

Blue means won, orange means lost, and the colour of the grid means even.
"""

from __future__ import annotations

import io
import math
import os
import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw

from ludus.files import write_atomically
from ludus.rendering import plots
from ludus.rendering.plots import BACKGROUND, COLORS, GRID, INK, SMOOTHING, TITLE, Sheet
from ludus.types import Array, LudusError

WON, LOST = COLORS[0], COLORS[1]
MOST = 40
"""maximum number of players; a larger table would be unreadable"""
MARGIN, LONGEST_NAME, BAR = 24, 190, 14
"""in pixels: margin around the picture, maximum width of a name, and width of the colour scale"""

FOOT = "% of the points, row against column"


class Layout(NamedTuple):
    """Positions and sizes in pixels of the finished picture."""

    left: int
    """left edge of the square, to the right of the names"""
    top: int
    cell: int
    width: int
    height: int
    upright: bool
    """whether the names above the square are vertical because they are wider than a cell"""

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """The upper left corner of a cell."""
        return self.left + column * self.cell, self.top + row * self.cell


def heatmap(path: str | os.PathLike[str], names: Sequence[str], values: ArrayLike, title: str = "") -> None:
    """Draw [n, n] shares, of the row's player against the column's, into a .png file (atomically); NaN is empty."""
    target = pathlib.Path(path)
    if target.suffix.lower() != ".png":
        raise LudusError(f'cannot write a heat map to "{target}"; use a name that ends in .png')
    shares = checked(names, values)
    words = [plots.fitted(plots.drawable(name), 15, LONGEST_NAME) for name in names]
    buffer = io.BytesIO()
    _painted(words, shares, plots.drawable(title)).save(buffer, "PNG", optimize=True)
    write_atomically(target, buffer.getvalue())


def checked(names: Sequence[str], values: ArrayLike) -> Array:
    """[n, n] shares as floats; raises LudusError if the shape or a value is wrong."""
    shares = np.asarray(values, np.float64)
    if not 1 <= len(names) <= MOST or shares.shape != (len(names), len(names)):
        raise LudusError(f"a heat map needs 1 to {MOST} names and a square of as many shares, not {shares.shape}")
    if not (np.isnan(shares) | ((shares >= 0) & (shares <= 1))).all():
        raise LudusError("a heat map shows shares from 0 to 1; divide the points won by the games played")
    return shares


def layout(words: Sequence[str], titled: bool) -> Layout:
    """The layout for these names, which are written beside and above the square; fewer names give larger cells."""
    count = len(words)
    cell = max(32, min(88, 620 // count))
    widest = round(max(plots.text_width(name, 15) for name in words))
    upright = widest > cell - 8
    left = MARGIN + widest + 12
    top = MARGIN + 34 * titled + (widest if upright else 18) + 12
    # With few players the square is narrower than the text around it.
    width = max(left + count * cell + 24 + BAR + 40 + MARGIN, left + round(plots.text_width(FOOT, 14)) + MARGIN, 420)
    return Layout(left, top, cell, width, top + count * cell + 34 + MARGIN, upright)


def color(share: float) -> tuple[int, int, int]:
    """A colour from LOST at 0, through the colour of the grid at 0.5, to WON at 1."""
    end, strength = (WON, 2 * share - 1) if share >= 0.5 else (LOST, 1 - 2 * share)
    first, last = (tuple(int(code[place : place + 2], 16) for place in (1, 3, 5)) for code in (GRID, end))
    red, green, blue = (round(a + (b - a) * strength) for a, b in zip(first, last, strict=True))
    return red, green, blue


def percent(share: float) -> str:
    """Whole percent; 0 and 100 are used only for exactly 0 and 1."""
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(max(round(100 * share), 1), 99)}"


def _painted(words: Sequence[str], shares: Array, title: str) -> Image.Image:
    plan = layout(words, bool(title))
    canvas = Image.new("RGB", (plan.width * SMOOTHING, plan.height * SMOOTHING), BACKGROUND)
    sheet = Sheet(canvas, ImageDraw.Draw(canvas), SMOOTHING)
    if title:
        short = plots.fitted(title, 21 * SMOOTHING, (plan.width - 2 * MARGIN) * SMOOTHING)
        _write(sheet, (MARGIN, 16), short, 21, TITLE, "la")
    for row, name in enumerate(words):
        _, top = plan.corner(row, 0)
        _write(sheet, (plan.left - 12, top + plan.cell / 2), name, 15, TITLE, "rm")
        _paint_head(sheet, plan, row, name)
        for column, share in enumerate(shares[row].tolist()):
            _paint_cell(sheet, plan, row, column, share)
    _write(sheet, (plan.left, plan.top + len(words) * plan.cell + 12), FOOT, 14, INK, "la")
    _paint_scale(sheet, plan, len(words))
    return canvas.reduce(SMOOTHING)


def _paint_cell(sheet: Sheet, plan: Layout, row: int, column: int, share: float) -> None:
    left, top = plan.corner(row, column)
    if math.isnan(share):
        middle = (left + plan.cell / 2) * SMOOTHING, (top + plan.cell / 2) * SMOOTHING
        plots.dot(sheet, *middle, 2.5 * SMOOTHING, GRID)
        return
    box = [edge * SMOOTHING for edge in (left + 1, top + 1, left + plan.cell - 1, top + plan.cell - 1)]
    fill = color(share)
    sheet.pen.rounded_rectangle((box[0], box[1], box[2] - 1, box[3] - 1), 5 * SMOOTHING, fill=fill)
    bright = 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2] > 120
    place = left + plan.cell / 2, top + plan.cell / 2
    _write(sheet, place, percent(share), max(13, plan.cell // 4), BACKGROUND if bright else TITLE, "mm")


def _paint_head(sheet: Sheet, plan: Layout, column: int, name: str) -> None:
    """The name above a column."""
    middle = plan.left + (column + 0.5) * plan.cell
    if not plan.upright:
        _write(sheet, (middle, plan.top - 10), name, 15, TITLE, "ms")
        return
    # Write the name on a separate strip and rotate it.
    strip = Image.new("RGB", (round(plots.text_width(name, 15 * SMOOTHING)) + 4, 20 * SMOOTHING), BACKGROUND)
    plots.write(Sheet(strip, ImageDraw.Draw(strip), SMOOTHING), (2, 10 * SMOOTHING), name, 15, TITLE, "lm")
    turned = strip.transpose(Image.Transpose.ROTATE_90)
    place = round((middle - 10) * SMOOTHING), (plan.top - 10) * SMOOTHING - turned.height
    sheet.canvas.paste(turned, place)


def _paint_scale(sheet: Sheet, plan: Layout, count: int) -> None:
    """The colour scale from 1 down to 0, to the right of the square."""
    left, height = plan.left + count * plan.cell + 24, count * plan.cell * SMOOTHING
    first = plan.top * SMOOTHING
    for line in range(height):
        ends = (left * SMOOTHING, first + line, (left + BAR) * SMOOTHING - 1, first + line)
        sheet.pen.line(ends, fill=color(1 - line / max(1, height - 1)))
    for share, anchor in ((1.0, "la"), (0.5, "lm"), (0.0, "ls")):
        _write(
            sheet, (left + BAR + 8, plan.top + (1 - share) * count * plan.cell), f"{100 * share:.0f}", 14, INK, anchor
        )


def _write(sheet: Sheet, place: tuple[float, float], words: str, size: float, ink: str, anchor: str) -> None:
    """Write text at a position in pixels of the finished picture."""
    plots.write(sheet, (place[0] * SMOOTHING, place[1] * SMOOTHING), words, size, ink, anchor)
