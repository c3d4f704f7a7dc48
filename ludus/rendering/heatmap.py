"""Heat map of match results as a Matplotlib figure: a square of shares from 0 to 1.

Blue means won, orange means lost, and the colour of the grid means even.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ludus.rendering import plots
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WON, LOST = plots.COLORS[0], plots.COLORS[1]
MOST = 40
"""maximum number of players; a larger table would be unreadable"""
LONGEST_NAME = 140
"""maximum width of a name, in points"""
FOOT = "% of the points, row against column"


def heatmap(path: str | os.PathLike[str], names: Sequence[str], values: ArrayLike, title: str = "") -> None:
    """Draw [n, n] shares, of the row's player against the column's, into a .png file (atomically); NaN is empty."""
    plots.save(figure(names, values, title), path)


def figure(names: Sequence[str], values: ArrayLike, title: str = "") -> Figure:
    """The shares as a figure; fewer names give larger cells."""
    shares = checked(names, values)
    import matplotlib
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    count, colors = len(names), LinearSegmentedColormap.from_list("shares", [LOST, plots.GRID, WON])
    cell = max(0.32, min(0.88, 6.2 / count))  # inches
    words = [plots.fitted(name, 10, LONGEST_NAME) for name in names]
    with matplotlib.rc_context(plots.STYLE | {"axes.grid": False, "axes.edgecolor": plots.BACKGROUND}):
        made = Figure((max(4.6, count * cell + 3.2), max(3.0, count * cell + 2.6)), layout="constrained")
        axes = made.add_subplot()
        image = axes.imshow(shares, cmap=colors, vmin=0, vmax=1)
        made.colorbar(image, ticks=[0, 0.5, 1], format=lambda share, _: percent(share), fraction=0.05)
        axes.set_title(plots.fitted(title, 15, 72 * max(2.4, count * cell)), pad=12)
        axes.set_xlabel(FOOT)
        axes.set_yticks(range(count), words, color=plots.TITLE)
        axes.set_xticks(range(count), words, color=plots.TITLE, rotation=90 if count > 1 else 0)
        axes.tick_params(length=0, labelbottom=False, labeltop=True)
        for row, column in np.argwhere(~np.isnan(shares)).tolist():
            share = float(shares[row, column])
            ink = plots.BACKGROUND if is_bright(colors(share)) else plots.TITLE
            axes.text(column, row, percent(share), color=ink, ha="center", va="center", size=9 + 8 * (cell - 0.32))
    return made


def checked(names: Sequence[str], values: ArrayLike) -> Array:
    """[n, n] shares as floats; raises LudusError if the shape or a value is wrong."""
    shares = np.asarray(values, np.float64)
    if not 1 <= len(names) <= MOST or shares.shape != (len(names), len(names)):
        raise LudusError(f"a heat map needs 1 to {MOST} names and a square of as many shares, not {shares.shape}")
    if not (np.isnan(shares) | ((shares >= 0) & (shares <= 1))).all():
        raise LudusError("a heat map shows shares from 0 to 1; divide the points won by the games played")
    return shares


def percent(share: float) -> str:
    """Whole percent; 0 and 100 are used only for exactly 0 and 1."""
    return f"{100 * share:.0f}" if share in (0, 1) else f"{min(max(round(100 * share), 1), 99)}"


def is_bright(color: Sequence[float]) -> bool:
    """Whether dark text is easier to read on this colour (red, green, blue from 0 to 1)."""
    return float(np.dot(color[:3], (0.299, 0.587, 0.114))) > 0.47
