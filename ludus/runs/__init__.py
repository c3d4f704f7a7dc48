"""Training runs on disk: `runs/tictactoe-0001/` with its settings, metrics, checkpoints and the picture of its score.

`carry_out` is a `for` loop around the training loop: it takes scores, writes metrics, saves, and tells of it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ludus import checkpoint, plots, sinks
from ludus.algorithms import craft_of
from ludus.bridges import identity_of, open_pool
from ludus.config import Run, read
from ludus.runs.control import Control, announce, sole_trainer, state_of
from ludus.runs.course import Course, Report
from ludus.runs.demonstrations import demonstrated
from ludus.runs.fellows import agreed, alone, check_together, take_part
from ludus.runs.folder import CHECKPOINTS, METRICS, SCORE, SETTINGS, new_folder, write_settings
from ludus.runs.keeping import fresh, job_of, restored
from ludus.runs.timing import Speed, Stopwatch
from ludus.runtimes import Source, count_workers, open_source
from ludus.train import train
from ludus.types import LudusError


def start(run: Run[Any], out: Path) -> tuple[Path, Run[Any]]:
    """A new folder for a run, with all that is decided before it begins."""
    settled = settle(run)
    folder = new_folder(out, run.game)
    write_settings(folder, settled)
    return folder, settled


def prepare(run: Run[Any], out: Path) -> Path:
    """A folder for a run that is only wished for: whoever resumes it first settles it, then trains."""
    folder = new_folder(out, run.game)
    write_settings(folder, run)
    return folder


def settled(folder: Path, run: Run[Any]) -> Run[Any]:
    """The run of a folder, settled if it never got as far as a checkpoint; to settle it twice changes nothing."""
    return settle(run) if checkpoint.newest(folder / CHECKPOINTS) is None else run


def settle(run: Run[Any]) -> Run[Any]:
    """The run with every choice made that was left to us; a sentence if the game will not do."""
    run = replace(run, workers=count_workers(run))
    craft = craft_of(run.settings)
    craft.prepare(run)
    pool = open_pool(run.game, 1, run.seed, threads=1)
    try:
        craft.begin(run.settings, craft.agent_for(run.settings, pool), run.seed)
        settled = replace(run, game=identity_of(pool).full_name, chunk=craft.chunk(run, pool))
    finally:
        pool.close()
    if run.settings.DEEP:  # a runtime or an opponent that will not do is refused before there is a folder
        open_source(run.runtime, job_of(settled)).close()
    return settled


def carry_out(
    folder: Path, run: Run[Any], stop: Callable[[], bool] = lambda: False, resume: bool = False
) -> Iterator[Report]:
    """Train until all steps are made or `stop()` says so; the last report is of the saved end."""
    with sole_trainer(folder):
        yield from _carry_out(folder, run, stop, resume)


def _carry_out(folder: Path, run: Run[Any], stop: Callable[[], bool], resume: bool) -> Iterator[Report]:
    pool = open_pool(run.game, 1, run.seed, threads=1)
    source = demonstrated(folder, run, open_source(run.runtime, job_of(run)))
    try:
        agent = craft_of(run.settings).agent_for(run.settings, pool)
        standing = restored(folder, run, pool, agent, source) if resume else fresh(run, agent)
        check_together(run, standing)
        course = Course(folder, run, pool, agent, standing)
        if course.finished:
            yield course.report(0.0, {})
            return
        with writing(folder):
            record = sinks.open_sinks(("jsonl", *run.log), folder, standing.learner.steps if resume else None)
        try:
            if resume and read(folder / SETTINGS) != run:
                write_settings(folder, run)
            yield from _loop(course, source, record, stop)
        finally:
            with writing(folder):
                record.close()
    finally:
        source.close()
        pool.close()


def _loop(course: Course, source: Source, record: sinks.Sink, stop: Callable[[], bool]) -> Iterator[Report]:
    run, folder = course.run, course.folder
    announce(folder)
    clock, speed, control = Stopwatch(course.standing.seconds), Speed(), Control(folder)
    speed.rate(course.standing.learner.steps, clock.seconds)
    with course.kept_where_lost():
        for progress in train(course.agent, run.settings, course.standing.learner, source):
            clock.pause()
            metrics = course.take(progress, clock.seconds)
            rate = speed.rate(course.standing.learner.steps, clock.seconds)
            with writing(folder):
                record.write(course.standing.learner.steps, metrics | {"seconds": clock.seconds, "rate": rate})
            control.hear()
            ending, due = agreed(run, course.finished or stop(), course.save_due or control.wants_save)
            if ending or due:
                course.save(source)
            yield course.report(rate, metrics)
            if ending:
                break
            if control.hold(stop) and alone(run):  # fellows wait for one more update, and hear of the end after it
                break
            clock.go_on()
    draw_score(folder)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """A sentence where metrics cannot be written, say because the disk is full."""
    try:
        yield
    except OSError as error:
        raise LudusError(
            f'cannot write to "{folder}": {error.strerror or error}; make room, then go on with: '
            f"ludus train --resume {folder}"
        ) from None


def score_series(folder: Path) -> plots.Series:
    """The scores of a run over its steps, with their intervals."""
    path = folder / METRICS
    lines = [line for line in sinks.read(path) if line.get("score") is not None] if path.is_file() else []
    columns = [[line.get(name) for line in lines] for name in ("step", "score", "score_low", "score_high")]
    return plots.Series(folder.name, *(np.array(column, np.float64) for column in columns))


def draw_score(folder: Path) -> None:
    """The picture of how the score went."""
    series = score_series(folder)
    plots.curves(folder / SCORE, [series], title=folder.name, x_label="steps", y_label="score")


__all__ = [
    "Report", "carry_out", "draw_score", "prepare", "score_series", "settle", "settled", "start", "state_of",
    "take_part",
]  # fmt: skip
