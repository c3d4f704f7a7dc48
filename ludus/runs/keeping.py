"""What a run carries from one chunk to the next, and from one process to the next: saving and going on exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ludus import checkpoint, devices
from ludus.algorithms import craft_of
from ludus.bridges import AnyPool, identity_of
from ludus.config import Run, to_dict
from ludus.runs.folder import CHECKPOINTS
from ludus.runtimes import Job, Source
from ludus.statistics import Interval
from ludus.types import LudusError


class Standing(NamedTuple):
    """How far a run has come."""

    learner: Any
    version: int
    seconds: float
    score: Interval | None
    saved: Path | None
    finished: bool = False
    """by itself, before all steps were made: a plan that is as good as it gets"""
    measured: bool = False
    """the score is of these very parameters, not of earlier ones"""


def job_of(run: Run[Any]) -> Job:
    """What the workers are told."""
    return Job(run.game, run.rows, run.seed, max(run.chunk // run.rows, 1), run.workers, run.settings, run.mode)


def fresh(run: Run[Any], agent: Any) -> Standing:
    return Standing(craft_of(run.settings).begin(run.settings, agent, run.seed), 0, 0.0, None, None)


def restored(folder: Path, run: Run[Any], pool: AnyPool, agent: Any, source: Source) -> Standing:
    """Where the newest checkpoint of the run stands; the source goes on from there."""
    newest = checkpoint.newest(folder / CHECKPOINTS)
    if newest is None:
        return fresh(run, agent)
    stored = checkpoint.load(newest)
    checkpoint.check_game(stored, identity_of(pool))
    try:
        learner = craft_of(run.settings).resumed(run.settings, agent, stored.arrays, run.seed)
        if learner.steps != stored.manifest.steps:
            raise LudusError("its counters differ; take this checkpoint away to go on from the one before")
        source.restore({name: arrays for name, arrays in stored.arrays.items() if name not in ("params", "learner")})
    except LudusError as error:
        raise LudusError(f'cannot go on from "{newest}": {error}') from None
    known = stored.manifest.metrics
    score = Interval(*(known[f"score{end}"] for end in ("", "_low", "_high"))) if "score" in known else None
    finished = known.get("finished") == 1.0
    return Standing(learner, stored.manifest.version, known.get("seconds", 0.0), score, newest, finished)


def save(folder: Path, run: Run[Any], pool: AnyPool, source: Source | None, standing: Standing) -> Path:
    """A checkpoint of all that the run needs to go on; older ones rotate away."""
    learner, score, craft = standing.learner, standing.score, craft_of(run.settings)
    metrics = {"seconds": standing.seconds, "finished": float(standing.finished)}
    if score is not None:
        metrics |= {"score": score.estimate, "score_low": score.low, "score_high": score.high}
    manifest = checkpoint.describe(
        identity_of(pool), craft.describe(run.settings), {"kind": run.algorithm, **_plain(to_dict(run))},
        version=standing.version, steps=learner.steps, metrics=metrics,
        score=score.estimate if score is not None and standing.measured else None,
        parent=None if standing.saved is None else standing.saved.name,
    )  # fmt: skip
    times = {"time": np.array([standing.version * job_of(run).steps])}
    everyone = run.workers * (devices.processes() if run.settings.DEEP else 1)
    workers = source.state() if source else {f"worker_{number}": times for number in range(everyone)}
    arrays = craft.groups(learner) | workers
    path = checkpoint.save(folder / CHECKPOINTS, learner.steps, checkpoint.Checkpoint(manifest, arrays))
    checkpoint.rotate(folder / CHECKPOINTS, run.keep)
    return path


def _plain(value: Any) -> Any:
    """Settings as JSON knows them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
