"""The live panel of an agent that plays the real Balatro: the table, the moves it considers, and its move."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from ludus.evaluation.balatrobot import Turn

if TYPE_CHECKING:
    from rich.panel import Panel


@contextlib.contextmanager
def panel(stream: TextIO, quiet: bool) -> Iterator[Callable[[Turn], None]]:
    """Yield a function that shows a turn: a live panel in a terminal, else one line for each move."""
    if quiet:
        yield lambda turn: None
    elif stream.isatty():
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(file=stream), refresh_per_second=8) as live:
            yield lambda turn: live.update(picture(turn))
    else:
        yield lambda turn: print(f"{turn.moves + 1}: {turn.action}{in_words(turn)}", file=stream, flush=True)


def in_words(turn: Turn) -> str:
    considered = ", ".join(f"{name} {value:.2f}" for name, value in turn.thoughts.items())
    instead = f" instead of {turn.wanted}" if turn.wanted else ""
    return instead + (f" ({considered})" if considered else "")


def picture(turn: Turn) -> Panel:
    """The position, the moves that the agent considers with their values, and the one that it makes."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    best = max((abs(value) for value in turn.thoughts.values()), default=1.0) or 1.0
    for name, value in turn.thoughts.items():
        grid.add_row(Text(name), f"{value:.3f}", "█" * round(20 * abs(value) / best))
    move = f"move {turn.moves + 1}: {turn.action}" + (f" (instead of {turn.wanted})" if turn.wanted else "")
    return Panel(Group(Text(turn.table), "", grid, Text(move, style="bold")), title="Balatro", title_align="left")
