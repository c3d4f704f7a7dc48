"""The source that all runtimes share: rounds in which every worker makes one unit of experience.

A runtime provides one lane per worker. If it is asynchronous and the algorithm allows it, the workers are one round
ahead: they make round k + 1 with the parameters of version k - 1 while the learner updates with round k. Results
therefore do not depend on timing, and a run can be resumed exactly.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ludus import games
from ludus.agents import checkpoint
from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Groups
from ludus.runtimes.transport.job import Job
from ludus.types import Array, LudusError

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)
P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)
"""parameters, as the runtime packs them for its workers"""
ACTING = "acting"
"""the group of a checkpoint with the parameters of the round in progress"""


class Lane(Protocol[E_co, P_contra]):
    """The connection to one worker, wherever it runs; the worker carries out orders one after the other."""

    def begin(self, parcel: P_contra, version: int) -> None:
        """Order a unit with these parameters, in the form that the runtime packed them into."""
        ...

    def take(self) -> E_co | None:
        """The unit of the oldest order; None if the unit is lost because the worker died and was replaced."""
        ...

    def state(self) -> Arrays:
        """The state of the worker after the unit that was taken last."""
        ...

    def restore(self, state: Mapping[str, Array]) -> None: ...
    def close(self) -> None: ...


class Round(NamedTuple):
    """A round in progress: its parameters and their version."""

    params: Params
    version: int


class Rounds(Generic[E, P]):
    """A source: an iterator of rounds, each a list with one unit of every worker."""

    parcel: P
    """the newest parameters, packed"""

    resizable: ClassVar[bool] = False
    """whether a run continues with another number of workers; otherwise the number in its checkpoint is needed"""

    def __init__(self, job: Job, lanes: Sequence[Lane[E, P]], ahead: bool, pack: Callable[[Params], P]) -> None:
        self.job, self.lanes, self.ahead, self.pack = job, list(lanes), ahead, pack
        """`ahead`: workers are one round ahead of the learner"""
        self.params: Params = None
        self.version = 0
        self.begun: collections.deque[Round] = collections.deque()
        self.acting: Mapping[str, Array] | None = None
        """the parameters for the first round after `restore`"""

    def __iter__(self) -> Iterator[list[E]]:
        failure: LudusError | None = None
        while failure is None:
            while len(self.begun) <= self.ahead:
                self._begin()
            units, failure = self._take()
            if units:
                yield units
        raise failure

    def _begin(self) -> None:
        params, parcel, version = self.params, self.parcel, self.version
        if self.acting is not None:
            params, version = _restored(self.params, self.acting), -1
            parcel, self.acting = self.pack(params), None
            # Packing may reuse the memory of the parcel before the last, and the next parcel must not replace this one.
            self.parcel = self.pack(self.params)
        for lane in self.lanes:
            lane.begin(parcel, version)
        self.begun.append(Round(params, version))

    def _take(self) -> tuple[list[E], LudusError | None]:
        """The units of all workers, and the first error of the workers that failed."""
        units, failure = list[E](), None
        for lane in self.lanes:
            try:
                unit = lane.take()
            except LudusError as error:
                failure = failure or error
                continue
            if unit is not None:
                units.append(unit)
        self.begun.popleft()
        return units, failure

    def publish(self, params: Params, version: int) -> None:
        if version == 0:
            self._abandon()
        self.params, self.version, self.parcel = params, version, self.pack(params)

    def _abandon(self) -> None:
        """Discard the rounds in progress, because training begins again."""
        while self.begun:
            self._take()

    def state(self) -> Groups:
        """The states of the workers before the round in progress, and its parameters if they are not the newest."""
        states = {f"worker_{number}": lane.state() for number, lane in enumerate(self.lanes, self.job.first)}
        if not self.begun:
            return states
        newest, acting = checkpoint.flatten(self.params), checkpoint.flatten(self.begun[0].params)
        return states | {ACTING: {name: array for name, array in acting.items() if not _same(newest.get(name), array)}}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        found = {name for name in state if name.startswith("worker_")}
        names = [f"worker_{number}" for number in range(self.job.first, self.job.first + len(self.lanes))]
        known = set(names) <= found and len(found) == self.job.workers
        if not known and not (self.resizable and found):
            raise LudusError(
                f"this checkpoint is of a run with {len(found)} workers, not {self.job.workers}; "
                "resume it with its own run.toml"
            )
        for name, lane in zip(names, self.lanes, strict=True):
            # An additional worker starts new games at the time of the others.
            lane.restore(state[name] if name in found else {"time": max(state[other]["time"] for other in found)})
        self.acting = state.get(ACTING)

    def agree(self, *flags: bool) -> tuple[bool, ...]:
        return flags

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()


def _same(one: Array | None, other: Array) -> bool:
    """Whether two arrays have the same contents."""
    return one is not None and one.dtype == other.dtype and np.array_equal(one, other)


def _restored(newest: Params, acting: Mapping[str, Array]) -> Params:
    """The parameters of the round in progress; arrays that are the same in the newest ones were not stored."""
    arrays = checkpoint.flatten(newest)
    return checkpoint.unflatten(newest, {name: acting.get(name, array) for name, array in arrays.items()})


def worker_error(number: int, error: Exception) -> LudusError:
    """The error of a worker, as its learner raises it."""
    known = error if isinstance(error, LudusError) else games.mistake(error)
    return LudusError(f"worker {number} failed: {known or f'{type(error).__name__}: {error}'}")


def unpacked(params: Params) -> Params:
    """The parameters as they are, for workers in the process of the learner."""
    return params
