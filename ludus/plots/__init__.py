"""Curves as a PNG, and as a line of blocks for the terminal: what a run has scored, drawn with Pillow alone.

A picture is laid out first (`layout`: which number stands at which pixel) and then painted, larger than asked for and
reduced, which smooths its edges. The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ludus.plots.colors import BACKGROUND, COLORS, GRID, INK, TITLE
from ludus.plots.layout import Words
from ludus.plots.painting import painted
from ludus.plots.series import Series, checked, floats
from ludus.plots.sheet import SMOOTHING, Sheet, dot, drawable, fitted, text_width, write
from ludus.types import LudusError

__all__ = [
    "BACKGROUND", "COLORS", "GRID", "INK", "SMOOTHING", "TITLE", "Series", "Sheet", "curves", "dot", "drawable",
    "fitted", "spark", "text_width", "write",
]  # fmt: skip

SMALLEST, LARGEST = (320, 200), (7680, 4320)
BLOCKS = "▁▂▃▄▅▆▇█"


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
    picture = painted(checked(series), words, _checked_size(size))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    from ludus.pictures import write_whole

    write_whole(target, buffer.getvalue())


def spark(values: ArrayLike, width: int = 40) -> str:
    """The values as one line of at most `width` blocks, each the mean of its share; blank where nothing is finite."""
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


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if len(size) != 2 or not all(
        isinstance(side, (int, np.integer)) and least <= side <= most
        for side, least, most in zip(size, SMALLEST, LARGEST, strict=True)
    ):
        least, most = (f"{width}x{height}" for width, height in (SMALLEST, LARGEST))
        raise LudusError(f"cannot draw a plot of size {size}; give whole numbers from {least} to {most}")
    return size
