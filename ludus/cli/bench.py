"""`ludus bench`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.bench import Result, Tell


@app.command
def bench(
    suite: Annotated[Literal["pool", "startup", "gymnasium", "perfect", "tabular", "train"], tyro.conf.Positional],
    /,
    game: str | None = None,
    rows: int = 2048,
    rounds: int = 5,
    only: tuple[str, ...] = (),
    json: bool = False,
) -> None:
    """Run a benchmark suite and print a table or one JSON object.

    Args:
        suite: What to measure: stepping (pool), start-up time, Gymnasium's vector interface compared with ours,
            the perfect player, tabular learning, or deep learning (train; about half an hour without --only).
        game: For pool and startup: measure only this game.
        rows: For pool: number of games stepped in parallel, 1 or more.
        rounds: Number of rounds, 1 or more; the median is reported.
        only: For train: run only the parts whose names start with one of these: cartpole, car, recall, …
        json: Print one JSON object instead of a table.
    """
    from ludus import bench as benchmarks

    with progress_bar() as tell:
        results = list(_suite(suite, game, rows, rounds, only, tell))
    if json:
        print_json(benchmarks.as_json(results))
        return
    for result in results:
        print(f"{result.name:<48} {benchmarks.readable(result.value):>10} {result.unit}")


def _suite(suite: str, game: str | None, rows: int, rounds: int, only: tuple[str, ...], tell: Tell) -> Iterable[Result]:
    from ludus.bench import gymnasium, perfect, pool, startup, tabular

    if rounds < 1:
        raise LudusError(f"--rounds must be at least 1, not {rounds}")
    if suite == "train":
        from ludus.bench import training

        return training.suite(only, rounds, tell)
    if suite == "pool":
        return pool.suite(game, rows, rounds, tell)
    if suite == "startup":
        return startup.suite(game, rounds, tell)
    if suite == "perfect":
        return perfect.suite(rounds, tell)
    if suite == "tabular":
        return tabular.suite(rounds, tell)
    return gymnasium.suite(rounds, tell)
