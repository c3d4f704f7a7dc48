"""The runtimes that work without mpiexec; `test_mpi.py` tests the others in the same way."""

import contextlib
import os
import sys

import pytest
from small_runs import (
    BEST_START,
    LAKE,
    LAKE_SETTINGS,
    children,
    empty_table,
    learn,
    learned_table,
    same,
    shared_files,
    small_job,
)  # fmt: skip

from ludus import runtimes
from ludus.algorithms.tabular import Tabular
from ludus.runtimes import Job, open_source
from ludus.runtimes.transport.messages import load_mpi
from ludus.types import LudusError

HERE = [name for name in runtimes.names() if not name.startswith("mpi")]


def workers_of(runtime):
    return 1 if runtime == "local" else 2


@pytest.mark.parametrize("runtime", HERE)
def test_learns_the_lake_exactly(runtime):
    job = Job(LAKE, 8, 3, 100, workers_of(runtime), LAKE_SETTINGS)
    table = learned_table(runtime, job, 20)
    assert table.rows["values"][0].max() == pytest.approx(BEST_START, abs=1e-6)


@pytest.mark.parametrize(
    ("runtime", "game"), [(name, "connect4") for name in HERE] + [("local", "tictactoe"), ("threads", "tictactoe")]
)
def test_continues_exactly_from_a_saved_state(runtime, game):
    job = small_job(game, workers_of(runtime))
    with contextlib.closing(open_source(runtime, job)) as source:
        half, _ = learn(source, job.algorithm, empty_table(job), 3)
        kept, state = half.copy(), source.state()
        whole, _ = learn(source, job.algorithm, half, 3)
    with contextlib.closing(open_source(runtime, job)) as source:
        source.restore(state)
        again, _ = learn(source, job.algorithm, kept, 3)
    assert same(whole, again)
    assert set(state) == {f"worker_{number}" for number in range(job.workers)}


@pytest.mark.parametrize(
    ("game", "settings"),
    [("tictactoe", {}), ("connect4", {"rows": 64, "steps": 60}), ("tictactoe", {"method": "sarsa", "tables": "seat"}),
     ("gymnasium:FrozenLake-v1(compiled=false)", {"form": "numpy"})],
)  # fmt: skip
def test_processes_learn_the_same_table_as_threads(game, settings):
    job = small_job(game, **settings)
    assert same(learned_table("processes", job, 4), learned_table("threads", job, 4))


@pytest.mark.parametrize("runtime", HERE)
def test_closing_frees_all_resources(runtime):
    processes, files, open_files = children(), shared_files(), len(os.listdir("/proc/self/fd"))
    job = small_job("tictactoe", workers_of(runtime))
    with contextlib.closing(open_source(runtime, job)) as source:
        learn(source, job.algorithm, empty_table(job), 1)
        assert runtime != "processes" or len(children() - processes) == 2
    assert children() <= processes
    assert shared_files() <= files
    # The connection to the Ray cluster of the tests stays open, and keeps sockets to workers that have ended.
    assert runtime == "ray" or len(os.listdir("/proc/self/fd")) == open_files


@pytest.mark.parametrize("runtime", HERE)
def test_a_state_with_another_number_of_rows_is_rejected(runtime):
    few, many = (small_job("tictactoe", workers_of(runtime), rows) for rows in (4, 8))
    state = {f"worker_{number}": few.worker(number).state() for number in range(few.workers)}
    with (
        contextlib.closing(open_source(runtime, many)) as source,
        pytest.raises(LudusError, match="number of rows"),
    ):
        source.restore(state)


def test_a_job_can_be_sent_as_json():
    job = Job("tictactoe", 3, 1, 2, 4, Tabular(method="sarsa", trace_decay=0.25), 3)
    assert Job.from_json(job.to_json()) == job


def test_an_unknown_runtime_raises_an_error():
    with pytest.raises(LudusError, match="known are local, mpi, mpi_server, processes, ray, threads"):
        open_source("pigeons", small_job("tictactoe"))


def test_without_mpi4py_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(LudusError, match=r"pip install 'ludus\[mpi\]'"):
        load_mpi()
