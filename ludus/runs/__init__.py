"""Training runs on disk: `runs/tictactoe-0001/` with its settings, metrics, checkpoints and the picture of its score.

`carry_out` is a `for` loop around the training loop: it takes scores, writes metrics, saves, and tells of it all.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludus import checkpoint, evaluate, plots, sinks
from ludus.agents import load as load_agent
from ludus.algorithms import craft_of
from ludus.bridges import AnyPool, identity_of, open_pool
from ludus.config import Run, read
from ludus.runs.fellows import agreed, check_together, take_part
from ludus.runs.folder import CHECKPOINTS, METRICS, SCORE, SETTINGS, new_folder, write_settings
from ludus.runs.keeping import Standing, fresh, job_of, restored, save
from ludus.runs.timing import Speed, Stopwatch
from ludus.runtimes import Source, count_workers, open_source
from ludus.statistics import Interval
from ludus.train import train
from ludus.types import LudusError


class Report(NamedTuple):
    """How a run stands."""

    folder: Path
    run: Run[Any]
    steps: int
    seconds: float
    """of training, over all times that the run was resumed"""
    rate: float
    """steps per second, of late"""
    metrics: dict[str, float]
    """of the newest chunk; none where the run was finished before"""
    score: Interval | None
    """the newest"""
    scores: list[float]
    saved: Path | None
    """the newest checkpoint"""
    finished: bool


def start(run: Run[Any], out: Path) -> tuple[Path, Run[Any]]:
    """A new folder for a run, with all that is decided before it begins."""
    settled = settle(run)
    folder = new_folder(out, run.game)
    write_settings(folder, settled)
    return folder, settled


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
    source = open_source(run.runtime, job_of(run))
    try:
        agent = craft_of(run.settings).agent_for(run.settings, pool)
        standing = restored(folder, run, pool, agent, source) if resume else fresh(run, agent)
        check_together(run, standing)
        if standing.finished or standing.learner.steps >= run.steps:
            yield report(folder, run, standing, 0.0, {}, past_scores(folder), True)
            return
        with writing(folder):
            record = sinks.open_sinks(("jsonl", *run.log), folder, standing.learner.steps if resume else None)
        try:
            if resume and read(folder / SETTINGS) != run:
                write_settings(folder, run)
            yield from _loop(folder, run, pool, agent, source, record, standing, stop)
        finally:
            with writing(folder):
                record.close()
    finally:
        source.close()
        pool.close()


def _loop(
    folder: Path, run: Run[Any], pool: AnyPool, agent: Any, source: Source, record: sinks.Sink,
    standing: Standing, stop: Callable[[], bool],
) -> Iterator[Report]:  # fmt: skip
    craft = craft_of(run.settings)
    scores, saving, best = past_scores(folder), False, best_score(folder)
    last_save, clock, speed = time.perf_counter(), Stopwatch(standing.seconds), Speed()
    speed.rate(standing.learner.steps, clock.seconds)
    try:
        for progress in train(agent, run.settings, standing.learner, source):
            clock.pause()
            before = standing.learner.steps
            learner, rate = progress.learner, speed.rate(progress.learner.steps, clock.seconds)
            standing = standing._replace(
                learner=learner, version=standing.version + 1, seconds=clock.seconds, measured=False,
                finished=progress.metrics.get("finished") == 1.0,
            )  # fmt: skip
            finished = standing.finished or learner.steps >= run.steps
            metrics = dict(progress.metrics) | craft.rates(run, standing.version) | {"age": float(progress.age)}
            if metrics.get("finite") == 0.0:
                raise not_finite(folder)
            if finished or evaluation_due(run, before, learner.steps):
                score = take_score(run, pool, craft.player(agent), learner.params, learner.steps)
                standing = standing._replace(score=score, measured=True)
                scores.append(score.estimate)
                metrics |= {"score": score.estimate, "score_low": score.low, "score_high": score.high}
            with writing(folder):
                record.write(learner.steps, metrics | {"seconds": standing.seconds, "rate": rate})
            ending, better = finished or stop(), standing.measured and scores[-1] > best
            due = better or time.perf_counter() - last_save >= run.checkpoint_seconds
            ending, due = agreed(run, ending, due)
            if ending or due:
                saving, best = True, scores[-1] if better else best
                standing = standing._replace(saved=save(folder, run, pool, source, standing))
                saving, last_save = False, time.perf_counter()
            yield report(folder, run, standing, rate, metrics, scores, finished)
            if ending:
                break
            clock.go_on()
    except Exception:
        # A worker or the learner is lost: what was learned is not. Where saving failed, one more try helps nobody.
        unsaved = standing.saved is None or standing.saved.name != f"{standing.learner.steps:06d}"
        if standing.version and unsaved and not saving:
            save(folder, run, pool, None, standing)
        raise
    draw_score(folder)


@contextmanager
def sole_trainer(folder: Path) -> Iterator[None]:
    """Two processes that train the same run would mix their records; the lock dies with its process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot lock a folder
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LudusError(f'"{folder}" is being trained by another process; stop that first') from None
        yield
    finally:
        os.close(descriptor)


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


def take_score(run: Run[Any], pool: AnyPool, agent: Any, params: Any, steps: int) -> Interval:
    """The mean return of greedy play: alone, or against a random player where there is somebody to play against."""
    games, seed = run.games, (run.seed * 1_000_003 + steps) % 2**31
    if pool.spec.seats == 1:
        return evaluate.score(run.game, agent, params, games, seed).interval
    opponent = load_agent("random", run.game)
    return evaluate.match(
        run.game, [(agent, params), (opponent, opponent.init(pool.spec, seed))], games + games % 2, seed
    ).interval


def not_finite(folder: Path) -> LudusError:
    """What to say when learning has led to numbers that are none."""
    return LudusError(
        "an update gave numbers that are not finite, and was not taken over; the newest checkpoint in "
        f'"{folder / CHECKPOINTS}" has the parameters before it; train anew with a lower --learning-rate'
    )


def evaluation_due(run: Run[Any], before: int, after: int) -> bool:
    """Whether a time to take the score lies between two steps."""
    return run.evaluations > 0 and after * run.evaluations // run.steps > before * run.evaluations // run.steps


def report(
    folder: Path, run: Run[Any], standing: Standing, rate: float, metrics: dict[str, float], scores: list[float],
    finished: bool,
) -> Report:  # fmt: skip
    return Report(
        folder,
        run,
        standing.learner.steps,
        standing.seconds,
        rate,
        metrics,
        standing.score,
        scores,
        standing.saved,
        finished,
    )


def past_scores(folder: Path) -> list[float]:
    path = folder / METRICS
    lines = sinks.read(path) if path.is_file() else []
    return [line["score"] for line in lines if line.get("score") is not None]


def best_score(folder: Path) -> float:
    """The highest score of a checkpoint that the run has."""
    best = checkpoint.best(folder / CHECKPOINTS)
    score = None if best is None else checkpoint.read_manifest(best).score
    return -np.inf if score is None else score


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


__all__ = ["Report", "carry_out", "draw_score", "score_series", "settle", "start", "take_part"]
