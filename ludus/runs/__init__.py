"""Training runs on disk: `runs/tictactoe-0001/` with its settings, metrics, checkpoints and the picture of its score.

`carry_out` is a `for` loop around the training loop: it takes scores, writes metrics, saves, and tells of it all.
"""

from __future__ import annotations

import collections
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludus import checkpoint, evaluate, plots, schedules, sinks
from ludus.agents import load as load_agent
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.algorithms.tabular import Learner
from ludus.algorithms.tabular.worker import check_discrete
from ludus.bridges import AnyPool, identity_of, open_pool
from ludus.config import Run, read, to_dict
from ludus.pool import Pool
from ludus.runs.folder import CHECKPOINTS, METRICS, SCORE, SETTINGS, new_folder, write_settings
from ludus.runtimes import Job, Source, check_mergeable, count_workers, open_source
from ludus.statistics import Interval
from ludus.train import train
from ludus.types import Array, LudusError

CHUNK, STEPPED_CHUNK = 2**20, 2**13
"""decisions of a worker between two merges, where compiled code steps the games and where Python does"""
MPI_CHUNK = 2**18
"""mpiexec leaves half a second between Ctrl-C and SIGKILL, in which a chunk must end and be saved"""


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


class Standing(NamedTuple):
    """What a run carries from one chunk to the next, and from one process to the next."""

    learner: Learner
    version: int
    seconds: float
    score: Interval | None
    saved: Path | None
    finished: bool = False
    """by itself, before all steps were made: a plan that is as good as it gets"""
    measured: bool = False
    """the score is of this very table, not of an earlier one"""


def start(run: Run[Any], out: Path) -> tuple[Path, Run[Any]]:
    """A new folder for a run, with all that is decided before it begins."""
    settled = settle(run)
    folder = new_folder(out, run.game)
    write_settings(folder, settled)
    return folder, settled


def settle(run: Run[Any]) -> Run[Any]:
    """The run with every choice made that was left to us; a sentence if the game will not do."""
    workers = count_workers(run.runtime, run.mode, run.workers)
    check_mergeable(run.settings, workers)
    pool = open_pool(run.game, 1, run.seed, threads=1)
    try:
        check_discrete(pool.name, pool.spec)
        fresh(run, pool)
        native = isinstance(pool, Pool) and getattr(run.settings, "form", "compiled") == "compiled"
        # After one step more than there are seats, somebody has learned: checkpoints are numbered by that.
        least = run.rows * (pool.spec.seats + 1)
        usual = STEPPED_CHUNK if not native else MPI_CHUNK if run.runtime == "mpi" else CHUNK
        chunk = run.chunk or min(usual, -(-run.steps // workers))
        return replace(run, game=identity_of(pool).full_name, workers=workers, chunk=max(chunk, least))
    finally:
        pool.close()


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
        agent = TabularAgent.of(pool, run.settings.tables)
        standing = restored(folder, run, pool, source) if resume else fresh(run, pool)
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
    folder: Path, run: Run[Any], pool: AnyPool, agent: TabularAgent, source: Source, record: sinks.Sink,
    standing: Standing, stop: Callable[[], bool],
) -> Iterator[Report]:  # fmt: skip
    scores, saving, best = past_scores(folder), False, best_score(folder)
    last_save, clock, speed = time.perf_counter(), Stopwatch(standing.seconds), Speed()
    speed.rate(standing.learner.steps, clock.seconds)
    try:
        for progress in train(agent, run.settings, standing.learner, source):
            clock.pause()
            learner, rate = progress.learner, speed.rate(progress.learner.steps, clock.seconds)
            standing = standing._replace(
                learner=learner, version=standing.version + 1, seconds=clock.seconds, measured=False,
                finished=progress.metrics.get("finished") == 1.0,
            )  # fmt: skip
            finished = standing.finished or learner.steps >= run.steps
            metrics = dict(progress.metrics) | rates_at(run, standing.version) | {"age": float(progress.age)}
            if finished or evaluation_due(run, learner.steps - int(progress.metrics["updates"]), learner.steps):
                score = take_score(run, pool, agent, learner.table, learner.steps)
                standing = standing._replace(score=score, measured=True)
                scores.append(score.estimate)
                metrics |= {"score": score.estimate, "score_low": score.low, "score_high": score.high}
            with writing(folder):
                record.write(learner.steps, metrics | {"seconds": standing.seconds, "rate": rate})
            ending, better = finished or stop(), standing.measured and scores[-1] > best
            if ending or better or time.perf_counter() - last_save >= run.checkpoint_seconds:
                saving, best = True, scores[-1] if better else best
                standing = standing._replace(saved=save(folder, run, pool, source, standing))
                saving, last_save = False, time.perf_counter()
            yield report(folder, run, standing, rate, metrics, scores, finished)
            if ending:
                break
            clock.go_on()
    except LudusError:
        # A worker or a rank is lost: what was learned is not. Where saving itself failed, half a try more helps nobody.
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


class Stopwatch:
    """Seconds of training, without those that scores and checkpoints take."""

    def __init__(self, before: float) -> None:
        self.total, self.since = before, time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.total + (time.perf_counter() - self.since if self.since else 0.0)

    def pause(self) -> None:
        self.total, self.since = self.seconds, 0.0

    def go_on(self) -> None:
        self.since = time.perf_counter()


class Speed:
    """Steps per second over the last few seconds."""

    def __init__(self, window: float = 3.0) -> None:
        self.window, self.marks = window, collections.deque[tuple[float, int]]()

    def rate(self, steps: int, now: float) -> float:
        self.marks.append((now, steps))
        while len(self.marks) > 2 and now - self.marks[1][0] >= self.window:
            self.marks.popleft()
        (then, before), (now, steps) = self.marks[0], self.marks[-1]
        return (steps - before) / (now - then) if now > then else 0.0


def job_of(run: Run[Any]) -> Job:
    """What the workers are told."""
    return Job(run.game, run.rows, run.seed, max(run.chunk // run.rows, 1), run.workers, run.settings, run.mode)


def fresh(run: Run[Any], pool: AnyPool) -> Standing:
    agent = TabularAgent.of(pool, run.settings.tables)
    actions: Any = pool.spec.actions
    table = run.settings.new_table(agent.positions, actions.n, pool.spec.seats)
    return Standing(run.settings.start(table), 0, 0.0, None, None)


def restored(folder: Path, run: Run[Any], pool: AnyPool, source: Source) -> Standing:
    """Where the newest checkpoint of the run stands; the source goes on from there."""
    newest = checkpoint.newest(folder / CHECKPOINTS)
    if newest is None:
        return fresh(run, pool)
    stored = checkpoint.load(newest)
    checkpoint.check_game(stored, identity_of(pool))
    table = restored_table(stored, run, pool)
    workers = {name: arrays for name, arrays in stored.arrays.items() if name.startswith("worker_")}
    if workers:
        source.restore(workers)
    counters = stored.arrays.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (2,) or counters[0] != stored.manifest.steps:
        raise LudusError(
            f'"{newest}" does not say how far it came; take this checkpoint away to go on from the one before'
        )
    learner = Learner(table, int(counters[0]), int(counters[1]))
    known = stored.manifest.metrics
    score = Interval(*(known[f"score{end}"] for end in ("", "_low", "_high"))) if "score" in known else None
    finished = known.get("finished") == 1.0
    return Standing(learner, stored.manifest.version, known.get("seconds", 0.0), score, newest, finished)


def restored_table(stored: checkpoint.Checkpoint, run: Run[Any], pool: AnyPool) -> Table:
    """The table of a checkpoint, if it is one for this game and these settings."""
    actions: Any = pool.spec.actions
    table = Table.from_state(stored.arrays.get("params", {}), actions.n, run.settings.extra)
    TabularAgent.of(pool, run.settings.tables).check(table)
    return table


def save(folder: Path, run: Run[Any], pool: AnyPool, source: Source | None, standing: Standing) -> Path:
    """A checkpoint of all that the run needs to go on; older ones rotate away."""
    learner, score = standing.learner, standing.score
    metrics = {"seconds": standing.seconds, "finished": float(standing.finished)}
    if score is not None:
        metrics |= {"score": score.estimate, "score_low": score.low, "score_high": score.high}
    settings = {name: value if not isinstance(value, tuple) else list(value) for name, value in to_dict(run).items()}
    manifest = checkpoint.describe(
        identity_of(pool), {"kind": "tabular", "tables": run.settings.tables}, {"kind": run.algorithm, **settings},
        version=standing.version, steps=learner.steps, metrics=metrics,
        score=score.estimate if score is not None and standing.measured else None,
        parent=None if standing.saved is None else standing.saved.name,
    )  # fmt: skip
    times = {"time": np.array([standing.version * job_of(run).steps])}
    workers = source.state() if source else {f"worker_{number}": times for number in range(run.workers)}
    arrays: dict[str, dict[str, Array]] = {"params": learner.table.state(), **workers}
    arrays["learner"] = {"counters": np.array([learner.steps, learner.episodes], np.int64)}
    path = checkpoint.save(folder / CHECKPOINTS, learner.steps, checkpoint.Checkpoint(manifest, arrays))
    checkpoint.rotate(folder / CHECKPOINTS, run.keep)
    return path


def take_score(run: Run[Any], pool: AnyPool, agent: TabularAgent, table: Table, steps: int) -> Interval:
    """The mean return of greedy play: alone, or against a random player where there is somebody to play against."""
    games, seed = run.games, (run.seed * 1_000_003 + steps) % 2**31
    if pool.spec.seats == 1:
        return evaluate.score(run.game, agent, table, games, seed).interval
    opponent = load_agent("random", run.game)
    return evaluate.match(
        run.game, [(agent, table), (opponent, opponent.init(pool.spec, seed))], games + games % 2, seed
    ).interval


def evaluation_due(run: Run[Any], before: int, after: int) -> bool:
    """Whether a time to take the score lies between two steps."""
    return run.evaluations > 0 and after * run.evaluations // run.steps > before * run.evaluations // run.steps


def rates_at(run: Run[Any], chunks: int) -> dict[str, float]:
    """What the schedules say after so many chunks; like the workers, they count the openings of games as steps."""
    steps = float(chunks * job_of(run).steps * run.rows * run.workers)
    names = [name for name in ("learning_rate", "exploration") if hasattr(run.settings, name)]
    return {name: schedules.parse(getattr(run.settings, name))(steps) for name in names}


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


__all__ = ["Report", "carry_out", "draw_score", "score_series", "settle", "start"]
