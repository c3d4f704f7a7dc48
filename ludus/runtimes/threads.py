"""Workers in threads of this process: for games and networks whose compiled code releases the GIL.

Tabular workers learn into copies of the table, because a shared table would keep moving cache lines between cores.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Experience, Worker
from ludus.pool import available_cores
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.rounds import Rounds, unpacked, worker_error
from ludus.types import Array

E = TypeVar("E", bound=Experience)


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    return algorithm.count_workers(wanted, available_cores())


def open_source(job: Job) -> Rounds[Experience, Params]:
    ahead = job.algorithm.overlap
    numbers = range(job.first, job.first + job.workers)
    return Rounds(job, [ThreadLane(job.worker(number), number, ahead) for number in numbers], ahead, unpacked)


class ThreadLane(Generic[E]):
    """A worker in its own thread."""

    def __init__(self, worker: Worker[E], number: int, ahead: bool) -> None:
        self.worker, self.number, self.ahead = worker, number, ahead
        self.executor = ThreadPoolExecutor(1, thread_name_prefix=f"ludus-worker-{number}")
        self.orders = collections.deque[Future[tuple[E, Arrays | None]]]()
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker works ahead"""

    def begin(self, parcel: Params, version: int) -> None:
        self.orders.append(self.executor.submit(self._work, parcel, version))

    def _work(self, params: Params, version: int) -> tuple[E, Arrays | None]:
        self.worker.publish(params, version)
        return self.worker.work(), self.worker.state() if self.ahead else None

    def take(self) -> E:
        try:
            unit, self.after = self.orders.popleft().result()
        except Exception as error:
            raise worker_error(self.number, error) from error
        return unit

    def state(self) -> Arrays:
        return self.worker.state() if self.after is None else self.after

    def restore(self, state: Mapping[str, Array]) -> None:
        self.worker.restore(state)

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)
        self.worker.close()
