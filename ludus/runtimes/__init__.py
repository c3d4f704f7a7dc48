"""Ways to run the workers of a training run: in this thread, in threads, in processes, or on the ranks of MPI.

A runtime is a module of this folder, found by its name, with two functions:

    count_workers(algorithm, wanted) -> int     workers of a run, where `wanted` is 0 if the runtime may choose
    open_source(job) -> Source                  the experience of the workers

and, optionally, LONGEST_CHUNK, the most decisions that a worker should make in one unit, and the context manager
`session(algorithm)`, for runtimes that are started as several processes. Others add a runtime in the
folder `ludus_runtimes`, or through the entry-point group `ludus.runtimes`.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Protocol, TypeVar

from ludus import discovery
from ludus.algorithms.protocol import Algorithm, Groups
from ludus.runtimes.transport.job import Job
from ludus.types import Array, LudusError

GROUP = "ludus.runtimes"
RENAMED = {"single": "local"}
"""former names of runtimes, for the error message about an old run.toml"""
E = TypeVar("E")


class Source(Protocol[E]):
    """Experience without end, made with the newest parameters."""

    job: Job
    """of all workers of the run, also those of other processes"""

    def __iter__(self) -> Iterator[list[E]]:
        """Rounds: one unit of every worker that could make one."""
        ...

    def publish(self, params: Any, version: int) -> None:
        """Parameters for the rounds to come."""
        ...

    def state(self) -> Groups:
        """All that is needed to continue exactly, by worker: groups of arrays for a checkpoint."""
        ...

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None: ...

    def agree(self, *wishes: bool) -> tuple[bool, ...]:
        """For each wish, whether any process of the run has it; all processes call this at the same time."""
        ...

    def close(self) -> None: ...


def names() -> list[str]:
    """The names of all runtimes."""
    return sorted({*_bundled(), *discovery.names(GROUP, None)})


def load(name: str) -> ModuleType:
    """The module of a runtime."""
    if name in RENAMED:
        raise LudusError(f'the runtime "{name}" is now called "{RENAMED[name]}": rename it')
    if name in _bundled():
        return importlib.import_module(f"{__name__}.{name}")
    if name not in names():
        raise LudusError(f'unknown runtime "{name}"; known are {", ".join(names())}')
    return discovery.load(GROUP, None, name)


def open_source(name: str, job: Job) -> Source[Any]:
    """The source of this name."""
    source: Source[Any] = load(name).open_source(job)
    return source


def count_workers(name: str, algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    """Workers of a run: as many as wanted, or if that is 0, as the runtime and the algorithm make use of."""
    return int(load(name).count_workers(algorithm, wanted))


def longest_chunk(name: str) -> int:
    """The most decisions that a worker should make in one unit."""
    return int(getattr(load(name), "LONGEST_CHUNK", 2**62))


@contextlib.contextmanager
def session(name: str, algorithm: Algorithm[Any, Any, Any]) -> Iterator[str]:
    """The part of this process in a run: keeper, learner (beside the keeper) or done (it has worked for the keeper)."""
    opened = getattr(load(name), "session", None)
    with opened(algorithm) if opened else contextlib.nullcontext("keeper") as part:
        yield part


def _bundled() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]


__all__ = ["Job", "Source", "count_workers", "load", "longest_chunk", "names", "open_source", "session"]
