"""Shared by all commands: the command-line application, JSON output and the progress bar."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Annotated

import tyro

app = tyro.extras.SubcommandApp()
GameName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]


def print_json(value: object) -> None:
    print(json.dumps(value), flush=True)


@contextlib.contextmanager
def progress_bar(ended: str = "measured") -> Iterator[Callable[[str, float, float], None]]:
    """A progress bar on standard error, so that standard output holds only the result."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("measuring …", total=None)
        yield lambda what, done, total: bar.update(task, description=f"{what} …", completed=done, total=total)
        bar.update(task, description=ended, completed=1, total=1)
