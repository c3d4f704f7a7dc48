"""Workers in the thread of the learner, one after the other."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from ludus.algorithms.protocol import Algorithm, Arrays, Worker
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.rounds import Rounds
from ludus.types import Array


def count_workers(algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    return algorithm.count_workers(wanted, 1)


def open_source(job: Job) -> Rounds[Any]:
    return Rounds(job, [Here(job.worker(job.first + number)) for number in range(job.workers)], ahead=False)


class Here:
    """A worker that works when its unit is taken."""

    def __init__(self, worker: Worker[Any]) -> None:
        self.worker, self.orders = worker, collections.deque[tuple[Any, int]]()

    def begin(self, parcel: Any, version: int) -> None:
        self.orders.append((parcel, version))

    def take(self) -> Any:
        self.worker.publish(*self.orders.popleft())
        return self.worker.work()

    def state(self) -> Arrays:
        return self.worker.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self.worker.restore(state)

    def close(self) -> None:
        self.worker.close()
