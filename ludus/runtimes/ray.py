"""Workers on a Ray cluster, or in processes of a Ray that is started on this machine for the run.

Each worker is a Ray actor. A worker that dies, alone or with its node, is replaced; while there is no room for the
replacement, the run goes on without it, and a node that joins gets it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Experience, Groups, Metrics
from ludus.pool import available_cores
from ludus.runtimes.transport import codec, group, replaced
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.ray_cluster import RaySettings, check_cpus, connected, cpus
from ludus.runtimes.transport.ray_games import open_spread
from ludus.runtimes.transport.ray_worker import ActorName, Packed, RayWorker
from ludus.runtimes.transport.replaced import Place, ReplacedLane
from ludus.runtimes.transport.rounds import Rounds
from ludus.types import LudusError

if TYPE_CHECKING:
    from ray import ObjectRef

SETTINGS = RaySettings
ALONE_SECONDS = 300.0
"""time without any worker after which a run fails"""
_runs = itertools.count(1)


def count_workers(algorithm: AnyAlgorithm, wanted: int, settings: RaySettings) -> int:
    """By default one worker for each share of CPUs that the cluster has; every learner has equally many."""
    learners = settings.learners
    if learners > 1 and not algorithm.data_parallel:
        raise LudusError(f"{algorithm.method} has one learner, not {learners}; several are for networks trained by PPO")
    workers = algorithm.count_workers(wanted, 1 if wanted else _places(settings))
    if workers % learners and wanted:
        raise LudusError(f"{workers} workers cannot be shared by {learners} learners; use a multiple of {learners}")
    return max(workers // learners, 1) * learners


def _places(settings: RaySettings) -> int:
    """How many workers the CPUs suffice for."""
    if not settings.address:
        return max(1, int(available_cores() / settings.cpus_per_worker))
    with connected(settings, "ludus") as ray:
        return max(1, int(cpus(ray) / settings.cpus_per_worker))


def open_source(job: Job, settings: RaySettings) -> RayRounds:
    return RayRounds(job, settings)


class RayRounds(Rounds[Experience, Any]):
    """Rounds whose workers are Ray actors; their parcels are references to parameters in the object store."""

    resizable: ClassVar[bool] = True

    def __init__(self, job: Job, settings: RaySettings) -> None:
        name = f"ludus-{re.sub(r'[^A-Za-z0-9]+', '-', job.game).strip('-')}"
        self.connection, self.workers = contextlib.ExitStack(), list[ReplacedLane[Experience, Any]]()
        self.last_unit, ahead = time.monotonic(), job.algorithm.overlap
        namespace = f"{name}-{os.getpid()}-{next(_runs)}"
        self.ray = self.connection.enter_context(connected(settings, namespace))
        try:
            check_cpus(self.ray, job.workers * settings.cpus_per_worker, f"{job.workers} workers")
            own = self._own(job, settings)
            start = self._starter(job, settings, ActorName(namespace, name))
            for number in own:
                self.workers.append(ReplacedLane(job, number, ahead, start))
        except BaseException:
            self._disconnect()
            raise
        super().__init__(replace(job, first=own.start), self.workers, ahead, self._pack)

    def _own(self, job: Job, settings: RaySettings) -> range:
        """The numbers of the workers of this process: all, or those of one of several learners."""
        self.numbers, self.grouped = range(job.first, job.first + job.workers), settings.learners > 1
        if self.grouped:
            from ludus.agents.neural import devices

            share = job.workers // devices.processes()
            self.numbers = range(share * devices.process(), share * (devices.process() + 1))
        return self.numbers

    def _starter(self, job: Job, settings: RaySettings, name: ActorName) -> Callable[[Place], RayWorker]:
        return lambda place: RayWorker(self.ray, settings, job, name, place)

    def _pack(self, params: Params) -> ObjectRef[Packed]:
        return self.ray.put(codec.encode(params))

    def _take(self) -> tuple[list[Experience], LudusError | None]:
        units, failure = super()._take()
        if units:
            self.last_unit = time.monotonic()
        elif failure is None and time.monotonic() - self.last_unit > ALONE_SECONDS:
            failure = LudusError(
                f"the Ray cluster has had no room for any worker for {ALONE_SECONDS:g} s; add nodes and resume the run"
            )
        return units, failure

    def state(self) -> Groups:
        """The states of all workers, also those of other learners."""
        return group.gathered_states(super().state(), self.numbers) if self.grouped else super().state()

    def agree(self, *flags: bool) -> tuple[bool, ...]:
        return group.agreed(*flags) if self.grouped else flags

    def metrics(self) -> Metrics:
        return replaced.metrics(self.workers)

    def close(self) -> None:
        self._disconnect()
        self.begun.clear()
        self.parcel = None

    def _disconnect(self) -> None:
        """End the workers, and Ray if this run has started it."""
        for lane in self.workers:
            lane.close()
        self.workers.clear()
        self.lanes = []
        self.connection.close()


__all__ = ["SETTINGS", "RayRounds", "count_workers", "open_source", "open_spread"]
