"""The course of a run from update to update: progress, evaluations and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludus.agents import checkpoint
from ludus.agents import load as load_agent
from ludus.algorithms.protocol import Learner
from ludus.bridges import AnyPool
from ludus.evaluation import scores as evaluate
from ludus.evaluation.statistics import Interval, RecentMean, TrainingStatistics, episodes_of
from ludus.runtimes import Source
from ludus.training import loggers
from ludus.training.config import Run
from ludus.training.folder import CHECKPOINTS, METRICS
from ludus.training.loop import Progress
from ludus.training.opened import Opened
from ludus.training.resume import Standing, save
from ludus.types import JsonObject, LudusError


class Report(NamedTuple):
    """The state of a run after an update."""

    folder: Path
    run: Run[Any]
    steps: int
    seconds: float
    """of training, including the time before the run was resumed"""
    rate: float
    """steps per second over the last few seconds"""
    metrics: dict[str, float]
    """of the newest update; {} if the run was already finished"""
    score: Interval | None
    """the newest score"""
    scores: list[float]
    statistics: TrainingStatistics
    """of the whole run"""
    saved: Path | None
    """the newest checkpoint"""
    finished: bool

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score.estimate:.4g}"
        state = "finished" if self.finished else f"{self.rate:,.0f} steps/s"
        return f"<report on {self.folder}: {self.steps:,} of {self.run.steps:,} steps{score}, {state}>"


class Course:
    """A run in progress."""

    def __init__(self, folder: Path, opened: Opened, standing: Standing) -> None:
        self.folder, self.opened, self.standing = folder, opened, standing
        self.run, self.pool, self.agent = opened.run, opened.pool, opened.agent
        if self.pool.spec.seats > 1:
            load_agent(self.run.eval_opponent, self.run.game)  # raises an error now instead of at the first evaluation
        self.best = best_score(folder)
        lines = [line for line in past_metrics(folder) if line["step"] <= standing.learner.steps]
        self.scores = [line["score"] for line in lines if line.get("score") is not None]
        self.statistics, self.returns = TrainingStatistics(), RecentMean()
        for line in lines:
            self.statistics.record_update(line)
            self.returns.add(*episodes_of(line))
        self.last_save, self.saving = time.perf_counter(), False

    @property
    def finished(self) -> bool:
        return self.standing.finished or self.standing.learner.steps >= self.run.steps

    def take(self, progress: Progress[Any], seconds: float) -> dict[str, float]:
        """The progress after an update; returns its metrics, with a score if an evaluation is due."""
        before = self.standing
        self.standing = before._replace(
            learner=progress.learner, version=before.version + 1, seconds=seconds, measured=False,
            finished=progress.metrics.get("finished") == 1.0 or all_episodes(self.run, progress.learner.episodes),
        )  # fmt: skip
        if progress.metrics.get("finite") == 0.0:
            raise not_finite(self.folder)
        metrics = progress.metrics | {"age": float(progress.age)} | self._games(progress.metrics, seconds)
        if self.finished or evaluation_due(self.run, before.learner, self.standing.learner):
            metrics |= self._measure(self.run.settings.evaluation_agent(self.agent))
        return metrics

    def _games(self, metrics: dict[str, float], seconds: float) -> dict[str, float]:
        """Games per hour of the whole run, and the mean return of the newest; {} if the algorithm plays no games."""
        if "episodes" not in metrics:
            return {}
        self.returns.add(*episodes_of(metrics))
        rate = {"games_per_hour": 3600.0 * self.standing.learner.episodes / seconds}
        return rate if self.returns.mean is None else rate | {"mean_reward": self.returns.mean}

    def _measure(self, player: Any) -> dict[str, float]:
        learner = self.standing.learner
        score = take_score(self.run, self.pool, player, learner.params, learner.steps)
        self.standing = self.standing._replace(score=score, measured=True)
        self.scores.append(score.estimate)
        return {"score": score.estimate, "score_low": score.low, "score_high": score.high}

    @property
    def better(self) -> bool:
        """Whether these parameters score higher than all saved ones."""
        return self.standing.measured and self.scores[-1] > self.best

    @property
    def save_due(self) -> bool:
        return self.better or time.perf_counter() - self.last_save >= self.run.checkpoint_seconds

    def save(self, source: Source[Any] | None) -> None:
        """Save a checkpoint; without the source, one that continues with new games."""
        self.saving = True
        saved = save(self.folder, self.opened, source, self.standing)
        self.best = self.scores[-1] if self.better else self.best
        self.standing = self.standing._replace(saved=saved)
        self.saving, self.last_save = False, time.perf_counter()

    @contextmanager
    def saved_on_error(self) -> Iterator[None]:
        """If a worker or the learner fails, save a checkpoint before raising the error."""
        try:
            yield
        except Exception:
            saved = self.standing.saved
            unsaved = saved is None or saved.name != f"{self.standing.learner.steps:06d}"
            if self.standing.version and unsaved and not self.saving:  # a failed save is not repeated
                self.save(None)
            raise

    def report(self, rate: float, metrics: dict[str, float]) -> Report:
        standing = self.standing
        return Report(
            self.folder, self.run, standing.learner.steps, standing.seconds, rate, metrics, standing.score, self.scores,
            self.statistics, standing.saved, self.finished,
        )  # fmt: skip


def take_score(run: Run[Any], pool: AnyPool, agent: Any, params: Any, steps: int) -> Interval:
    """The mean return of greedy play: alone, or against `eval_opponent` in games with several seats."""
    games, seed = run.eval_games, (run.seed * 1_000_003 + steps) % 2**31
    if pool.spec.seats == 1:
        return evaluate.score(run.game, agent, params, games, seed).interval
    opponent = load_agent(run.eval_opponent, run.game)
    return evaluate.match(
        run.game, [(agent, params), (opponent, opponent.init(pool.spec, seed))], games + games % 2, seed
    ).interval


def not_finite(folder: Path) -> LudusError:
    """The error after an update that produced NaN or infinity."""
    return LudusError(
        "an update produced NaN or infinity and was discarded; the newest checkpoint in "
        f'"{folder / CHECKPOINTS}" has the parameters before it; start a new run with a lower --learning-rate'
    )


def all_episodes(run: Run[Any], episodes: int) -> bool:
    """Whether the run has a number of episodes and has played them."""
    return 0 < run.episodes <= episodes


def evaluation_due(run: Run[Any], before: Learner, after: Learner) -> bool:
    """Whether an evaluation is due between two updates."""

    def number(learner: Learner) -> int:
        by_episodes = learner.episodes * run.evaluations // run.episodes if run.episodes else 0
        return max(learner.steps * run.evaluations // run.steps, by_episodes)

    return run.evaluations > 0 and number(after) > number(before)


def past_metrics(folder: Path) -> list[JsonObject]:
    """The metrics of all updates before this process."""
    path = folder / METRICS
    return loggers.read(path) if path.is_file() else []


def best_score(folder: Path) -> float:
    """The highest score among the checkpoints of the run."""
    best = checkpoint.best(folder / CHECKPOINTS)
    score = None if best is None else checkpoint.read_manifest(best).score
    return -np.inf if score is None else score
