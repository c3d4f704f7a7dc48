"""A lane whose worker may die: a new worker with the same number replaces it, and only its unfinished unit is lost."""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ludus.algorithms.protocol import Arrays, Metrics
from ludus.runtimes.transport.job import Job
from ludus.types import Array, LudusError

MAX_DEATHS = 3
"""deaths of one worker in a row, without a finished unit between them, after which the run fails"""
E = TypeVar("E")
P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)


class WorkerDied(Exception):  # noqa: N818  (an event that the lane handles)
    """A worker has died. `reason` continues a sentence that begins with "worker 3"; `output` is its last output."""

    def __init__(self, reason: str, output: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason, self.output = reason, output


class WorkerAbsent(Exception):  # noqa: N818
    """There is no place for the worker at present; the run goes on without it."""


class Place(NamedTuple):
    """The place of a worker in a run."""

    number: int
    restarts: int
    """how often it was replaced"""
    time: int
    """time steps that were made in this place before"""
    ahead: bool


class Finished(NamedTuple, Generic[E]):
    """A unit of work, and the time steps of its worker after it."""

    unit: E
    time: int
    after: Callable[[], Arrays] | None
    """the state of the worker after this unit, if it works ahead"""


class Remote(Protocol[E, P_contra]):
    """A worker that runs elsewhere; its methods raise WorkerDied once it is dead."""

    def order(self, parcel: P_contra, version: int) -> None:
        """Order a unit; a dead worker is noticed later."""
        ...

    def unit(self) -> Finished[E]:
        """Wait for the unit of the oldest order."""
        ...

    def state(self) -> Arrays: ...
    def restore(self, state: Mapping[str, Array]) -> None: ...

    def stop(self) -> None:
        """End the worker and free its resources; it may be dead."""
        ...


class ReplacedLane(Generic[E, P]):
    """The connection to a worker that runs elsewhere and is replaced when it dies."""

    def __init__(self, job: Job, number: int, ahead: bool, start: Callable[[Place], Remote[E, P]]) -> None:
        self.job, self.number, self.ahead, self.start = job, number, ahead, start
        self.restarts, self.deaths, self.time, self.lost = 0, 0, 0, 0
        self.orders = collections.deque[tuple[P, int]]()
        self.after: Callable[[], Arrays] | None = None
        """the state after the unit that was taken last, if the worker works ahead"""
        self.remote = start(self._place())

    def _place(self) -> Place:
        return Place(self.number, self.restarts, self.time, self.ahead)

    def begin(self, parcel: P, version: int) -> None:
        self.orders.append((parcel, version))
        self.remote.order(parcel, version)

    def take(self) -> E | None:
        """The next unit; None if its worker died. A replacement that works ahead makes the lost unit again."""
        while True:
            try:
                finished = self.remote.unit()
            except WorkerAbsent:
                break
            except WorkerDied as death:
                self._replace(death)
                if not self.ahead:
                    break
            else:
                self.orders.popleft()
                self.deaths, self.time, self.after = 0, finished.time, finished.after
                return finished.unit
        self.orders.popleft()
        self.lost += 1
        return None

    def _replace(self, death: WorkerDied) -> None:
        """Start a new worker with the number of the one that died, unless it has died too often."""
        self.deaths, self.restarts = self.deaths + 1, self.restarts + 1
        reason = f"worker {self.number} {death.reason}"
        self.remote.stop()
        if self.deaths >= MAX_DEATHS:
            tail = ["; the end of its output:", *death.output] if death.output else [""]
            raise LudusError(f"{reason}, {self.deaths} times in a row" + "\n".join(tail))
        print(f"ludus: {reason}; its unfinished unit is lost, and a new worker replaces it", file=sys.stderr)
        self.time += 0 if self.ahead else self.job.steps  # schedules continue as if the lost unit had been made
        self.remote = self.start(self._place())
        for parcel, version in list(self.orders)[0 if self.ahead else 1 :]:
            self.remote.order(parcel, version)

    def state(self) -> Arrays:
        """The state of the worker; only the time if it has died since its last unit, so it resumes with new games."""
        try:
            return self.remote.state() if self.after is None else self.after()
        except (WorkerDied, WorkerAbsent):
            return {"time": np.array([self.time], np.int64)}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.time, self.after = int(state["time"][0]), None
        try:
            self.remote.restore(state)
        except WorkerDied as death:
            self._replace(death)
            self.restore(state)

    def close(self) -> None:
        self.remote.stop()
        self.orders.clear()
        self.after = None


def metrics(lanes: Sequence[ReplacedLane[E, P]]) -> Metrics:
    """How often workers were replaced, and how many units were lost."""
    return {
        "restarts": float(sum(lane.restarts for lane in lanes)),
        "lost_units": float(sum(lane.lost for lane in lanes)),
    }
