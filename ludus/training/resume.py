"""The progress of a run from one update to the next, and its checkpoints: saving and resuming exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludus.agents import checkpoint
from ludus.bridges import identity_of
from ludus.evaluation.statistics import Interval
from ludus.runtimes import Source
from ludus.training.config import to_dict
from ludus.training.folder import CHECKPOINTS
from ludus.training.opened import Opened
from ludus.types import LudusError


class Standing(NamedTuple):
    """The progress of a run."""

    learner: Any
    version: int
    """updates made"""
    seconds: float
    score: Interval | None
    saved: Path | None
    finished: bool = False
    """the algorithm has converged, for example to an optimal plan"""
    measured: bool = False
    """the score belongs to these parameters, not to earlier ones"""


def fresh(opened: Opened) -> Standing:
    return Standing(opened.learner or new_learner(opened), 0, 0.0, None, None)


def new_learner(opened: Opened) -> Any:
    opened.ahead.learner()
    return opened.run.settings.new_learner(opened.agent, opened.run.seed)


def restored(folder: Path, opened: Opened, source: Source[Any]) -> Standing:
    """The standing of the newest checkpoint of the run; the source continues from there."""
    newest = checkpoint.newest(folder / CHECKPOINTS)
    if newest is None:
        return fresh(opened)
    stored, run = checkpoint.load(newest), opened.run
    checkpoint.check_game(stored, identity_of(opened.pool))
    try:
        learner = run.settings.restore(opened.agent, stored.arrays, run.seed)
        if learner.steps != stored.manifest.steps:
            raise LudusError("its counters differ; remove this checkpoint to continue from the previous one")
        source.restore({name: arrays for name, arrays in stored.arrays.items() if name not in ("params", "learner")})
    except LudusError as error:
        raise LudusError(f'cannot continue from "{newest}": {error}') from None
    known = stored.manifest.metrics
    score = Interval(*(known[f"score{end}"] for end in ("", "_low", "_high"))) if "score" in known else None
    longer = 0 < learner.episodes < run.episodes  # the number of episodes was raised
    finished = known.get("finished") == 1.0 and not longer
    return Standing(learner, stored.manifest.version, known.get("seconds", 0.0), score, newest, finished)


def save(folder: Path, opened: Opened, source: Source[Any] | None, standing: Standing) -> Path:
    """Save everything that the run needs to continue; old checkpoints are deleted."""
    learner, score, run = standing.learner, standing.score, opened.run
    metrics = {"seconds": standing.seconds, "finished": float(standing.finished)}
    if score is not None:
        metrics |= {"score": score.estimate, "score_low": score.low, "score_high": score.high}
    manifest = checkpoint.describe(
        identity_of(opened.pool), run.settings.describe(), {"kind": run.algorithm, **_plain(to_dict(run))},
        version=standing.version, steps=learner.steps, metrics=metrics,
        score=score.estimate if score is not None and standing.measured else None,
        parent=None if standing.saved is None else standing.saved.name,
    )  # fmt: skip
    job = opened.source.job
    times = {"time": np.array([standing.version * job.steps])}
    workers = source.state() if source else {f"worker_{number}": times for number in range(job.workers)}
    arrays = run.settings.save(learner) | workers
    path = checkpoint.save(folder / CHECKPOINTS, learner.steps, checkpoint.Checkpoint(manifest, arrays))
    checkpoint.rotate(folder / CHECKPOINTS, run.keep_checkpoints)
    return path


def _plain(value: Any) -> Any:
    """Settings with lists instead of tuples, as in JSON."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
