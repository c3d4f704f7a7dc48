"""A worker for each core, in threads: every one learns into a copy of the table, and the copies are merged.

Sharing one hot table between threads gains nothing: its cache lines would travel to and fro with every update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ludus.agents.table import Table
from ludus.algorithms.tabular import Learned
from ludus.runtimes.job import Job
from ludus.runtimes.single import check_workers
from ludus.types import Array


class Threads:
    """A source of tables that learned side by side."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.workers = [job.worker(number) for number in range(job.workers)]
        self.replicas: list[Table] = []
        self.mappings: list[Array] = []
        self.version = 0
        self.executor = ThreadPoolExecutor(job.workers, thread_name_prefix="ludus-learner")

    def __iter__(self) -> Iterator[Learned]:
        while True:
            parts = [self.executor.submit(self._work, number) for number in range(self.job.workers)]
            tallies = [part.result() for part in parts]
            self.mappings = []
            yield Learned(self.replicas, tallies, self.version, self.mappings)

    def _work(self, number: int) -> Any:
        return self.workers[number].work(self.replicas[number], self.job.steps)

    def publish(self, params: Table, version: int) -> None:
        if not self.replicas:
            self.replicas = [params.copy() for _ in self.workers]
        for worker, mapping in zip(self.workers, self.mappings, strict=False):
            worker.remap(mapping)
        for replica in self.replicas:
            replica.take(params)
        self.version = version

    def state(self) -> dict[str, dict[str, Array]]:
        return {f"worker_{number}": worker.state() for number, worker in enumerate(self.workers)}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        check_workers(state, len(self.workers))
        for number, worker in enumerate(self.workers):
            worker.restore(state[f"worker_{number}"])

    def close(self) -> None:
        self.executor.shutdown()
        for worker in self.workers:
            worker.close()


def open_source(job: Job) -> Threads:
    return Threads(job)
