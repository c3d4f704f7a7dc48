"""An open run: its game, agent and source. All automatic settings are resolved and all settings checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ludus import runtimes
from ludus.algorithms.protocol import Ahead, Desk
from ludus.bridges import AnyPool, identity_of, open_pool
from ludus.runtimes import Job, Source
from ludus.training.config import Run
from ludus.types import Spec

USUAL_LENGTH = 100
"""decisions of a game without a horizon, to choose the length of a chunk"""


class Opened(NamedTuple):
    """Everything that training needs; close it afterwards."""

    run: Run[Any]
    """with all automatic settings resolved"""
    pool: AnyPool
    """one row of the game, for evaluation"""
    agent: Any
    source: Source[Any]
    ahead: Ahead
    learner: Any = None
    """a new learner, if the run starts"""

    def close(self) -> None:
        self.source.close()
        self.pool.close()


def open_run(run: Run[Any]) -> Opened:
    """Open the game and the workers of a run; raises LudusError if they do not fit together."""
    workers = runtimes.count_workers(run.runtime, run.settings, run.workers, run.runtime_settings)
    ahead = run.settings.compile_ahead(run.game, run.num_envs, workers)
    pool = open_pool(run.game, 1, run.seed, threads=1)
    try:
        agent = run.settings.new_agent(pool)
        longest = runtimes.longest_chunk(run.runtime)
        desk = Desk(run.seed, 0, workers, short_part(run, pool.spec))
        chunk = run.settings.chunk(pool, desk, run.num_envs, run.chunk, longest)
        run = replace(run, workers=workers, chunk=chunk, game=identity_of(pool).full_name)
        source = runtimes.open_source(run.runtime, job_of(run), run.runtime_settings)
        return Opened(run, pool, agent, source, ahead)
    except BaseException:
        pool.close()
        raise


def short_part(run: Run[Any], spec: Spec) -> int:
    """Decisions between two evaluations, so that the curve of a short run has points too."""
    decisions = min(run.steps, run.episodes * (spec.horizon or USUAL_LENGTH)) if run.episodes else run.steps
    return max(decisions // max(run.evaluations, 1), 1)


def job_of(run: Run[Any]) -> Job:
    """The job of the workers."""
    return Job(run.game, run.num_envs, run.seed, max(run.chunk // run.num_envs, 1), run.workers, run.settings)
