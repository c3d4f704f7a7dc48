"""What all commands share: the application they belong to, JSON for programs, a bar for people."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Annotated, Any

import tyro

app = tyro.extras.SubcommandApp()
GameName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]


def print_json(value: Any) -> None:
    print(json.dumps(value))


@contextlib.contextmanager
def progress_bar() -> Iterator[Any]:
    """A bar on the error stream, where it does not mix with what a program may read."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("measuring …", total=None)
        yield lambda what, done, total: bar.update(task, description=f"{what} …", completed=done, total=total)
        bar.update(task, description="measured", completed=1, total=1)
