"""Several processes train one run: process 0 keeps it, its fellows play and learn beside it and write nothing.

After every update all of them hear what anyone wishes, so they save and end at the same moment.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ludus import devices
from ludus.algorithms import craft_of
from ludus.bridges import open_pool
from ludus.config import Run
from ludus.runs.keeping import Standing, fresh, job_of, restored
from ludus.runtimes import Source, open_source
from ludus.train import train
from ludus.types import LudusError


def take_part(run: Run[Any], stop: Callable[[], bool] = lambda: False, folder: Path | None = None) -> int:
    """Train beside process 0 until the run ends, and tell its steps; with a folder, go on where its checkpoint is."""
    pool = open_pool(run.game, 1, run.seed, threads=1)
    source = open_source(run.runtime, job_of(run))
    try:
        agent = craft_of(run.settings).agent_for(run.settings, pool)
        standing = fresh(run, agent) if folder is None else restored(folder, run, pool, agent, source)
        return _learn(run, agent, source, standing, stop)
    finally:
        source.close()
        pool.close()


def _learn(run: Run[Any], agent: Any, source: Source, standing: Standing, stop: Callable[[], bool]) -> int:
    check_together(run, standing)
    steps: int = standing.learner.steps
    if steps >= run.steps:
        return steps
    for progress in train(agent, run.settings, standing.learner, source):
        steps = progress.learner.steps
        if progress.metrics.get("finite") == 0.0:
            raise LudusError("an update gave numbers that are not finite; process 0 says what to do")
        ending, saving = agreed(run, steps >= run.steps or stop(), False)
        if ending or saving:
            source.state()  # process 0 asks all of us for it
        if ending:
            break
    return steps


def agreed(run: Run[Any], *wishes: bool) -> list[bool]:
    """For each wish, whether at least one process has it."""
    if not run.settings.DEEP:
        return list(wishes)
    return [any(wish) for wish in zip(*devices.gathered([np.array(wish) for wish in wishes]), strict=True)]


def alone(run: Run[Any]) -> bool:
    """Whether this process trains without fellows."""
    return not run.settings.DEEP or devices.processes() == 1


def check_together(run: Run[Any], standing: Standing) -> None:
    """A sentence where processes do not begin at the same point."""
    if not run.settings.DEEP:
        return
    begun = [int(steps) for steps in devices.gathered(np.array(standing.learner.steps))]
    if len(set(begun)) > 1:
        raise LudusError(
            f"the processes begin after {', '.join(map(str, begun))} steps; let all of them --resume the same folder"
        )


__all__ = ["agreed", "check_together", "take_part"]
