"""Ways to run the workers of a training run: in this thread, in threads, in processes, or on the ranks of MPI.

A runtime is a module of this folder, found by its name, with two functions:

    count_workers(algorithm, wanted) -> int     workers of a run, where `wanted` is 0 if the runtime may choose
    open_source(job) -> Source                  the experience of the workers

and, optionally, LONGEST_CHUNK, the most decisions that a worker should make in one unit, the context manager
`session(algorithm)`, for runtimes that are started as several processes, and the context manager
`open_spread(workers) -> Spread`, for runtimes whose workers also play evaluations and battles. A runtime with settings
of its own has SETTINGS, a frozen dataclass whose fields become flags; `count_workers`, `open_source` and `open_spread`
then have such settings as their last argument.
Others add a runtime in the folder `ludus_runtimes`, or through the entry-point group `ludus.runtimes`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, TypeVar

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Experience, Groups, Metrics
from ludus.algorithms.settings import nested
from ludus.evaluation.parts import Spread
from ludus.files import discovery
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.types import Array, LudusError

GROUP = "ludus.runtimes"
RENAMED = {"single": "local"}
"""former names of runtimes, for the error message about an old run.toml"""
E = TypeVar("E")


class Source(Protocol[E]):
    """An endless iterator of experience, made with the newest parameters."""

    job: Job
    """the job of all workers of the run, including those of other processes"""

    def __iter__(self) -> Iterator[list[E]]:
        """Rounds: one unit of every worker that could make one."""
        ...

    def publish(self, params: Params, version: int) -> None:
        """Use these parameters for the next rounds."""
        ...

    def state(self) -> Groups:
        """The state of each worker, to continue exactly: groups of arrays for a checkpoint."""
        ...

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None: ...

    def agree(self, *flags: bool) -> tuple[bool, ...]:
        """For each argument, whether it is true in any process of the run; all processes must call this together."""
        ...

    def close(self) -> None: ...


def names() -> list[str]:
    """The names of all runtimes."""
    return [name for name in discovery.names(GROUP, __name__) if name != "transport"]  # a package of shared parts


def load(name: str) -> ModuleType:
    """The module of a runtime."""
    if name in RENAMED:
        raise LudusError(f'the runtime "{name}" is now called "{RENAMED[name]}": rename it')
    if name not in names():
        raise LudusError(f'unknown runtime "{name}"; known are {", ".join(names())}')
    return discovery.load(GROUP, __name__, name)


@dataclass(frozen=True)
class NoSettings:
    """The settings of a runtime that has none of its own."""


def settings_kind(name: str) -> type[Any]:
    """The dataclass of the settings of a runtime."""
    kind = getattr(load(name), "SETTINGS", NoSettings)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise LudusError(f'SETTINGS of the runtime "{name}" is {kind!r}; it must be a frozen dataclass')
    return kind


def open_source(name: str, job: Job, settings: object = None) -> Source[Experience]:
    """Start the workers of a job in the runtime of this name, with the default settings if none are given."""
    source: Source[Experience] = load(name).open_source(job, *_own(name, settings))
    return source


def count_workers(name: str, algorithm: AnyAlgorithm, wanted: int, settings: object = None) -> int:
    """The number of workers of a run: `wanted`, or if that is 0, what suits the runtime and the algorithm."""
    return int(load(name).count_workers(algorithm, wanted, *_own(name, settings)))


def _own(name: str, settings: object) -> tuple[object, ...]:
    """The last argument of the functions of a runtime that has settings; nothing for others."""
    kind = settings_kind(name)
    return () if kind is NoSettings else (kind() if settings is None else settings,)


def metrics(source: Source[Any]) -> Metrics:
    """What a source measures of itself: how many workers were replaced, for example. Many measure nothing."""
    measure: Callable[[], Metrics] = getattr(source, "metrics", dict)
    return measure()


def longest_chunk(name: str) -> int:
    """The most decisions that a worker should make in one unit."""
    return int(getattr(load(name), "LONGEST_CHUNK", 2**62))


def settings_of(name: str, values: Mapping[str, object]) -> Any:
    """The settings of a runtime with these values."""
    return nested(settings_kind(name), values, f"the runtime {name}")


@contextlib.contextmanager
def open_spread(name: str, workers: int = 0, settings: object = None) -> Iterator[Spread]:
    """What plays the games of evaluations and battles in the workers of a runtime; 0 workers lets it choose."""
    if workers < 0:
        raise LudusError(f"workers is {workers}; expected 0 or more")
    opening = getattr(load(name), "open_spread", None)
    if opening is None:
        able = [other for other in names() if hasattr(load(other), "open_spread")]
        raise LudusError(f"the runtime {name} only trains; for evaluations and battles use one of {', '.join(able)}")
    with opening(workers, *_own(name, settings)) as spread:
        yield spread


@contextlib.contextmanager
def session(name: str, algorithm: AnyAlgorithm) -> Iterator[str]:
    """The role of this process in a run.

    "keeper" trains and saves the run, "learner" trains together with the keeper, and "done" was a worker of the keeper.
    """
    open_session = getattr(load(name), "session", None)
    with open_session(algorithm) if open_session else contextlib.nullcontext("keeper") as role:
        yield role


__all__ = [
    "Job", "NoSettings", "Source", "count_workers", "load", "longest_chunk", "metrics", "names", "open_source",
    "open_spread", "session", "settings_kind", "settings_of",
]  # fmt: skip
