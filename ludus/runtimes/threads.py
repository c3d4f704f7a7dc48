"""Workers in threads of this process: for games and networks whose compiled code releases Python's lock.

Workers that learn tables learn into copies: sharing one table would move its cache lines between cores all the time.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ludus.algorithms.protocol import Algorithm, Arrays, Worker
from ludus.pool import available_cores
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.rounds import Rounds
from ludus.types import Array, LudusError


def count_workers(algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    return algorithm.count_workers(wanted, available_cores())


def open_source(job: Job) -> Rounds[Any]:
    ahead = job.algorithm.overlap
    lanes = [Thread(job.worker(number), number, ahead) for number in range(job.first, job.first + job.workers)]
    return Rounds(job, lanes, ahead)


class Thread:
    """A worker with a thread of its own."""

    def __init__(self, worker: Worker[Any], number: int, ahead: bool) -> None:
        self.worker, self.number, self.ahead = worker, number, ahead
        self.executor = ThreadPoolExecutor(1, thread_name_prefix=f"ludus-worker-{number}")
        self.orders = collections.deque[Future[tuple[Any, Arrays | None]]]()
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker has gone on since"""

    def begin(self, parcel: Any, version: int) -> None:
        self.orders.append(self.executor.submit(self._work, parcel, version))

    def _work(self, params: Any, version: int) -> tuple[Any, Arrays | None]:
        self.worker.publish(params, version)
        return self.worker.work(), self.worker.state() if self.ahead else None

    def take(self) -> Any:
        try:
            unit, self.after = self.orders.popleft().result()
        except LudusError as error:
            raise LudusError(f"worker {self.number} stopped: {error}") from error
        except Exception as error:
            raise LudusError(f"worker {self.number} stopped: {type(error).__name__}: {error}") from error
        return unit

    def state(self) -> Arrays:
        return self.worker.state() if self.after is None else self.after

    def restore(self, state: Mapping[str, Array]) -> None:
        self.worker.restore(state)

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)
        self.worker.close()
