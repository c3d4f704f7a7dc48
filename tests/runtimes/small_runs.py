"""Short runs of small games for the tests of all runtimes."""

import contextlib
import itertools
import os
import pathlib
import time

import numpy as np

from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.checkpoints import Learner
from ludus.runtimes import Job, open_source
from ludus.training.loop import train

LAKE = "gymnasium:FrozenLake-v1(is_slippery=false)"
BEST_START = 0.9**5
"""the best value of the first position of the lake with gamma 0.9: its only reward is six steps away"""
LAKE_SETTINGS = Tabular(learning_rate="1.0", exploration="0.5", gamma=0.9)


def small_job(game, workers=2, rows=8, steps=40, **settings):
    return Job(game, rows, 5, steps, workers, Tabular(exploration="0.3", **settings))


def empty_table(job):
    worker = job.worker(0)
    with contextlib.closing(worker):
        return worker.new_table()


def learn(source, algorithm, table, updates):
    """The learned table and the progress of each update."""
    progress = list(itertools.islice(train(None, algorithm, Learner(table, 0, 0), source), updates))
    return progress[-1].learner.table, progress


def learned_table(runtime, job, updates):
    with contextlib.closing(open_source(runtime, job)) as source:
        return learn(source, job.algorithm, empty_table(job), updates)[0]


def same(one, other):
    """Whether two tables are equal, byte for byte."""
    pairs = zip(one.state().items(), other.state().items(), strict=True)
    return all(a == b and np.array_equal(x.view(np.uint8), y.view(np.uint8)) for (a, x), (b, y) in pairs)


def children():
    """The ids of the running child processes."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the thread has ended meanwhile
            found |= {int(word) for word in (task / "children").read_text().split()}
    return found


def alive(process):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_until(condition, seconds=60):
    """Wait until a condition is true; returns whether it is. The limit only matters for tests that fail."""
    stop = time.monotonic() + seconds
    while not condition() and time.monotonic() < stop:
        time.sleep(0.02)
    return condition()


def shared_files():
    """The files in shared memory, except those of MPI, Ray and Chromium, which other tests may use at the same time."""
    files = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {file for file in files if not file.startswith(("sm_segment", "vader_segment", "plasma", ".org.chromium"))}
