"""The flags of commands that play many games: --runtime, --workers, and the settings of the runtime."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tyro

from ludus.cli.arguments import value_of
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.evaluation.parts import Spread

RuntimeSettings = tyro.conf.SuppressFixed[tyro.conf.Fixed[Any]]
"""the settings of a runtime, which are flags of their own; None for the defaults"""


def with_settings(command: Callable[..., None], arguments: list[str]) -> None:
    """Run a command, of which `arguments` are all words after its name. Which flags it has depends on its runtime."""
    from ludus import runtimes

    kind = runtimes.settings_kind(value_of("--runtime", arguments) or "local")
    settings, rest = tyro.cli(kind, args=arguments, return_unknown_args=True, add_help=False)
    tyro.cli(functools.partial(command, settings=settings), prog=f"ludus {command.__name__}", args=rest)


@contextlib.contextmanager
def spread_of(runtime: str, workers: int, settings: Any) -> Iterator[Spread]:
    """What plays the games."""
    from ludus.evaluation import parts

    if runtime == "local" and not workers:  # without importing the runtimes
        yield parts.here
        return
    from ludus import runtimes

    with runtimes.open_spread(runtime, workers, settings) as spread:
        yield spread


def check_local(runtime: str, what: str) -> None:
    """Raise LudusError for what runs in this process only."""
    if runtime != "local":
        raise LudusError(f"{what} runs in this process; leave out --runtime")
