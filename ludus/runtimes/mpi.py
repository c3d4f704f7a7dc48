"""Workers on the ranks of MPI, on one machine or many: `mpiexec -n 4 ludus train tictactoe --runtime mpi`.

Rank 0 trains (`open_source`), the others `serve()`. Mode `reduce` merges what all ranks learned, as threads do; mode
`server` lets rank 0 learn alone, from what the others play with the newest table they have.

When a rank is killed, Open MPI 5 ends the others: SIGCONT at once, SIGTERM after 0.25 s, SIGKILL 0.25 s later (the
setting odls_base_sigkill_timeout changes nothing): enough to save a small table. With `mpiexec --with-ft ulfm` the
others live and hear of it at once; with `--enable-recovery` they live, and notice the silence after a minute. In all
three cases rank 0 raises a sentence, and the run saves a checkpoint.
"""

from __future__ import annotations

import atexit
import functools
import os
import signal
import sys
import traceback
from typing import Any

from ludus.runtimes.job import Job
from ludus.runtimes.mpi_mail import Letter, Mail, Rank, load_mpi
from ludus.runtimes.mpi_reduce import Reduce, Replica
from ludus.runtimes.mpi_server import Player, Server
from ludus.types import LudusError

FAREWELL_SECONDS = 2.0


def rank() -> int:
    """Which of the ranks this process is."""
    return post_office().me


def ranks() -> int:
    """How many ranks there are."""
    return 1 + len(post_office().others)


def open_source(job: Job) -> Any:
    """The source of rank 0; the other ranks must `serve`."""
    mail = post_office()
    if mail.me != 0:
        raise LudusError(f"rank {mail.me} cannot train: rank 0 does, and the others serve it")
    return Server(job, mail) if job.mode == "server" else Reduce(job, mail)


def serve() -> None:
    """Play for rank 0 until it ends, or is dead."""
    mail = post_office()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Rank 0 decides, and may still need what is being played to save it.
        signal.signal(number, signal.SIG_IGN)
    try:
        letter = mail.wait()
        while letter is not None and letter.words["ask"] != "end":
            letter = _guarded(mail, letter) if letter.words["ask"] == "job" else mail.wait()
    except LudusError as error:
        # Without rank 0 there is nobody to part from in good order.
        print(f"ludus: rank {mail.me} ends: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _guarded(mail: Mail, letter: Letter) -> Letter | None:
    """Do a job; what goes wrong is told to rank 0. Returns the letter after the last of the job."""
    try:
        return _do(mail, letter)
    except Exception as error:
        if mail.failed:
            raise
        if not isinstance(error, LudusError):
            traceback.print_exc()
        words = str(error) if isinstance(error, LudusError) else f"rank {mail.me}: {type(error).__name__}: {error}"
        mail.send(0, {"say": "error", "error": words})
        return mail.wait()


def _do(mail: Mail, letter: Letter) -> Letter | None:
    job, number = Job.from_json(letter.words["job"]), letter.words["number"]
    worker: Rank = Player(job, number, mail) if job.mode == "server" else Replica(job, number, mail)
    try:
        while True:
            following = mail.wait() if worker.idle() else mail.look()
            if following is None:
                worker.play()
            elif following.words["ask"] in ("job", "end"):
                return following
            else:
                worker.answer(following)
    finally:
        worker.close()


@functools.cache
def post_office() -> Mail:
    """The mail of this process; from now on the other side hears its heart beat."""
    mpi = load_mpi()
    if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        raise LudusError("this MPI was not built for threads; the one of pip install 'ludus[mpi]' is")
    world = mpi.COMM_WORLD
    me, ranks = int(world.Get_rank()), int(world.Get_size())
    mail = Mail(world, list(range(1, ranks)) if me == 0 else [0])
    atexit.register(_part, mail)
    return mail


def _part(mail: Mail) -> None:
    """End without a trace: before MPI waits for everyone, everyone must know."""
    if mail.me == 0 and not mail.failed:
        for other in mail.others:
            mail.send(other, {"ask": "end"})
        mail.flush(FAREWELL_SECONDS)
    mail.close()
    if mail.failed:
        # MPI would wait for the dead.
        sys.stdout.flush()
        sys.stderr.flush()
        load_mpi().COMM_WORLD.Abort(1)
