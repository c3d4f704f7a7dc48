"""Draw results/peers.json as docs/pictures/peers.svg and .png: one panel per game, one bar per player.

Each panel has its own linear scale, so bar lengths are comparable within a game. The picture has its own background
and looks the same on light and dark pages.
"""

from __future__ import annotations

import io
import json
import pathlib
from typing import Any, NamedTuple

import matplotlib
import tyro
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ludus.bench import readable
from ludus.files import write_atomically

HERE = pathlib.Path(__file__).parent
BACKGROUND, TEXT, QUIET, OURS, THEIRS = "#1E2430", "#E6E9EF", "#9AA4B6", "#FFB454", "#59708F"
TITLES = {
    "tictactoe": "Tic-tac-toe",
    "connect4": "Connect Four",
    "cartpole": "CartPole",
    "car": "Car, which no peer has",
}
LABELS = {
    "ludus": "Ludus",
    "ludus_gymnasium": "Ludus via Gymnasium",
    "pgx": "Pgx",
    "gymnax": "gymnax",
    "gymnasium_vector": "Gymnasium vector",
    "gymnasium_sync": "Gymnasium sync",
}
WIDTH, MARGIN, LEFT, BAR, GAP = 8.0, 0.2, 2.25, 0.3, 0.5
"""inches; at 100 pixels per inch the picture fits a page 800 pixels wide"""
ROOM = WIDTH - LEFT - MARGIN
OUR_LABEL, THEIR_LABEL = 0.9, 1.9
"""width in inches of the text after a bar"""
VERSIONS = {"pgx": "Pgx", "gymnax": "gymnax", "jax": "JAX", "gymnasium": "Gymnasium", "numba": "Numba"}
STYLE = {"font.family": "DejaVu Sans", "font.size": 11, "svg.hashsalt": "peers", "svg.fonttype": "path"}


class Bar(NamedTuple):
    """One player of one game."""

    name: str
    rate: float


def read_bars(document: dict[str, Any]) -> dict[str, list[Bar]]:
    """The rates by game, the fastest first; ratios, lengths of games and failures have no bar."""
    games: dict[str, list[Bar]] = {}
    for row in document["results"]:
        if row.get("unit") == "steps/s":
            _, game, name = row["name"].split("/")
            games.setdefault(game, []).append(Bar(name, row["value"]))
    return {game: sorted(bars, key=lambda bar: -bar.rate) for game, bars in games.items()}


def draw(document: dict[str, Any]) -> Figure:
    """One panel per game, with a height in proportion to its bars."""
    games = read_bars(document)
    heights = [len(bars) * BAR + GAP for bars in games.values()]
    figure = Figure((WIDTH, sum(heights) + 1.3), facecolor=BACKGROUND)
    draw_frame(figure, document)
    top = figure.get_figheight() - 0.55
    for (game, bars), height in zip(games.items(), heights, strict=True):
        write(figure, MARGIN, top - GAP + 0.13, TITLES.get(game, game), size=12, weight="bold")
        place = (LEFT / WIDTH, (top - height) / figure.get_figheight())
        size = (ROOM / WIDTH, (height - GAP) / figure.get_figheight())
        draw_bars(figure.add_axes((*place, *size)), bars)
        top -= height
    return figure


def draw_frame(figure: Figure, document: dict[str, Any]) -> None:
    """The title above, and the machine and versions below."""
    facts, top = document["hardware"], figure.get_figheight() - 0.34
    write(figure, MARGIN, top, "Steps per second, random legal play", size=14, weight="bold")
    write(
        figure, WIDTH - MARGIN, top, "longer is faster · each game has its own scale", color=QUIET, size=10, ha="right"
    )
    machine = f"{facts['cores']} cores of {facts['processor']} · median of {document['rounds']} rounds in turns"
    versions = [f"{title} {facts[name]}" for name, title in VERSIONS.items() if name in facts]
    write(figure, MARGIN, 0.46, machine, color=QUIET, size=9.5)
    write(figure, MARGIN, 0.25, " · ".join(versions), color=QUIET, size=9.5)


def write(figure: Figure, x: float, y: float, text: str, color: str = TEXT, **style: Any) -> None:
    """A text at x, y inches from the lower left corner."""
    figure.text(x / WIDTH, y / figure.get_figheight(), text, color=color, va="center", **style)


def draw_bars(axes: Axes, bars: list[Bar]) -> None:
    limit = max(bar.rate * ROOM / (ROOM - (OUR_LABEL if is_ours(bar) else THEIR_LABEL)) for bar in bars)
    ours = next((bar.rate for bar in bars if bar.name == "ludus"), None)
    colors = [OURS if is_ours(bar) else THEIRS for bar in bars]
    axes.barh(range(len(bars)), [bar.rate for bar in bars], height=0.72, color=colors)
    for index, bar in enumerate(bars):
        draw_labels(axes, index, bar, None if is_ours(bar) else ours)
    axes.set(xlim=(0, limit), ylim=(len(bars) - 0.5, -0.5))
    axes.set_axis_off()


def draw_labels(axes: Axes, index: int, bar: Bar, rival: float | None) -> None:
    """The player's name before its bar; after it the rate and the speedup of Ludus."""
    style = {"textcoords": "offset points", "va": "center", "weight": "bold" if is_ours(bar) else "normal"}
    color = OURS if is_ours(bar) else TEXT
    axes.annotate(LABELS.get(bar.name, bar.name), (0, index), (-8, 0), ha="right", color=color, **style)
    rate = axes.annotate(f"{readable(bar.rate)}/s", (bar.rate, index), (7, 0), color=color, **style)
    if rival:
        axes.annotate(f"Ludus {times(rival / bar.rate)}", (1, 0.5), (12, 0), xycoords=rate, color=QUIET, **style)


def is_ours(bar: Bar) -> bool:
    return bar.name.startswith("ludus")


def times(ratio: float) -> str:
    """2.81 -> 2.8×, 183.4 -> 183×."""
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:,.0f}×"


def main(
    results: pathlib.Path = HERE / "results" / "peers.json", out: pathlib.Path = HERE.parent / "docs" / "pictures"
) -> None:
    """Draw the results of the peers' benchmark.

    Args:
        results: The output of peers.py.
        out: The folder for peers.svg and peers.png.
    """
    out.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        figure = draw(json.loads(results.read_text()))
        write_atomically(out / "peers.svg", encoded(figure, "svg", metadata={"Date": None, "Creator": None}))
        write_atomically(out / "peers.png", encoded(figure, "png", dpi=200))


def encoded(figure: Figure, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, **options)
    return buffer.getvalue()


if __name__ == "__main__":
    tyro.cli(main)
