"""The roles of learning: an algorithm, the learner that it improves, and the workers that make its experience.

A runtime runs workers and moves what they return, without depending on its contents. So tables, plans, policies and
world models share one training loop and one set of runtimes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from ludus.bridges import AnyPool
from ludus.dsl import random
from ludus.games import Game
from ludus.types import Array, Spec, Step

Arrays = dict[str, Array]
Groups = dict[str, Arrays]
"""the arrays of a checkpoint, by group"""
Metrics = dict[str, float]
Replay = tuple[Sequence[Step], Sequence[Any]]
"""a game of one row that was played elsewhere: T+1 steps and the T actions between them"""


class Experience(Protocol):
    """What a worker returns from one unit of work: any NamedTuple of arrays, numbers and tables."""

    @property
    def version(self) -> int:
        """The version of the parameters that the worker used."""
        ...


class Learner(Protocol):
    """The progress of a run: parameters, optimiser state and counters. Immutable."""

    @property
    def steps(self) -> int:
        """Decisions that were learned from."""
        ...

    @property
    def episodes(self) -> int:
        """Games that ended during training."""
        ...

    @property
    def params(self) -> Any:
        """The parameters that the agent plays with."""
        ...


class Desk(NamedTuple):
    """The place of one worker among all workers of a run."""

    seed: int
    """of the run"""
    number: int
    """of this worker, counted from 0"""
    workers: int
    """of the run"""
    steps: int
    """time steps of every row in one unit of work"""
    restarts: int = 0
    """how often this worker was replaced because it died; a replacement plays other games"""

    @property
    def pool_seed(self) -> int:
        """The seed of this worker's games."""
        place = self.workers * self.restarts + self.number
        return int(random.keys(self.seed, place + 1)[place] >> 33)


A = TypeVar("A")
L = TypeVar("L", bound=Learner)
E = TypeVar("E", bound=Experience)
E_co = TypeVar("E_co", bound=Experience, covariant=True)


class Worker(Protocol[E_co]):
    """Plays rows of a game and returns experience; all that a runtime knows of an algorithm."""

    time: int
    """time steps so far; a worker that replaces a lost one continues its schedules from there"""

    def publish(self, params: Any, version: int) -> None:
        """Use these parameters from the next unit on."""
        ...

    def work(self) -> E_co:
        """One unit: a rollout, a table that has learned, or some sweeps of planning."""
        ...

    def state(self) -> Arrays:
        """All that is needed to continue exactly."""
        ...

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue where `state` was taken; with nothing but `time` in it, from there with new games."""
        ...

    def close(self) -> None: ...


class Ahead(NamedTuple):
    """Compilation in the background while a game is opened: each function waits until its part is ready."""

    learner: Callable[[], None]
    update: Callable[[], None]


class Algorithm(Protocol[A, L, E]):
    """A way to learn: a frozen dataclass of settings.

    An algorithm is found by the name of its module: `ALGORITHM` there is the class. See `ludus.algorithms`.
    """

    overlap: ClassVar[bool]
    """whether workers may make the next unit while the learner updates; their parameters are then one version old"""
    data_parallel: ClassVar[bool]
    """whether `update` is collective: with several processes (MPI), each learns from experience of its own workers"""

    @property
    def method(self) -> str:
        """The name of the algorithm."""
        ...

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> dict[str, Any]:
        """Settings of a run of `steps` steps where the game has no preset; `spec_of` loads what is known of it."""
        ...

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        """Whether the algorithm of this name can learn a game."""
        ...

    def count_workers(self, wanted: int, places: int) -> int:
        """Workers of a run: `wanted`, or if that is 0 a good number for so many places (cores or ranks)."""
        ...

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """Decisions of a worker in one unit of work: `wanted` if not 0, and if possible no more than `longest`.

        `desk.steps` is the number of decisions in the whole run.
        """
        ...

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        """Start to compile what is needed later, if that takes long."""
        ...

    def new_agent(self, pool: AnyPool) -> A:
        """The agent that learns, fitted to the game."""
        ...

    def describe(self) -> dict[str, Any]:
        """The agent as plain data, for the manifest of a checkpoint."""
        ...

    def evaluation_agent(self, agent: A) -> A:
        """The agent as it is evaluated: greedy, without exploration."""
        ...

    def new_learner(self, agent: A, seed: int) -> L: ...

    def new_worker(self, agent: A, pool: AnyPool, desk: Desk) -> Worker[E]: ...

    def update(self, agent: A, learner: L, experience: Sequence[E]) -> tuple[L, Metrics]:
        """Learn from one unit of every worker."""
        ...

    def broadcast(self, learner: L) -> Any:
        """What workers need: a `Table`, or nested dicts of arrays."""
        ...

    def save(self, learner: L) -> Groups:
        """The arrays of a checkpoint; the group `params` holds the agent's parameters."""
        ...

    def restore(self, agent: A, stored: Mapping[str, Mapping[str, Array]], seed: int) -> L:
        """The learner of a checkpoint; raises LudusError if it does not fit the game and the settings."""
        ...


@runtime_checkable
class LearnsFromReplays(Protocol):
    """An algorithm that can also learn from games that others played."""

    def demonstrations(self, replay: Replay, like: Sequence[Any], length: int) -> Iterator[Any]:
        """A replay as experience of the same shapes as that of the workers, `like`."""
        ...


@runtime_checkable
class Profiled(Protocol):
    """An algorithm whose runs `ludus profile` can measure."""

    profiler: ClassVar[Literal["jax", "torch"]]
    """the library that computes; parts of training are annotated for it, see `ludus.bench.profilers`"""

    def for_profiler(self, steps: int) -> Self:
        """The settings to profile about so many decisions with: everything in one process."""
        ...


def nothing_ahead(game: str, rows: int, workers: int) -> Ahead:
    """For algorithms that compile nothing large."""
    return Ahead(lambda: None, lambda: None)
