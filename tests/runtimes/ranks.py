"""Run by mpiexec, with the name of a scene: what the tests of the mpi runtime let the ranks play."""

import contextlib
import itertools
import os
import pathlib
import signal
import sys

import numpy as np
from small_runs import LAKE, LAKE_SETTINGS, empty_table, learn, small_job

from ludus.runtimes import Job, mpi, mpi_mail, open_source
from ludus.train import train
from ludus.types import LudusError


def lake(mode, out):
    """Learn, and leave the table."""
    job = Job(LAKE, 8, 3, 100, 1, LAKE_SETTINGS, mode)
    with contextlib.closing(open_source("mpi", job)) as source:
        table, progress = learn(source, job.algorithm, empty_table(job), 40)
    np.savez(out, **table.state(), ages=[step.age for step in progress])


def replicas(mode, out, game):
    """Learn, go on from a state in another source, and leave the table."""
    job = small_job(game)
    with contextlib.closing(open_source("mpi", job)) as source:
        half, _ = learn(source, job.algorithm, empty_table(job), 2)
        state = source.state()
    with contextlib.closing(open_source("mpi", job)) as source:
        source.restore(state)
        table, _ = learn(source, job.algorithm, half, 2)
    np.savez(out, **table.state())


def death(mode, out, victim):
    """One of the ranks is killed while all are at work; rank 0 leaves the sentence that it gets to hear."""
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    job = Job(LAKE, 8, 3, 100, 1, LAKE_SETTINGS, mode)
    with contextlib.closing(open_source("mpi", job)) as source:
        table = empty_table(job)
        try:
            for progress in itertools.islice(train(None, job.algorithm, job.algorithm.start(table), source), 10**9):
                if progress.version == 3:
                    os.kill(int(pathlib.Path(f"{out}.{victim}").read_text()), signal.SIGKILL)
        except LudusError as error:
            with open(out, "w") as file:
                file.write(str(error))


def bad_game(mode, out):
    """The other ranks cannot open the game."""
    job = small_job("tictactoe")
    object.__setattr__(job, "mode", mode)
    text = job.to_json().replace("tictactoe", "chss")
    Job.to_json = lambda self: text
    with contextlib.closing(open_source("mpi", job)) as source:
        try:
            learn(source, job.algorithm, empty_table(job), 1)
        except LudusError as error:
            with open(out, "w") as file:
                file.write(str(error))


def crash(mode, out):
    """Rank 0 falls over and closes nothing."""
    source = open_source("mpi", small_job("tictactoe"))
    source.publish(empty_table(source.job), 0)
    next(iter(source))
    raise ZeroDivisionError


def early(mode, out):
    """Rank 0 ends before it has any work for the others."""


if __name__ == "__main__":
    scene, mode, out, *more = sys.argv[1:]
    mpi_mail.SILENCE_SECONDS = 4.0
    with open(f"{out}.{mpi.rank()}", "w") as file:
        file.write(str(os.getpid()))
    if mpi.rank() > 0:
        for _ in range(2 if scene == "replicas" else 1):
            mpi.serve()
    else:
        globals()[scene](mode, out, *more)
