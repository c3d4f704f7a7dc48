"""One worker, here: it learns into the learner's own table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ludus.algorithms.tabular import Learned
from ludus.runtimes.job import Job
from ludus.types import Array, LudusError


class Single:
    """A source that plays in the thread of whoever asks."""

    def __init__(self, job: Job) -> None:
        self.job, self.worker = job, job.worker(0)
        self.table: Any = None
        self.version = 0

    def __iter__(self) -> Iterator[Learned]:
        while True:
            tally = self.worker.work(self.table, self.job.steps)
            yield Learned([], [tally], self.version, [])

    def publish(self, params: Any, version: int) -> None:
        self.table, self.version = params, version

    def state(self) -> dict[str, dict[str, Array]]:
        return {"worker_0": self.worker.state()}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        check_workers(state, 1)
        self.worker.restore(state["worker_0"])

    def close(self) -> None:
        self.worker.close()


def check_workers(state: Mapping[str, Any], workers: int) -> None:
    """Refuse what was not taken from as many workers."""
    if set(state) != {f"worker_{number}" for number in range(workers)}:
        raise LudusError("this checkpoint is of a run with another number of workers; resume it with its own run.toml")


def open_source(job: Job) -> Single:
    return Single(job)
