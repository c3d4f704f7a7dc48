"""Training runs on disk: `runs/tictactoe-0001/` with settings, metrics, checkpoints and a plot of the score.

`carry_out` is a `for` loop around the training loop: it evaluates, writes metrics, saves checkpoints and reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ludus import runtimes
from ludus.rendering import plots
from ludus.runtimes import Source
from ludus.training import loggers
from ludus.training.config import Run, read
from ludus.training.control import Control, announce, sole_trainer, state_of
from ludus.training.course import Course, Report
from ludus.training.demonstrations import with_demonstrations
from ludus.training.folder import METRICS, SCORE, SETTINGS, new_folder, write_settings
from ludus.training.loop import train
from ludus.training.opened import Opened, open_run
from ludus.training.resources import Resources
from ludus.training.resume import Standing, fresh, new_learner, restored
from ludus.training.timing import Speed, Stopwatch
from ludus.types import LudusError


def start(run: Run[Any], out: Path) -> tuple[Path, Opened | Run[Any]]:
    """Open a run and make its folder; no folder is left if the settings do not fit the game.

    Several learners open the run themselves, each in its own process.
    """
    if is_grouped(run):
        run = replace(run, workers=runtimes.count_workers(run.runtime, run.settings, run.workers, run.runtime_settings))
        return prepare(run, out), run
    opened = open_run(run)
    try:
        # A table or network that is too large raises an error before there is a folder.
        opened = opened._replace(learner=new_learner(opened))
        folder = new_folder(out, run.game)
        write_settings(folder, opened.run)
    except BaseException:
        opened.close()
        raise
    return folder, opened


def prepare(run: Run[Any], out: Path) -> Path:
    """A folder for a run that another process will open and train, by resuming it."""
    folder = new_folder(out, run.game)
    write_settings(folder, run)
    return folder


def carry_out(
    folder: Path, run: Run[Any] | Opened, stop: Callable[[], bool] = lambda: False, resume: bool = False
) -> Iterator[Report]:
    """Train until all steps are made or `stop()` is true; the last report comes after the final checkpoint."""
    if isinstance(run, Run) and is_grouped(run):
        from ludus.training import learners

        yield from learners.carry_out(folder, run, stop, resume)
    else:
        yield from carry_out_here(folder, run, stop, resume)


def is_grouped(run: Run[Any]) -> bool:
    """Whether a run has several learners, which are processes of their own."""
    return getattr(run.runtime_settings, "learners", 1) > 1


def carry_out_here(folder: Path, run: Run[Any] | Opened, stop: Callable[[], bool], resume: bool) -> Iterator[Report]:
    """The same in this process, which may be one of several learners."""
    with sole_trainer(folder):
        opened = run if isinstance(run, Opened) else open_run(run)
        try:
            yield from _carry_out(folder, opened, stop, resume)
        finally:
            opened.close()


def _carry_out(folder: Path, opened: Opened, stop: Callable[[], bool], resume: bool) -> Iterator[Report]:
    run, source = opened.run, with_demonstrations(folder, opened)
    standing = restored(folder, opened, source) if resume else fresh(opened)
    check_together(source, standing)
    course = Course(folder, opened, standing)
    if course.finished:
        yield course.report(0.0, {})
        return
    with writing(folder):
        record = loggers.open_sinks(("jsonl", *run.log), folder, standing.learner.steps if resume else None)
    try:
        if resume and read(folder / SETTINGS) != run:
            write_settings(folder, run)
        yield from _loop(course, source, record, stop)
    finally:
        with writing(folder):
            record.close()


def _loop(course: Course, source: Source[Any], record: loggers.Sink, stop: Callable[[], bool]) -> Iterator[Report]:
    folder, opened, learner = course.folder, course.opened, course.standing.learner
    announce(folder)
    clock, speed, control = Stopwatch(course.standing.seconds), Speed(), Control(folder)
    resources = Resources()
    speed.rate(learner.steps, clock.seconds)
    with course.saved_on_error():
        for progress in train(opened.agent, opened.run.settings, learner, source, opened.ahead.update):
            clock.pause()
            metrics = course.take(progress, clock.seconds)
            rate = speed.rate(course.standing.learner.steps, clock.seconds)
            written = metrics | {"seconds": clock.seconds, "steps_per_second": rate} | resources.metrics()
            course.statistics.record_update(written)
            with writing(folder):
                record.write(course.standing.learner.steps, written)
            control.poll()
            ending, due = source.agree(course.finished or stop(), course.save_due or control.wants_save)
            if ending or due:
                course.save(source)
            yield course.report(rate, metrics)
            if ending:
                break
            if control.hold(stop) and source.agree(True)[0]:
                break
            clock.go_on()
    draw_score(folder)


def take_part(run: Run[Any], stop: Callable[[], bool] = lambda: False, folder: Path | None = None) -> int:
    """Train beside the process that owns the run, without writing files; returns the steps at the end.

    With a folder, it continues from the newest checkpoint there.
    """
    opened = open_run(run)
    try:
        standing = fresh(opened) if folder is None else restored(folder, opened, opened.source)
        return _train_beside(opened, standing, stop)
    finally:
        opened.close()


def _train_beside(opened: Opened, standing: Standing, stop: Callable[[], bool]) -> int:
    run, source = opened.run, opened.source
    check_together(source, standing)
    steps: int = standing.learner.steps
    if steps >= run.steps:
        return steps
    for progress in train(opened.agent, run.settings, standing.learner, source, opened.ahead.update):
        steps = progress.learner.steps
        if progress.metrics.get("finite") == 0.0:
            raise LudusError("an update produced NaN or infinity; rank 0 reports what to do")
        ending, saving = source.agree(steps >= run.steps or stop(), False)
        if ending or saving:
            source.state()  # collective: rank 0 saves the states of all workers
        if ending:
            break
    return steps


def check_together(source: Source[Any], standing: Standing) -> None:
    """Raise LudusError if the processes of a run do not begin at the same step."""
    if source.agree(standing.learner.steps > 0)[0] != (standing.learner.steps > 0):
        raise LudusError(
            "some ranks resume a checkpoint and others do not; start all of them with --resume and the same folder"
        )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raise LudusError if metrics cannot be written, for example because the disk is full."""
    try:
        yield
    except OSError as error:
        raise LudusError(
            f'cannot write to "{folder}": {error.strerror or error}; make room, then continue with: '
            f"ludus train --resume {folder}"
        ) from None


def score_series(folder: Path) -> plots.Series:
    """The scores of a run over its steps, with their intervals."""
    path = folder / METRICS
    lines = [line for line in loggers.read(path) if line.get("score") is not None] if path.is_file() else []
    columns = [[line.get(name) for line in lines] for name in ("step", "score", "score_low", "score_high")]
    return plots.Series(folder.name, *(np.array(column, np.float64) for column in columns))


def draw_score(folder: Path) -> None:
    """Write the plot of the score over the steps."""
    series = score_series(folder)
    plots.curves(folder / SCORE, [series], title=folder.name, x_label="steps", y_label="score")


__all__ = [
    "Report", "carry_out", "draw_score", "open_run", "prepare", "score_series", "start", "state_of", "take_part",
]  # fmt: skip
