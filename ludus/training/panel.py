"""The live progress panel of a training run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.panel import Panel

    from ludus.training.course import Report

LINE_SECONDS = 5.0
"""seconds between two progress lines when the output is not a terminal"""
CELL_SECONDS = 0.25
"""seconds between two pictures in a notebook"""
Show = Callable[["Report"], None]


@contextmanager
def panel(stream: TextIO, quiet: bool) -> Iterator[Show]:
    """Yield a function that shows a report: a live panel in a terminal or notebook, else lines; nothing if quiet."""
    if quiet:
        yield lambda report: None
    elif in_notebook():
        yield _at_most_every(CELL_SECONDS, _Cell().show)
    elif stream.isatty():
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(file=stream), refresh_per_second=4) as live:
            yield lambda report: live.update(picture(report))
    else:
        yield _at_most_every(LINE_SECONDS, lambda report: print(in_one_line(report), file=stream, flush=True))


def _at_most_every(seconds: float, show: Show) -> Show:
    """Shows a report if the last one is that old, and the report that the run is finished."""
    last = [-math.inf]

    def sometimes(report: Report) -> None:
        if report.finished or time.monotonic() - last[0] >= seconds:
            last[0] = time.monotonic()
            show(report)

    return sometimes


class _Cell:
    """One output of a notebook's cell, which is replaced; unlike rich's Live, it does not need ipywidgets."""

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, report: Report) -> None:
        from IPython.display import display

        if self._output is None:
            self._output = display(picture(report), display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self._output.update(picture(report))


def in_notebook() -> bool:
    """Whether the output goes to the cell of a notebook."""
    from rich import get_console

    return get_console().is_jupyter


def picture(report: Report) -> Panel:
    """The panel that rich draws for a report."""
    from rich.panel import Panel
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from ludus.rendering.plots import spark

    grid = Table.grid(padding=(0, 2))
    for name, value in facts(report).items():
        grid.add_row(f"[dim]{name}[/dim]", value)
    if report.scores:
        grid.add_row("[dim]scores[/dim]", spark(report.scores))
    grid.add_row("", ProgressBar(total=report.run.steps, completed=min(report.steps, report.run.steps), width=40))
    title = f"{report.folder.name}: {report.run.algorithm} on {report.run.game}"
    return Panel(grid, title=title, title_align="left", expand=False)


def in_one_line(report: Report) -> str:
    return f"{report.folder.name}: " + ", ".join(f"{name} {value}" for name, value in facts(report).items())


def facts(report: Report) -> dict[str, str]:
    """The lines of the panel: steps, speed, score, metrics and time left, formatted as text."""
    left = 0.0 if report.finished or not report.rate else (report.run.steps - report.steps) / report.rate
    shown = {"steps": f"{report.steps:,} of {report.run.steps:,}", "speed": f"{short(report.rate)} steps/s"}
    if report.score is not None:
        shown["score"] = f"{report.score.estimate:.4g} ({report.score.low:.4g} to {report.score.high:.4g})"
    for name in (
        "episode_return",
        "episode_return/seat0",
        "episode_length",
        "positions",
        "exploration",
        "exploration_noise",
        "learning_rate",
    ):
        if name in report.metrics:
            shown[name.replace("_", " ")] = f"{report.metrics[name]:.4g}"
    return shown | {"time left": f"{left:.0f} s" if left > 0 else "none"}


def short(number: float) -> str:
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{suffix}"
    return f"{number:.3g}"
