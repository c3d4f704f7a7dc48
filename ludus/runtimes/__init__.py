"""Ways of moving experience: each a source that plays with the parameters last published.

`single` plays here, `threads` on all cores of this process, `processes` in workers of their own, `mpi` on machines.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ludus.algorithms.tabular import Tabular
from ludus.pool import available_cores
from ludus.runtimes.job import Job
from ludus.types import Array, LudusError

NAMES = ("single", "local", "threads", "processes", "mpi")
State = dict[str, dict[str, Array]]


class Source(Protocol):
    """Experience without end, made with the newest parameters."""

    def __iter__(self) -> Iterator[Any]: ...
    def publish(self, params: Any, version: int) -> None: ...
    def state(self) -> State:
        """All that is needed to go on exactly, by worker: groups of arrays for a checkpoint."""
        ...

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None: ...
    def close(self) -> None: ...


def open_source(name: str, job: Job) -> Source:
    """The source of this name."""
    if name not in NAMES:
        raise LudusError(f'unknown runtime "{name}"; known are {", ".join(NAMES)}')
    if job.algorithm.DEEP:
        acting: Source = importlib.import_module("ludus.runtimes.acting").open_source(name, job)
        return acting
    if not isinstance(job.algorithm, Tabular):
        from ludus.runtimes.planner import Planner

        return Planner(job)
    check_mergeable(job.algorithm, job.workers)
    home = "single" if name == "local" else name
    source: Source = importlib.import_module(f"ludus.runtimes.{home}").open_source(job)
    return source


def count_workers(run: Any) -> int:
    """How many workers a run has: as many as wanted, or, with 0, as there is room for."""
    name, mode, wanted = run.runtime, run.mode, run.workers
    if run.settings.DEEP:
        return wanted or 1  # one actor keeps a learner busy; more of them pay where games are slow
    workers = _count_workers(name, mode, wanted)
    check_mergeable(run.settings, workers)
    return workers


def _count_workers(name: str, mode: str, wanted: int) -> int:
    if name in ("threads", "processes"):
        return wanted or available_cores()
    ranks = importlib.import_module("ludus.runtimes.mpi").ranks() if name == "mpi" else 1
    workers = max(ranks - (mode == "server"), 1)
    if wanted not in (0, workers):
        where = "mpiexec -n says how many" if name == "mpi" else "take --runtime threads or processes for more"
        raise LudusError(f"--runtime {name} has {workers} worker{'s' * (workers > 1)} here, not {wanted}; {where}")
    return workers


def check_mergeable(algorithm: Any, workers: int) -> None:
    """A sentence where several workers would each learn what cannot be brought together."""
    if workers > 1 and not algorithm.mergeable:
        raise LudusError(
            f"{algorithm.method} keeps a model beside its table that cannot be merged: run it with --runtime single"
        )


__all__ = ["NAMES", "Job", "Source", "State", "check_mergeable", "count_workers", "open_source"]
