"""The runtime `processes`: whichever process dies, no other process hangs and no resources are left."""

import contextlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from small_runs import (
    BEST_START,
    LAKE,
    LAKE_SETTINGS,
    alive,
    empty_table,
    learn,
    shared_files,
    small_job,
    wait_until,
)  # fmt: skip

from ludus.runtimes import Job, open_source
from ludus.runtimes.processes import Process
from ludus.runtimes.transport.memory import Segment
from ludus.types import LudusError

ENDLESS = """
import sys, time
from dataclasses import replace
from ludus.algorithms.tabular import Tabular
from ludus.runtimes import Job, open_source
job = Job(sys.argv[1], 8, 1, 10, 2, Tabular())
source = open_source("processes", replace(job, steps=2**50))
source.publish(job.worker(0).new_table(), 0)
source._begin()
print(*(worker.remote.process.pid for worker in source.workers), flush=True)
time.sleep(10_000)
"""


def test_a_killed_worker_is_replaced(capsys):
    job = Job(LAKE, 8, 3, 100, 2, LAKE_SETTINGS)
    with contextlib.closing(open_source("processes", job)) as source:
        half, _ = learn(source, job.algorithm, empty_table(job), 2)
        os.kill(source.workers[1].remote.process.pid, signal.SIGKILL)
        table, progress = learn(source, job.algorithm, half, 20)
        times = [int(parts["time"][0]) for parts in source.state().values()]
    assert "worker 1 was killed by SIGKILL" in capsys.readouterr().err
    assert table.rows["values"][0].max() == pytest.approx(BEST_START, abs=1e-6)
    assert times == [2200, 2200], "schedules must continue where they were"
    updates = [step.metrics["decisions"] for step in progress]
    assert updates[0] < 0.7 * updates[1], "only the unit of the dead worker must be missing"


def test_a_replacement_plays_other_games():
    job = small_job("connect4")
    first, second = (job.worker(1, restarts).pool.states["key"] for restarts in (0, 1))
    assert not set(first.tolist()) & set(second.tolist())


def test_a_worker_that_always_dies_ends_the_run_with_its_output(monkeypatch, capsys):
    monkeypatch.setattr(Job, "to_json", lambda self: "no job")
    job = small_job("tictactoe", workers=1)
    with (
        contextlib.closing(open_source("processes", job)) as source,
        pytest.raises(LudusError, match=r"(?s)3 times in a row.*JSONDecodeError"),
    ):
        learn(source, job.algorithm, empty_table(job), 1)
    assert "a new worker replaces it" in capsys.readouterr().err


def test_units_of_other_workers_are_merged_before_the_run_fails(monkeypatch):
    def start_and_kill(process, job, place, published):
        start(process, job, place, published)
        if place.number == 1:
            process.process.kill()

    start = Process.__init__
    monkeypatch.setattr(Process, "__init__", start_and_kill)
    job = small_job("tictactoe")
    table = empty_table(job)
    with (
        contextlib.closing(open_source("processes", job)) as source,
        pytest.raises(LudusError, match="worker 1 was killed by SIGKILL, 3 times in a row"),
    ):
        learn(source, job.algorithm, table, 10)
    assert table.rows["visits"].sum() > 2.5 * job.rows * job.steps * 0.8


def test_an_error_in_a_worker_reaches_the_learner():
    with contextlib.closing(open_source("processes", small_job("chss"))) as source:
        source.publish(empty_table(small_job("tictactoe")), 0)
        with pytest.raises(LudusError, match='unknown game "chss"'):
            next(iter(source))


def test_workers_ignore_interrupts():
    job = small_job("tictactoe")
    with contextlib.closing(open_source("processes", job)) as source:
        learn(source, job.algorithm, empty_table(job), 1)
        for worker in source.workers:
            os.kill(worker.remote.process.pid, signal.SIGINT)
            assert os.getpgid(worker.remote.process.pid) != os.getpgid(0)
        learn(source, job.algorithm, empty_table(job), 1)
        assert [worker.restarts for worker in source.workers] == [0, 0]


def test_an_interrupted_round_is_discarded():
    job = small_job("connect4")
    with contextlib.closing(open_source("processes", job)) as source:
        table, _ = learn(source, job.algorithm, empty_table(job), 1)
        source._begin()
        learn(source, job.algorithm, table, 2)
        assert set(source.state()) == {"worker_0", "worker_1"}


@pytest.mark.parametrize("game", ["tictactoe", "gymnasium:FrozenLake-v1(compiled=false)"])
def test_workers_exit_when_the_parent_is_killed(game):
    files = shared_files()
    with subprocess.Popen([sys.executable, "-c", ENDLESS, game], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout
            workers = [int(word) for word in parent.stdout.readline().split()]
            before = [ticks(worker) for worker in workers]
            working = wait_until(lambda: all(ticks(w) > t + 10 for w, t in zip(workers, before, strict=True)))
        finally:
            parent.kill()
    assert working
    assert len(workers) == 2
    assert wait_until(lambda: not any(map(alive, workers)))
    assert shared_files() <= files


def ticks(process):
    """The processor time of a process."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_segments_grow_and_keep_earlier_views():
    one = Segment()
    layout = one.put({"small": np.arange(3), "letters": np.frombuffer(b"abc", "S1")})
    early = one.get(layout)["small"]
    other = Segment(os.dup(one.descriptor))
    large = {"large": np.arange(100_000.0).reshape(100, 1000), "empty": np.zeros((0, 2), np.int8)}
    found = one.get(other.put(large))
    assert all(np.array_equal(found[name], large[name]) for name in large)
    assert all(array.ctypes.data % 64 == 0 for array in found.values())
    assert early.tolist() == large["large"].ravel()[:3].view(np.int64).tolist()
    one.close()
    other.close()
