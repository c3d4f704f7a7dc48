"""Every runtime of this machine implements the source protocol, for tables and for networks.

A check is a function of a `Trial`. The mpi runtimes are tested under mpiexec, in `test_mpi.py` and
`test_distributed.py`.
"""

import collections
import contextlib
import functools
import itertools
import json
import threading
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from small_runs import children, shared_files

from ludus import algorithms, runtimes
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms.ppo import PPO
from ludus.algorithms.tabular import Tabular
from ludus.bridges import open_pool
from ludus.runtimes import Job, open_source
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.rounds import Rounds
from ludus.training.loop import train
from ludus.types import LudusError

HERE = [name for name in runtimes.names() if not name.startswith("mpi")]
ROUNDS, HALF, WORKERS = 4, 2, 2
JOBS = {
    "tabular": Job("tictactoe", 4, 5, 20, WORKERS, Tabular(method="sarsa", exploration="0.5")),
    "ppo": Job("tictactoe", 4, 5, 6, WORKERS, PPO(
        mlp=MLPArgs(width=8, depth=1), rollout_length=6, update_epochs=1, num_minibatches=1, devices=1,
        opponents=("self:0.5", "past:0.5"), snapshot_interval=1,
    )),
}  # fmt: skip
FAILING = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ludus.types import LudusError


class Unit(NamedTuple):
    version: int


class Worker:
    def __init__(self, error, number):
        self.error, self.number, self.time = error, number, 0

    def publish(self, params, version):
        self.version = version

    def work(self):
        self.time += 1
        if self.number == 1 and self.version >= 1:
            raise (LudusError if self.error == "LudusError" else RuntimeError)("the dice are lost")
        return Unit(self.version)

    def state(self):
        return {"time": np.array([self.time])}

    def restore(self, state):
        self.time = int(state["time"][0])

    def close(self):
        pass


@dataclass(frozen=True)
class Failing:
    overlap: ClassVar[bool] = OVERLAP
    data_parallel: ClassVar[bool] = False
    method: str = "failing"
    error: str = "LudusError"

    def new_agent(self, pool):
        return None

    def new_worker(self, agent, pool, desk):
        return Worker(self.error, desk.number)


ALGORITHM = Failing
"""
"""an algorithm whose worker 1 fails once parameters of version 1 are published"""


class Trial(NamedTuple):
    """A runtime and a job for it."""

    runtime: str
    job: Job

    def open(self):
        """A new source, closed at the end of a `with` statement."""
        return contextlib.closing(open_source(self.runtime, self.job))


@pytest.fixture
def trial(request):
    runtime, kind = request.param
    return Trial(runtime, JOBS[kind])


@functools.cache
def parameters(job: Job) -> list:
    """Parameters of the versions 0 to ROUNDS, as a learner of this job publishes them; all of them differ."""
    pool = open_pool(job.game, 1, 0, threads=1)
    agent, algorithm, worker = job.algorithm.new_agent(pool), job.algorithm, replace(job, workers=1).worker(0)
    learner, made = algorithm.new_learner(agent, job.seed), []
    for version in range(ROUNDS + 1):
        params = codec.encode(algorithm.broadcast(learner))
        made.append(searchable(codec.decode(params[0], {name: np.array(array) for name, array in params[1].items()})))
        worker.publish(algorithm.broadcast(learner), version)
        learner, _ = algorithm.update(agent, learner, [worker.work()])
    worker.close()
    return made


def searchable(params):
    """A table that was decoded must be copied before positions can be found in it."""
    return params.copy() if hasattr(params, "searchable") else params


class Made(NamedTuple):
    """A unit as plain data and bytes, because workers may reuse its memory; without notes, which contain seconds."""

    version: int
    form: str
    arrays: list[tuple[str, tuple[int, ...], bytes]]


def made(unit) -> Made:
    form, arrays = codec.encode(unit._replace(notes={}, version=0))
    content = [(str(array.dtype), array.shape, array.tobytes()) for array in arrays.values()]
    return Made(unit.version, json.dumps(form), content)


def rounds_of(source, params):
    """The rounds of a source to which new parameters are published after every round, as in training."""
    source.publish(params[0], 0)
    for number, units in enumerate(itertools.islice(source, len(params) - 1), start=1):
        found = [made(unit) for unit in units]
        source.publish(params[number], number)
        yield found


class Course(NamedTuple):
    """The use of one source, which several checks look at."""

    job: Job
    rounds: list[list[Made]]
    state: dict[str, dict[str, np.ndarray]]
    """after half of the rounds"""
    agreed: tuple[bool, ...]


@functools.cache
def course_of(trial: Trial) -> Course:
    rounds, state = [], {}
    with trial.open() as source:
        for units in rounds_of(source, parameters(trial.job)):
            rounds.append(units)
            if len(rounds) == HALF:
                state = copied(source.state())
        return Course(source.job, rounds, state, source.agree(True, False))


def copied(groups):
    return {name: {key: np.array(array) for key, array in group.items()} for name, group in groups.items()}


def each_round_has_one_unit_of_every_worker(trial: Trial) -> None:
    """Workers play different games, in every round others."""
    rounds = course_of(trial).rounds
    assert [len(units) for units in rounds] == [WORKERS] * ROUNDS
    assert len({str(unit.arrays) for units in rounds for unit in units}) == WORKERS * ROUNDS


def parameters_are_used_at_most_one_round_late(trial: Trial) -> None:
    """They are used at once if the algorithm does not allow workers to be ahead of the learner."""
    versions = [{unit.version for unit in units} for units in course_of(trial).rounds]
    ages = [number - version for number, (version,) in enumerate(versions)]
    assert ages[0] == 0 and set(ages) <= ({0, 1} if trial.job.algorithm.overlap else {0})


def its_experience_is_that_of_a_plain_loop(trial: Trial) -> None:
    """So it is the same in every runtime: each unit is made by its worker with the parameters of its version."""
    params, workers = parameters(trial.job), [trial.job.worker(number) for number in range(WORKERS)]
    for units in course_of(trial).rounds:
        for worker, unit in zip(workers, units, strict=True):
            worker.publish(params[unit.version], unit.version)
            assert made(worker.work()) == unit
    for worker in workers:
        worker.close()


def it_continues_exactly_from_its_state(trial: Trial) -> None:
    """Also if units were in progress when the state was taken; in a restored source versions begin at 0 again."""
    course = course_of(trial)
    states = {name for name in course.state if name.startswith("worker_")}
    assert states == {f"worker_{number}" for number in range(WORKERS)}
    with trial.open() as source:
        source.restore(course.state)
        again = list(rounds_of(source, parameters(trial.job)[HALF:]))
    for units, same in zip(course.rounds[HALF:], again, strict=True):
        assert [unit._replace(version=unit.version - HALF) for unit in units] == same


def states_of_another_number_of_workers_are_refused(trial: Trial) -> None:
    """Unless the runtime continues with another number: then an additional worker starts new games."""
    course = course_of(trial)
    one = {name: group for name, group in course.state.items() if name != "worker_1"}
    with trial.open() as source:
        if not getattr(source, "resizable", False):
            with pytest.raises(LudusError, match=f"a run with 1 workers, not {WORKERS}"):
                source.restore(one)
            return
        source.restore(one)
        again = next(iter(rounds_of(source, parameters(trial.job)[HALF:])))
        times = [int(source.state()[f"worker_{number}"]["time"][0]) for number in range(WORKERS)]
    assert again[0] == course.rounds[HALF][0]._replace(version=again[0].version)
    assert len(again) == WORKERS and again[1].arrays != course.rounds[HALF][1].arrays
    assert times[0] == times[1], "schedules of all workers must continue from the same time"


def it_knows_its_job_and_agrees_with_itself(trial: Trial) -> None:
    """In a run of one process, flags are returned as they are."""
    assert course_of(trial).job == trial.job and course_of(trial).agreed == (True, False)


def it_trains_as_every_other_runtime(trial: Trial) -> None:
    """Runtimes whose parameters have the same age learn the same, bit for bit."""
    ages, saved = learned(trial.runtime, trial.job)
    assert max(ages) <= trial.job.algorithm.overlap
    for other in HERE:
        their_ages, their_saved = learned(other, trial.job)
        assert their_saved == saved or their_ages != ages
        assert trial.job.algorithm.overlap or their_ages == ages


@functools.cache
def learned(runtime: str, job: Job) -> tuple:
    """The ages of the experience of some updates, and the checkpoint of the learner after them."""
    pool = open_pool(job.game, 1, 0, threads=1)
    agent, algorithm = job.algorithm.new_agent(pool), job.algorithm
    learner = algorithm.new_learner(agent, job.seed)
    with contextlib.closing(open_source(runtime, job)) as source:
        progress = list(itertools.islice(train(agent, algorithm, learner, source), ROUNDS))
    _, arrays = codec.encode(algorithm.save(progress[-1].learner))
    return [step.age for step in progress], [array.tobytes() for array in arrays.values()]


def it_trains_again_from_version_0(trial: Trial) -> None:
    """A publication of version 0 begins a new training; rounds in progress are discarded."""
    params = parameters(trial.job)
    with trial.open() as source:
        assert len(list(rounds_of(source, params[:3]))) == 2
        assert [unit.version for units in rounds_of(source, params[:2]) for unit in units] == [0] * WORKERS


def closing_ends_all_threads_and_processes(trial: Trial) -> None:
    """With units in progress, and also if nothing was ever published; a source may be closed twice."""
    before = threads(), children(), shared_files()
    for begun in (False, True):
        source = open_source(trial.runtime, trial.job)
        if begun:
            source.publish(parameters(trial.job)[0], 0)
            next(iter(source))
        source.close()
        source.close()
        assert threads() <= before[0] and children() <= before[1] and shared_files() <= before[2]


def threads() -> set[str]:
    """The threads that a runtime may have started."""
    return {thread.name for thread in threading.enumerate() if not thread.name.startswith("MainThread")}


def it_counts_workers(trial: Trial) -> None:
    algorithm = trial.job.algorithm
    assert runtimes.count_workers(trial.runtime, algorithm, WORKERS) == WORKERS
    assert runtimes.count_workers(trial.runtime, algorithm, 0) >= 1
    assert runtimes.longest_chunk(trial.runtime) >= 1
    with runtimes.session(trial.runtime, algorithm) as role:
        assert role == "keeper"


CHECKS = (
    each_round_has_one_unit_of_every_worker, parameters_are_used_at_most_one_round_late,
    its_experience_is_that_of_a_plain_loop, it_continues_exactly_from_its_state,
    states_of_another_number_of_workers_are_refused, it_knows_its_job_and_agrees_with_itself,
    it_trains_as_every_other_runtime, it_trains_again_from_version_0, closing_ends_all_threads_and_processes,
    it_counts_workers,
)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("trial", list(itertools.product(HERE, JOBS)), indirect=True, ids="-".join)
def test_source_implements_the_protocol(trial, check):
    check(trial)


class LazyLane:
    """A worker that reads its parameters as late as it may, when its unit is taken, from two shared segments."""

    def __init__(self, segments):
        self.segments, self.orders = segments, collections.deque()

    def begin(self, parcel, version):
        self.orders.append((parcel, version))

    def take(self):
        parcel, version = self.orders.popleft()
        return int(self.segments[parcel]["number"]), version

    def state(self):
        return {}

    def restore(self, state):
        pass


@pytest.mark.parametrize("restored", [False, True], ids=["new", "restored"])
def test_parameters_of_a_round_in_progress_are_not_overwritten(restored):
    """The processes runtime shares parameters through two segments in turn, also after it is restored."""
    segments, turns = [{}, {}], itertools.cycle((1, 0))

    def pack(params):
        turn = next(turns)
        segments[turn] = params
        return turn

    params = [{"number": np.array(10 + number)} for number in range(ROUNDS)]
    source = Rounds(replace(JOBS["ppo"], workers=1), [LazyLane(segments)], ahead=True, pack=pack)
    if restored:
        source.restore({"worker_0": {}, "acting": {"number": np.array(9)}})
    source.publish(params[0], 0)
    found = []
    for number, units in enumerate(itertools.islice(source, ROUNDS - 1), start=1):
        found += units
        source.publish(params[number], number)
    assert found == ([(9, -1), (10, 0), (11, 1)] if restored else [(10, 0), (10, 0), (11, 1)])


def endless_rounds(source):
    source.publish({}, 0)
    for version, units in enumerate(source, start=1):
        yield units
        source.publish({}, version)


@pytest.mark.parametrize("overlap", [False, True], ids=["in turn", "ahead"])
@pytest.mark.parametrize("error", ["LudusError", "RuntimeError"])
@pytest.mark.parametrize("runtime", HERE)
def test_error_of_a_worker_is_raised_as_a_ludus_error_that_names_it(tmp_path, monkeypatch, runtime, error, overlap):
    """The round before the error arrives; the source can still be closed."""
    monkeypatch.setenv("LUDUS_ALGORITHMS", str(tmp_path))
    name = f"failing_{'ahead' if overlap else 'in_turn'}"
    (tmp_path / f"{name}.py").write_text(FAILING.replace("OVERLAP", str(overlap)))
    algorithm = algorithms.from_dict({"method": name, "error": error}, "the test")
    trial = Trial(runtime, Job("tictactoe", 1, 0, 1, WORKERS, algorithm))
    rounds = []
    with trial.open() as source, pytest.raises(LudusError) as raised:
        rounds += map(len, endless_rounds(source))
    assert rounds[:1] == [WORKERS]
    assert "worker 1" in str(raised.value) and "the dice are lost" in str(raised.value)
