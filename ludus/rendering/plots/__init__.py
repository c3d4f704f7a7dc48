"""Learning curves as a PNG, and as a sparkline for the terminal, drawn with Pillow only.

A picture is laid out first (`layout` maps numbers to pixels), then painted at a larger size and reduced, which smooths
edges. The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ludus.rendering.plots.colors import BACKGROUND, COLORS, GRID, INK, TITLE
from ludus.rendering.plots.layout import Words
from ludus.rendering.plots.painting import painted
from ludus.rendering.plots.series import Series, checked, floats
from ludus.rendering.plots.sheet import SMOOTHING, Sheet, dot, drawable, fitted, text_width, write
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
    """Draw up to eight series into a .png file (atomically); numbers that are not finite are gaps."""
    target = pathlib.Path(path)
    if target.suffix.lower() != ".png":
        raise LudusError(f'cannot write a plot to "{target}"; use a name that ends in .png')
    words = Words(drawable(title), drawable(x_label), drawable(y_label))
    picture = painted(checked(series), words, _checked_size(size))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    from ludus.files import write_atomically

    write_atomically(target, buffer.getvalue())


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


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if len(size) != 2 or not all(
        isinstance(side, (int, np.integer)) and least <= side <= most
        for side, least, most in zip(size, SMALLEST, LARGEST, strict=True)
    ):
        least, most = (f"{width}x{height}" for width, height in (SMALLEST, LARGEST))
        raise LudusError(f"cannot draw a plot of size {size}; give whole numbers from {least} to {most}")
    return size
