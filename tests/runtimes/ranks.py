"""Scenes for the tests of the mpi runtimes: mpiexec runs `python ranks.py SCENE RUNTIME OUT`."""

import contextlib
import itertools
import os
import pathlib
import signal
import sys

import numpy as np
from small_runs import LAKE, LAKE_SETTINGS, empty_table, learn, small_job

from ludus.algorithms.tabular.checkpoints import Learner
from ludus.runtimes import Job, mpi, open_source
from ludus.runtimes.transport import messages
from ludus.training.loop import train
from ludus.types import LudusError


def lake(runtime, out):
    """Learn and save the table."""
    job = Job(LAKE, 8, 3, 100, 1, LAKE_SETTINGS)
    with contextlib.closing(open_source(runtime, job)) as source:
        table, progress = learn(source, job.algorithm, empty_table(job), 40)
    np.savez(f"{out}-lake-{runtime}.npz", **table.state(), ages=[step.age for step in progress])


def replicas(game, out):
    """Learn, continue in a second source from the state of the first, and save the table."""
    job = small_job(game)
    with contextlib.closing(open_source("mpi", job)) as source:
        half, _ = learn(source, job.algorithm, empty_table(job), 2)
        state = source.state()
    with contextlib.closing(open_source("mpi", job)) as source:
        source.restore(state)
        table, _ = learn(source, job.algorithm, half, 2)
    np.savez(f"{out}-{game}.npz", **table.state())


def times(out):
    """The server saves and restores the time of every worker."""
    job = small_job("connect4")
    with contextlib.closing(open_source("mpi_server", job)) as source:
        source.restore({"worker_0": {"time": np.array([1000])}, "worker_1": {"time": np.array([2000])}})
        table, progress = learn(source, job.algorithm, empty_table(job), 12)
        state = source.state()
    pathlib.Path(f"{out}-times").write_text(" ".join(str(parts["time"][0]) for parts in state.values()))
    np.savez(f"{out}-served.npz", **table.state(), updates=sum(step.metrics["decisions"] for step in progress))


class Misread(Job):
    """A job whose JSON names another game, so that only the other ranks fail."""

    def to_json(self) -> str:
        return super().to_json().replace(self.game, "chss")


def bad_game(runtime, out):
    """The other ranks cannot open the game."""
    job = Misread(**vars(small_job("tictactoe")))
    with contextlib.closing(open_source(runtime, job)) as source:
        try:
            # The units of workers that did not fail are learned from first; the next round raises the error.
            learn(source, job.algorithm, empty_table(job), 2)
        except LudusError as error:
            pathlib.Path(f"{out}-error-{runtime}").write_text(str(error))


def everything(runtime, out):
    """All scenes that end normally, one source after the other."""
    lake("mpi", out)
    lake("mpi_server", out)
    replicas("tictactoe", out)
    replicas("connect4", out)
    times(out)
    bad_game("mpi", out)
    bad_game("mpi_server", out)


SOURCES = {"everything": 9}
"""how many sources the other ranks serve"""


def death(runtime, out, victim):
    """One rank is killed while all are working; rank 0 saves the error message that it gets."""
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    job = Job(LAKE, 8, 3, 100, 1, LAKE_SETTINGS)
    with contextlib.closing(open_source(runtime, job)) as source:
        table = empty_table(job)
        try:
            for progress in itertools.islice(train(None, job.algorithm, Learner(table, 0, 0), source), 10**9):
                if progress.version == 3:
                    os.kill(int(pathlib.Path(f"{out}.{victim}").read_text()), signal.SIGKILL)
        except LudusError as error:
            pathlib.Path(out).write_text(str(error))


def crash(runtime, out):
    """Rank 0 crashes without closing its source."""
    source = open_source("mpi", small_job("tictactoe"))
    source.publish(empty_table(source.job), 0)
    next(iter(source))
    raise ZeroDivisionError


def early(runtime, out):
    """Rank 0 ends before it has any work for the others."""


if __name__ == "__main__":
    scene, runtime, out, *more = sys.argv[1:]
    messages.TIMEOUT_SECONDS = 3.0
    pathlib.Path(f"{out}.{mpi.rank()}").write_text(str(os.getpid()))
    if mpi.rank() > 0:
        for _ in range(SOURCES.get(scene, 1)):
            mpi.serve()
    else:
        with mpi.session(LAKE_SETTINGS):
            globals()[scene](runtime, out, *more)
