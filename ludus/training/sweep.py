"""A small grid of settings with several seeds each, trained side by side in processes."""

from __future__ import annotations

import functools
import itertools
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from ludus.evaluation.evaluate import in_short
from ludus.evaluation.frames import frame
from ludus.evaluation.statistics import Interval, interval
from ludus.training import runs
from ludus.training.api import Out, TrainingRun, check_runtime, run_of
from ludus.training.config import Run
from ludus.types import JsonObject, LudusError


@dataclass(frozen=True)
class Sweep:
    """The results of a sweep: one row for each combination of settings.

    >>> import ludus
    >>> result = ludus.sweep("tictactoe", "q_learning", seeds=2, steps=20_000)
    >>> [(row["seeds"], row["low"] < row["score"] < row["high"]) for row in result.to_dict()]
    [(2, True)]
    """

    rows: tuple[JsonObject, ...]
    """the settings, the mean of the final scores over the seeds with a 95 % interval, and the scores of all seeds"""
    runs: tuple[TrainingRun, ...]

    def to_dict(self) -> list[JsonObject]:
        """The rows as plain data."""
        return [dict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame(self.to_dict())

    def __repr__(self) -> str:
        names = [name for name in self.rows[0] if name not in ("score", "low", "high", "seeds", "scores")]
        lines = [[*(str(row[name]) for name in names), _score_text(row), str(row["seeds"])] for row in self.rows]
        table = [[*names, "score", "seeds"], *lines]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)


def _score_text(row: JsonObject) -> str:
    """With a single seed there is no interval."""
    return in_short(Interval(row["score"], row["low"], row["high"])) if row["seeds"] > 1 else f"{row['score']:.2f}"


def sweep(
    game: str, algorithm: str | None = None, *, seeds: int | Sequence[int] = 5, out: Out = "runs", preset: str = "",
    workers: int = 0, on: Literal["processes", "ray"] = "processes", **settings: object,
) -> Sweep:  # fmt: skip
    """Train every combination of the settings given as lists, with every seed, and compare the final scores.

    `workers` runs are trained at the same time, by default one per core. Tuples are values, not lists of them. With
    `on="ray"` the runs are trials of Ray Tune, on all machines of a cluster; the settings of Ray, such as
    `address="auto"`, are then keywords too. The scores are the same.

    >>> import ludus
    >>> result = ludus.sweep("tictactoe", "q_learning", learning_rate=[0.1, 0.3], seeds=2, steps=20_000)
    >>> [row["learning_rate"] for row in result.to_dict()]
    [0.1, 0.3]
    """
    if not isinstance(game, str):
        raise LudusError("a sweep trains in other processes, so it needs the name of a game, not an environment")
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    train, settings = _trainer(on, settings)
    grid = combinations(settings)
    if not numbers or not grid:
        raise LudusError("a sweep needs at least one seed and one value of every setting")
    plans = [run_of(game, algorithm, preset, None, values | {"seed": seed}) for values in grid for seed in numbers]
    for plan in plans:
        check_runtime(plan)
    finished = [TrainingRun(folder) for folder in train(plans, pathlib.Path(out), workers)]
    count = len(numbers)
    axes = {name for name, value in settings.items() if isinstance(value, list)}
    rows = [
        _row({name: values[name] for name in values if name in axes}, finished[place * count : (place + 1) * count])
        for place, values in enumerate(grid)
    ]
    return Sweep(tuple(rows), tuple(finished))


def combinations(settings: Mapping[str, object]) -> list[dict[str, Any]]:
    """All combinations of the values of settings that are lists; other settings stay the same."""
    choices = [value if isinstance(value, list) else [value] for value in settings.values()]
    return [dict(zip(settings, values, strict=True)) for values in itertools.product(*choices)]


Trainer = Callable[[Sequence[Run[Any]], pathlib.Path, int], list[pathlib.Path]]
"""trains runs, so many at the same time, and returns their folders"""


def _trainer(on: str, settings: dict[str, object]) -> tuple[Trainer, dict[str, object]]:
    """What trains the runs of a sweep, and the settings without its own."""
    if on == "processes":
        return _train_in_processes, settings
    if on != "ray":
        raise LudusError(f'a sweep runs on processes or on ray, not on "{on}"')
    from ludus.training import ray_tune

    own, others = ray_tune.parted(settings)
    return functools.partial(ray_tune.train_runs, settings=own), others


def _train_in_processes(plans: Sequence[Run[Any]], out: pathlib.Path, workers: int) -> list[pathlib.Path]:
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as executor:
        return list(executor.map(lambda plan: _train(plan, out), plans))


def _train(plan: Run[Any], out: pathlib.Path) -> pathlib.Path:
    """Train in another process; the folder of the run is all that both share."""
    folder = runs.prepare(plan, out)
    command = [sys.executable, "-m", "ludus.cli", "train", "--resume", str(folder), "--json"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LudusError(f"the run {folder} failed: {process.stderr.strip().rpartition(chr(10))[2]}")
    return folder


def _row(values: JsonObject, finished: Sequence[TrainingRun]) -> JsonObject:
    scores = [run.score.estimate for run in finished if run.score is not None]
    found = interval(scores)
    ends = {"score": found.estimate, "low": found.low, "high": found.high}
    return {**values, **ends, "seeds": len(scores), "scores": scores}
