"""Opportunistic batches: whatever has arrived while the last batch was computed forms the next one, without waiting.

Agents that take less than a millisecond decide in the event loop, which saves two changes of threads per batch; others
have a thread, so that the loop goes on reading requests while they compute.
"""

from __future__ import annotations

import asyncio
import bisect
import logging
import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from ludus.server.model import Answers, Loaded, Memory, Row
from ludus.server.problems import Problem

log = logging.getLogger("ludus.server")
IN_LOOP = 1e-3
"""seconds of a full batch below which an agent decides in the event loop"""
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""upper ends of the bins of a histogram of seconds"""


class Decided(msgspec.Struct, frozen=True):
    """A decision without a session."""

    action: int | list[float]
    name: str
    probabilities: list[float]
    value: float
    degraded: bool
    memory: Memory
    """for the next decision of the same game"""


@dataclass
class Histogram:
    """Counts of seconds, as Prometheus reads them."""

    ends: tuple[float, ...] = SECONDS
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    """by bin; the last one is for longer times"""
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect.bisect_left(self.ends, seconds)] += 1
        self.total += seconds


@dataclass
class Meter:
    """What a model has done since the start of this process."""

    requests: int = 0
    """decisions that were requested"""
    answers: int = 0
    """decisions that were made"""
    degraded: int = 0
    """decisions that are default actions, because the network failed"""
    overloaded: int = 0
    """requests that were refused because too many were waiting"""
    batches: dict[int, int] = field(default_factory=dict)
    """number of batches by their rows"""
    seconds: Histogram = field(default_factory=Histogram)
    """from a request to its decision, waiting included"""


class Waiting(NamedTuple):
    """A row that waits for its batch."""

    row: Row
    future: asyncio.Future[Decided]
    since: float


Outcome = list[Decided] | Problem
Deliver = Callable[[int, list[Waiting], Outcome], object]
"""of the number of rows that were taken, those that were decided, and their decisions"""


class Batcher:
    """The queue of one model."""

    def __init__(self, loaded: Loaded, limit: int, meter: Meter) -> None:
        self.loaded, self.meter = loaded, meter
        self._limit, self._loop = limit, asyncio.get_running_loop()
        self.waiting = 0
        """rows that wait or are being decided"""
        self._rows: deque[Waiting] = deque()
        self._scheduled = False
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        slowest = max(loaded.seconds.values(), default=0.0)
        self._thread = threading.Thread(target=self._work, name=f"ludus {loaded.name}", daemon=True)
        self.threaded = slowest > IN_LOOP
        if self.threaded:
            self._thread.start()

    def submit(self, row: Row) -> asyncio.Future[Decided]:
        """The decision for a row; raises Problem if too many rows are waiting."""
        self.meter.requests += 1
        if self.waiting >= self._limit:
            self.meter.overloaded += 1
            detail = f"{self.waiting} requests are waiting for {self.loaded.name}; try again later"
            raise Problem(503, "overloaded", detail, retry_after=self._seconds_to_empty())
        waiting = Waiting(row, self._loop.create_future(), time.perf_counter())
        self.waiting += 1
        if self.threaded:
            self._queue.put(waiting)
        else:
            self._rows.append(waiting)
            self._schedule()
        return waiting.future

    async def close(self) -> None:
        """Wait until all rows are decided, and stop the thread."""
        while self.waiting:
            await asyncio.sleep(0.005)
        if self.threaded and self._thread.is_alive():
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _seconds_to_empty(self) -> int:
        most = self.loaded.most
        batch = self.loaded.seconds.get(most, 0.01)
        return max(1, math.ceil(batch * self.waiting / most))

    def _schedule(self) -> None:
        # Called after all requests that the loop has read in this turn, so that they share a batch.
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._decide_in_loop)

    def _decide_in_loop(self) -> None:
        self._scheduled = False
        self._decide(self._rows, self._deliver)
        if self._rows:
            self._schedule()

    def _work(self) -> None:
        """The thread of a model: takes what is there, decides, and delivers in the loop."""
        rows: deque[Waiting] = deque()
        while True:
            if not rows or not self._queue.empty():
                following = self._queue.get()
                if following is None:  # `close` sends it when nothing is waiting
                    return
                rows.append(following)
                continue
            self._decide(rows, self._deliver_from_thread)

    def _decide(self, rows: deque[Waiting], deliver: Deliver) -> None:
        """Take the next batch from the front; rows whose requests have timed out are not decided."""
        taken = [rows.popleft() for _ in range(self.loaded.best_size(len(rows)))]
        batch = [waiting for waiting in taken if not waiting.future.done()]
        try:
            answers = self.loaded.decide([waiting.row for waiting in batch]) if batch else None
            outcome: Outcome = decisions(self.loaded, answers) if answers else []
        except Exception:  # whatever happens, the next batches must be decided
            log.exception("a batch of %s failed", self.loaded.name)
            outcome = Problem(500, "internal_error", f"{self.loaded.name} cannot answer this request")
        deliver(len(taken), batch, outcome)

    def _deliver_from_thread(self, taken: int, batch: list[Waiting], outcome: Outcome) -> None:
        self._loop.call_soon_threadsafe(self._deliver, taken, batch, outcome)

    def _deliver(self, taken: int, batch: list[Waiting], outcome: Outcome) -> None:
        now, meter = time.perf_counter(), self.meter
        self.waiting -= taken
        if batch:
            meter.batches[len(batch)] = meter.batches.get(len(batch), 0) + 1
        for place, waiting in enumerate(batch):
            if waiting.future.done():
                continue
            if isinstance(outcome, Problem):
                waiting.future.set_exception(outcome)
                continue
            waiting.future.set_result(outcome[place])
            meter.answers += 1
            meter.degraded += outcome[place].degraded
            meter.seconds.observe(now - waiting.since)


def decisions(loaded: Loaded, answers: Answers) -> list[Decided]:
    """The rows of a batch as plain numbers."""
    actions = answers.action.tolist()
    names = [loaded.actions[action] for action in actions] if loaded.actions else map(loaded.name_of, answers.action)
    columns = (actions, names, answers.probabilities.tolist(), answers.value.tolist(), answers.degraded.tolist())
    return [Decided(*row) for row in zip(*columns, answers.memory, strict=True)]
