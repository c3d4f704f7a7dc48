"""The folders of runs: their names, their contents, and a summary of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from ludus.agents import checkpoint
from ludus.files import write_atomically
from ludus.training import config, loggers
from ludus.types import LudusError

SETTINGS, METRICS, CHECKPOINTS, SCORE = "run.toml", "metrics.jsonl", "checkpoints", "score.png"
DEMONSTRATIONS = "demonstrations"
NAME = re.compile(r"(.+)-(\d{4,})")


class Summary(NamedTuple):
    """One line of `ludus runs`."""

    name: str
    game: str
    algorithm: str
    runtime: str
    steps: int
    of: int
    score: float | None
    low: float | None
    high: float | None
    seconds: float
    checkpoints: int


def new_folder(out: Path, game: str) -> Path:
    """Make the next free folder, such as `runs/tictactoe-0001`; two runs never share one."""
    stem = re.sub(r"[^A-Za-z0-9.]+", "-", game.partition("(")[0]).strip("-") or "run"
    try:
        out.mkdir(parents=True, exist_ok=True)
        taken = [int(match[2]) for path in out.iterdir() if (match := NAME.fullmatch(path.name)) and match[1] == stem]
        number = max(taken, default=0) + 1
        while True:
            folder = out / f"{stem}-{number:04d}"
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1
    except OSError as error:
        raise LudusError(
            f'cannot make a folder for the run in "{out}": {error.strerror}; choose another with --out'
        ) from None


def write_settings(folder: Path, run: config.Run[Any]) -> None:
    write_atomically(folder / SETTINGS, config.to_toml(run).encode())


def list_runs(out: Path) -> list[Summary]:
    """All runs in a folder, sorted by name; unreadable runs are listed with the error in the game column."""
    if not out.is_dir():
        return []
    return [summary(path) for path in sorted(out.iterdir()) if (path / SETTINGS).is_file()]


def summary(folder: Path) -> Summary:
    """The summary of a run, from its files."""
    try:
        run = config.read(folder / SETTINGS)
        lines = loggers.read(folder / METRICS) if (folder / METRICS).is_file() else []
    except LudusError as error:
        return Summary(folder.name, f"unreadable: {error}", "", "", 0, 0, None, None, None, 0.0, 0)
    last = lines[-1] if lines else {}
    scored: dict[str, Any] = next((line for line in reversed(lines) if line.get("score") is not None), {})
    kept = len(checkpoint.list_checkpoints(folder / CHECKPOINTS))
    steps, seconds = int(last.get("step", 0)), float(last.get("seconds") or 0.0)
    score, low, high = (scored.get(name) for name in ("score", "score_low", "score_high"))
    facts = (run.game, run.algorithm, run.runtime, steps, run.steps)
    return Summary(folder.name, *facts, score, low, high, seconds, kept)
