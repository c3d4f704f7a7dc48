"""A worker in a Ray actor: `WorkerActor` is the actor, `RayWorker` its side in the learner's process.

Parameters and experience are arrays in Ray's object store: every node receives the parameters of a version once, and
the learner reads rollouts there without a copy if they were made on its own machine.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ludus.algorithms.protocol import Arrays, Experience
from ludus.files import discovery
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.ray_cluster import RaySettings
from ludus.runtimes.transport.replaced import Finished, Place, WorkerAbsent, WorkerDied
from ludus.runtimes.transport.rounds import worker_error
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ray import ObjectRef

START_SECONDS = 120.0
"""time for the first worker of a place to start; a cluster that is busy may need to add nodes"""
REPLACE_SECONDS = 20.0
"""time for a replacement to start; then the run goes on without it until there is room"""
PAUSE_SECONDS = 0.1
"""wait for a worker that has no place, so that a run without any worker does not spin"""
FULL_HINT = "raise --object-store-memory, or use fewer workers or shorter rollouts"
KINDS = ("games", "algorithms", "networks", "runtimes")
"""of modules that users may add in folders"""
T = TypeVar("T")
Packed = tuple[codec.Form, dict[str, Array]]
"""a value as the codec encodes it"""


@dataclass
class Order:
    """A unit to make: its parcel until the worker is told, then references to what it returns.

    Neither, if the worker has no place.
    """

    parcel: ObjectRef[Packed] | None
    version: int
    unit: ObjectRef[tuple[Packed, int]] | None = None
    after: ObjectRef[Arrays] | None = None


class WorkerActor:
    """A worker in a process of Ray. Errors of the worker are LudusErrors; any other end is its death."""

    def __init__(self, environment: Mapping[str, str], path: Sequence[str]) -> None:
        settle(environment, path)

    def open(self, job: str, place: Place) -> int:
        """Make the worker; returns the id of this process."""
        self.place = place
        try:
            self.worker = Job.from_json(job).worker(self.place.number, self.place.restarts)
        except Exception as error:
            raise worker_error(self.place.number, error) from None
        self.worker.time = self.place.time
        return os.getpid()

    def work(self, parcel: Packed, version: int) -> tuple[tuple[Packed, int], Arrays | None]:
        """One unit and the time after it; and if the worker works ahead, its state after it."""
        self.worker.publish(codec.decode(*parcel), version)
        try:
            unit = self.worker.work()
        except Exception as error:
            raise worker_error(self.place.number, error) from None
        return (codec.encode(unit), self.worker.time), self.worker.state() if self.place.ahead else None

    def state(self) -> Arrays:
        return self.worker.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        self.worker.restore({name: np.array(array) for name, array in state.items()})


def settle(environment: Mapping[str, str], path: Sequence[str]) -> None:
    """Let this process find the modules of the learner's process."""
    os.environ.update(environment)
    sys.path.extend(folder for folder in path if folder not in sys.path)


def environment() -> dict[str, str]:
    """The environment of actors: the settings of Ludus, and the folders where this process finds modules of users."""
    found = {name: value for name, value in os.environ.items() if name.startswith("LUDUS_")}
    folders = {f"LUDUS_{kind.upper()}": str(discovery.local_folder(f"ludus.{kind}").absolute()) for kind in KINDS}
    return found | folders


def search_path() -> list[str]:
    """Where this process finds modules."""
    return [os.path.abspath(folder) for folder in sys.path]


class ActorName(NamedTuple):
    """The beginning of the names of a run's actors, and the namespace of Ray in which they are unique."""

    namespace: str
    run: str


class RayWorker:
    """An actor with a worker, as seen from the learner's process."""

    def __init__(self, ray: ModuleType, settings: RaySettings, job: Job, name: ActorName, place: Place) -> None:
        self.ray, self.number, self.cpus = ray, place.number, settings.cpus_per_worker
        options = ray.remote(WorkerActor).options(
            name=f"{name.run}-worker-{place.number}" + f"-restart-{place.restarts}" * bool(place.restarts),
            namespace=name.namespace, num_cpus=settings.cpus_per_worker, max_restarts=0, max_task_retries=0,
            scheduling_strategy="SPREAD" if settings.spread else "DEFAULT",
        )  # fmt: skip
        # Workers use the CPU only: the GPU belongs to the learner.
        self.actor: Any = options.remote(environment() | {"JAX_PLATFORMS": "cpu"}, search_path())
        self.opened = self.actor.open.remote(job.to_json(), place)
        self.needed = not place.restarts or settings.learners > 1  # several learners need rollouts of the same shape
        self.ahead, self.open, self.absent = place.ahead, False, False
        self.process = 0
        self.orders = collections.deque[Order]()

    def order(self, parcel: ObjectRef[Packed], version: int) -> None:
        self.absent = self.absent and not self._opens(0.0)
        self.orders.append(Order(None if self.absent else parcel, version))
        if self.needed or self._opens(0.0):
            self._send()

    def _send(self) -> None:
        """Tell the worker all orders that it has not been told.

        A replacement is told only when it is there: if Ray cancels a call that waits for the start of an actor, the
        actor may wait for that call in vain, and fail.
        """
        for order in self.orders:
            if order.parcel is not None:
                order.unit, order.after = self.actor.work.options(num_returns=2).remote(order.parcel, order.version)
                order.parcel = None

    def unit(self) -> Finished[Experience]:
        if not self.absent:
            if self._opens(START_SECONDS if self.needed else REPLACE_SECONDS):
                self._send()
            else:
                self._give_up()
        order = self.orders.popleft()
        if order.unit is None:
            self._opens(PAUSE_SECONDS)
            raise WorkerAbsent
        (form, arrays), moment = self._fetched(order.unit)
        after = functools.partial(self._state_of, order.after) if self.ahead and order.after is not None else None
        return Finished(codec.decode(form, arrays), moment, after)

    def _opens(self, seconds: float) -> bool:
        """Whether the worker is there after at most so many seconds."""
        if not self.open and self.ray.wait([self.opened], timeout=seconds)[0]:
            self.process = self._fetched(self.opened)
            self.open = True
        return self.open

    def _give_up(self) -> None:
        """Go on without the worker until there is room for it; a run does not begin without it."""
        if self.needed:
            free = self.ray.available_resources().get("CPU", 0.0)
            raise LudusError(
                f"worker {self.number} needs {self.cpus:g} CPUs of the Ray cluster, where only {free:g} have been free "
                f"for {START_SECONDS:g} s; use fewer --workers, a lower --cpus-per-worker, or end other work there"
            )
        print(f"ludus: there is no room for worker {self.number}; the run goes on without it", file=sys.stderr)
        for order in self.orders:
            order.parcel = None
        self.absent = True

    def _fetched(self, ref: ObjectRef[T]) -> T:
        """The value of a reference; arrays are views of the object store."""
        try:
            value: T = self.ray.get(ref)
        except self.ray.exceptions.RayError as error:
            failure = self._failure(error)
            error.__traceback__ = None
        else:
            return value
        try:
            raise failure
        finally:
            del failure  # an error and a frame that refer to each other would keep objects in the store

    def _failure(self, error: Exception) -> LudusError | WorkerDied:
        """What an error of Ray means: a mistake in a game or its algorithm, a lack of memory, or a dead worker."""
        errors = self.ray.exceptions
        if isinstance(error, errors.RayTaskError):
            cause: Exception = getattr(error, "cause")  # noqa: B009  (Ray is not known to type checkers here)
            return LudusError(str(cause)) if isinstance(cause, LudusError) else worker_error(self.number, cause)
        if isinstance(error, errors.ObjectStoreFullError | errors.OutOfDiskError):
            return LudusError(f"the object store of Ray is full ({first_line(error)}); {FULL_HINT}")
        return WorkerDied(f"died ({last_line(error)})")

    def state(self) -> Arrays:
        if not self._opens(0.0 if self.absent else REPLACE_SECONDS):
            raise WorkerAbsent
        return self._state_of(self.actor.state.remote())

    def _state_of(self, ref: ObjectRef[Arrays]) -> Arrays:
        """A state as copies, so that nothing of the object store is held."""
        return {name: np.array(array) for name, array in self._fetched(ref).items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._fetched(self.actor.restore.remote(dict(state)))

    def stop(self) -> None:
        self.orders.clear()
        with contextlib.suppress(self.ray.exceptions.RayError, ValueError):  # it is dead, or has no name any more
            self.ray.kill(self.actor, no_restart=True)


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def last_line(error: Exception) -> str:
    """The reason at the end of an error of Ray, without a full stop."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    reason = (lines or [type(error).__name__])[-1].partition(" Some common causes")[0]
    return reason.removeprefix("The actor is dead because ")[:300].rstrip(".")
