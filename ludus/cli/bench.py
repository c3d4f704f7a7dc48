"""`ludus bench`."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.bench import Result, Tell

Suite = Literal[
    "pool", "startup", "gymnasium", "perfect", "tabular", "train", "export", "serve", "mcp", "ray", "balatro",
    "balatrobot", "quick",
]  # fmt: skip


@app.command
def bench(
    suite: Annotated[Suite, tyro.conf.Positional],
    /,
    game: str | None = None,
    rows: int = 2048,
    rounds: int = 5,
    only: tuple[str, ...] = (),
    games: int = 100,
    kills: int = 50,
    mutations: int = 100_000,
    compare: pathlib.Path | None = None,
    threshold: float = 0.1,
    repeats: int = 3,
    json: bool = False,
) -> None:
    """Run a benchmark suite and print a table or one JSON object.

    With --compare, the exit code is 1 if a speed has regressed by more than the threshold in every run of the suite.

    Args:
        suite: What to measure: stepping (pool), start-up time, Gymnasium's vector interface compared with ours,
            the perfect player, tabular learning, deep learning (train; about half an hour
            without --only), exported files in their runtimes (export), the server under load (serve; about half
            an hour), the MCP server through its official client (mcp; about ten minutes), the Ray runtime (ray; about
            fifteen minutes), games of Balatro an hour with learning, by RLlib's PPO and by ours (balatro; about five
            minutes), the emulator of BalatroBot and 1,000 runs on it compared with the engine (balatrobot; about two
            minutes), or a selection in half a minute (quick).
        game: For pool and startup: measure only this game.
        rows: For pool: number of games stepped in parallel, 1 or more.
        rounds: Number of rounds, 1 or more; the median is reported.
        only: For train, export, serve, mcp and ray: run only the parts whose names start with one of these: recall, …
        games: For balatro: number of games that each algorithm plays at least, after its first update; 1 or more.
        kills: For serve and ray: number of times that a server, or a worker or node, is killed; 1 or more.
        mutations: For serve and mcp: number of malformed requests, 1 or more.
        compare: JSON file of earlier results: print both with ratios and noise.
        threshold: For --compare: the loss of speed that is a regression; 0.1 is 10 %.
        repeats: For --compare: number of runs of the suite, 1 or more.
        json: Print one JSON object instead of a table.
    """
    from ludus import bench as benchmarks

    def measured(tell: Tell) -> Iterable[Result]:
        if suite == "serve":
            return _serve(rounds, only, kills, mutations, tell)
        if suite == "mcp":
            return _mcp(only, mutations, tell)
        if suite == "ray":
            return _ray(rounds, only, kills, tell)
        if suite == "balatro":
            return _balatro(games, tell)
        return _suite(suite, game, rows, rounds, only, tell)

    if compare is not None:
        _compare(compare, threshold, repeats, json, lambda tell: list(measured(tell)))
        return
    with progress_bar() as tell:
        results = list(measured(tell))
    if json:
        print_json(benchmarks.as_json(results))
        return
    for result in results:
        print(f"{result.name:<48} {benchmarks.readable(result.value):>10} {result.unit}")


def _compare(
    path: pathlib.Path, threshold: float, repeats: int, json: bool, measure: Callable[[Tell], list[Result]]
) -> None:
    from ludus.bench import comparison, reference

    if repeats < 1 or not 0.0 < threshold < 1.0:
        raise LudusError(
            f"--repeats must be at least 1 and --threshold between 0 and 1, not {repeats} and {threshold:g}"
        )
    before = comparison.read(path)
    with progress_bar() as tell:
        runs = [comparison.Measured(measure(tell), reference.rate()) for _ in range(repeats)]
    rows = comparison.compare(before, runs, threshold)
    if not rows:
        raise LudusError(f'"{path}" has no speed that this suite measures; compare with results of the same suite')
    if json:
        print_json(comparison.facts(rows, before, runs, threshold))
    else:
        print("\n".join(comparison.lines(rows, before, runs)))
    if any(row.regressed for row in rows):
        raise SystemExit(1)


def _serve(rounds: int, only: tuple[str, ...], kills: int, mutations: int, tell: Tell) -> Iterable[Result]:
    if min(rounds, kills, mutations) < 1:
        raise LudusError(f"--rounds, --kills and --mutations must be at least 1, not {rounds}, {kills} and {mutations}")
    try:
        from ludus.bench import serve
    except ImportError as missing:
        raise LudusError(f"the server needs {missing.name}; install it: pip install 'ludus[server]'") from missing
    return serve.suite(only, serve.Settings(rounds, kills, mutations), tell)


def _mcp(only: tuple[str, ...], mutations: int, tell: Tell) -> Iterable[Result]:
    if mutations < 1:
        raise LudusError(f"--mutations must be at least 1, not {mutations}")
    try:
        from ludus.bench import mcp
    except ImportError as missing:
        raise LudusError(f"the MCP server needs {missing.name}; install it: pip install 'ludus[mcp]'") from missing
    return mcp.suite(only, mutations, tell)


def _ray(rounds: int, only: tuple[str, ...], kills: int, tell: Tell) -> Iterable[Result]:
    if min(rounds, kills) < 1:
        raise LudusError(f"--rounds and --kills must be at least 1, not {rounds} and {kills}")
    from ludus.bench import ray

    return ray.suite(only, rounds, kills, tell)


def _balatro(games: int, tell: Tell) -> Iterable[Result]:
    if games < 1:
        raise LudusError(f"--games must be at least 1, not {games}")
    from ludus.bench import balatro

    return balatro.suite(games, tell)


def _suite(suite: str, game: str | None, rows: int, rounds: int, only: tuple[str, ...], tell: Tell) -> Iterable[Result]:
    from ludus.bench import gymnasium, perfect, pool, startup, tabular

    if rounds < 1:
        raise LudusError(f"--rounds must be at least 1, not {rounds}")
    if suite == "train":
        from ludus.bench import training

        return training.suite(only, rounds, tell)
    if suite == "balatrobot":
        from ludus.bench import balatrobot

        return balatrobot.suite(rounds, tell)
    if suite == "export":
        from ludus.bench import export

        return export.suite(only, rounds, tell)
    if suite == "quick":
        from ludus.bench import quick

        return quick.suite(rounds, tell)
    if suite == "pool":
        return pool.suite(game, rows, rounds, tell)
    if suite == "startup":
        return startup.suite(game, rounds, tell)
    if suite == "perfect":
        return perfect.suite(rounds, tell)
    if suite == "tabular":
        return tabular.suite(rounds, tell)
    return gymnasium.suite(rounds, tell)
