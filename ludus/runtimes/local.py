"""Workers in the thread of the learner, one after the other."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Experience, Worker
from ludus.evaluation.parts import Spread, here
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.rounds import Rounds, unpacked, worker_error
from ludus.types import Array, LudusError

E = TypeVar("E", bound=Experience)


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    return algorithm.count_workers(wanted, 1)


def open_source(job: Job) -> Rounds[Experience, Params]:
    numbers = range(job.first, job.first + job.workers)
    lanes = [LocalLane(job.worker(number), number) for number in numbers]
    return Rounds(job, lanes, ahead=False, pack=unpacked)


@contextlib.contextmanager
def open_spread(workers: int) -> Iterator[Spread]:
    if workers > 1:
        raise LudusError(f"the runtime local plays in this process, not in {workers} workers; use --runtime processes")
    yield here


class LocalLane(Generic[E]):
    """A worker that makes a unit when the unit is taken."""

    def __init__(self, worker: Worker[E], number: int) -> None:
        self.worker, self.number, self.orders = worker, number, collections.deque[tuple[Params, int]]()

    def begin(self, parcel: Params, version: int) -> None:
        self.orders.append((parcel, version))

    def take(self) -> E:
        self.worker.publish(*self.orders.popleft())
        try:
            return self.worker.work()
        except Exception as error:
            raise worker_error(self.number, error) from error

    def state(self) -> Arrays:
        return self.worker.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self.worker.restore(state)

    def close(self) -> None:
        self.worker.close()
