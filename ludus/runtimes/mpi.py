"""Workers on the ranks of MPI, on one machine or many: `mpiexec -n 4 ludus train tictactoe --runtime mpi`.

Rank 0 keeps the run. With an algorithm whose update is collective (`data_parallel`), every rank is a process of one
`jax.distributed` group: it plays and learns, and the gradients are those of one learner with all rows. With others,
rank 0 learns, and the other ranks `serve` it as workers.

When a rank is killed, Open MPI 5 ends the others: SIGCONT at once, SIGTERM after 0.25 s, SIGKILL 0.25 s later (the
setting odls_base_sigkill_timeout changes nothing): enough to save a small checkpoint. With `mpiexec --with-ft ulfm` the
others survive and are told at once; with `--enable-recovery` they survive and notice the silence after a minute. In all
three cases rank 0 raises a LudusError, and the run saves a checkpoint.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ludus import runtimes
from ludus.algorithms.protocol import Algorithm, Arrays, Groups
from ludus.runtimes import threads
from ludus.runtimes.local import Here
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.mail import Letter, Mail, Rank, envelope, load_mpi
from ludus.runtimes.transport.rounds import Lane, Rounds
from ludus.types import Array, LudusError

LONGEST_CHUNK = 2**18
"""mpiexec leaves half a second between Ctrl-C and SIGKILL, in which a unit must end and be saved"""
FAREWELL_SECONDS = 2.0
JOIN_SECONDS = 120


def rank() -> int:
    """The number of this process among the ranks."""
    return int(load_mpi().COMM_WORLD.Get_rank())


def ranks() -> int:
    """How many ranks there are."""
    return int(load_mpi().COMM_WORLD.Get_size())


@contextlib.contextmanager
def session(algorithm: Algorithm[Any, Any, Any]) -> Iterator[str]:
    """The part of this process in a run: keeper (rank 0), learner beside it, or done if it has served as a worker."""
    if not algorithm.data_parallel:
        post_office()  # from here on rank 0 sends heartbeats and, when it exits, ends the other ranks
        if rank() > 0:
            serve()
        yield "keeper" if rank() == 0 else "done"
    elif ranks() == 1:
        yield "keeper"
    else:
        with own_output(), group():
            yield "keeper" if rank() == 0 else "learner"


def count_workers(algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    """Workers in each process if all processes learn, else one on each rank."""
    if algorithm.data_parallel:
        return algorithm.count_workers(wanted, 1)
    if wanted not in (0, ranks()):
        raise LudusError(f"--runtime mpi has {ranks()} workers here, not {wanted}; mpiexec -n says how many")
    return algorithm.count_workers(ranks(), ranks())


def open_source(job: Job) -> Rounds[Any]:
    """The source of rank 0, or of any rank if all of them learn."""
    if job.algorithm.data_parallel:
        return Group(job)
    mail = post_office()
    if mail.me != 0:
        raise LudusError(f"rank {mail.me} cannot train: rank 0 does, and the others serve it")
    return Ranks(replace(job, workers=ranks()), mail)


class Group(Rounds[Any]):
    """The workers of one process of a `jax.distributed` group; all processes must call its methods together."""

    def __init__(self, job: Job) -> None:
        from ludus.agents.neural import devices

        self.devices, mine = devices, job.workers
        whole = replace(job, workers=mine * devices.processes(), first=mine * devices.process())
        numbers, ahead = range(whole.first, whole.first + mine), job.algorithm.overlap
        super().__init__(whole, [threads.Thread(whole.worker(number), number, ahead) for number in numbers], ahead)

    def state(self) -> Groups:
        """The states of the workers of all processes."""
        own = super().state()
        workers = [own[f"worker_{number}"] for number in range(self.job.first, self.job.first + len(self.lanes))]
        everyone = [state for process in self.devices.gathered(workers) for state in process]
        others = {name: group for name, group in own.items() if not name.startswith("worker_")}
        return {f"worker_{number}": state for number, state in enumerate(everyone)} | others

    def agree(self, *wishes: bool) -> tuple[bool, ...]:
        import numpy as np

        gathered = self.devices.gathered([np.array(wish) for wish in wishes])
        return tuple(any(wish) for wish in zip(*gathered, strict=True))


class Ranks(Rounds[Any]):
    """Rounds whose workers are ranks; rank 0 has one too, and works when it has nothing else to do."""

    def __init__(self, job: Job, mail: Mail) -> None:
        self.mail = mail
        for other in mail.others:
            mail.send(other, {"ask": "job", "job": job.to_json(), "number": other, "runtime": "mpi"})
        inbox = Inbox(mail)
        mine: Lane[Any] = Mine(job.worker(0))
        others: list[Lane[Any]] = [Remote(mail, inbox, other) for other in mail.others]
        super().__init__(job, [mine, *others], job.algorithm.overlap, Order)

    def close(self) -> None:
        if not self.mail.failed:
            for other in self.mail.others:
                self.mail.send(other, {"ask": "end"})
        super().close()


@contextlib.contextmanager
def group() -> Iterator[None]:
    """All ranks as processes of one `jax.distributed` group."""
    world = load_mpi().COMM_WORLD
    _join(world)
    from jax import distributed

    try:
        yield
    except BaseException as error:
        if _is_lost_rank(error):
            _abort(f"rank {rank()} lost the connection to another rank, which has ended; see what it printed")
        if not isinstance(error, LudusError | SystemExit):
            traceback.print_exc()
        _abort(str(error) if isinstance(error, LudusError) else f"{type(error).__name__}: {error}")
    world.Barrier()  # JAX ends the processes that are still there when the first one leaves
    leave: Any = distributed.shutdown  # JAX has no types for it
    leave()


def _is_lost_rank(error: BaseException) -> bool:
    """Whether a collective operation failed: JAX reports that as errors of several types, in the words of Gloo."""
    return type(error).__name__ == "JaxRuntimeError" or "Gloo" in str(error)


def _abort(sentence: str) -> None:
    """End all ranks: the others would wait for this one."""
    print(f"ludus: {sentence}; resume the run with as many ranks", file=sys.stderr, flush=True)
    sys.stdout.flush()
    load_mpi().COMM_WORLD.Abort(1)


def _join(world: Any) -> None:
    """From here on JAX knows the devices of all ranks."""
    # Must be set before JAX is imported; the warning that it hides is about the second setting below.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from ludus.agents.neural import devices

    devices.start()
    import jax

    config: Any = jax.config
    config.update("jax_enable_preemption_service", False)  # it would handle SIGTERM in place of the run
    config.update("jax_enable_recoverability", True)  # else all ranks die with one, and rank 0 could not save
    coordinator = world.bcast(_coordinator(world), root=0)
    try:
        jax.distributed.initialize(
            coordinator, world.Get_size(), world.Get_rank(), cluster_detection_method="deactivate",
            initialization_timeout=JOIN_SECONDS, coordinator_bind_address=coordinator,
        )  # fmt: skip
        jax.devices()
    except (RuntimeError, ValueError) as error:
        raise LudusError(f"JAX could not connect the ranks at {coordinator}: {error}") from None


def _coordinator(world: Any) -> str:
    """Where the group of ranks meets: a free port of rank 0."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    hosts = world.Split_type(load_mpi().COMM_TYPE_SHARED).Get_size()
    return f"{'127.0.0.1' if hosts == world.Get_size() else socket.gethostname()}:{port}"


@contextlib.contextmanager
def own_output() -> Iterator[None]:
    """Send what libraries such as Gloo print to standard output to standard error; ours stays where it was."""
    with os.fdopen(os.dup(1), "w") as ours, contextlib.redirect_stdout(ours):
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(ours.fileno(), 1)


class Inbox:
    """Letters that have arrived, by sender."""

    def __init__(self, mail: Mail) -> None:
        self.mail, self.letters = mail, {other: collections.deque[Letter]() for other in mail.others}

    def next(self, sender: int, what: str) -> Letter:
        """The next answer of a rank; letters of others are kept for later."""
        while True:
            while self.letters[sender]:
                letter = self.letters[sender][0]
                if letter.words["say"] == "error":  # it stays in the box: this rank will not answer again
                    raise LudusError(letter.words["error"])
                self.letters[sender].popleft()
                if letter.words["say"] == what:
                    return letter
            arrived = self.mail.wait()
            assert arrived is not None
            self.letters[arrived.sender].append(arrived)


class Remote:
    """A worker on another rank, as seen from rank 0."""

    def __init__(self, mail: Mail, inbox: Inbox, other: int) -> None:
        self.mail, self.inbox, self.other = mail, inbox, other
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker has gone on since"""

    def begin(self, parcel: Order, version: int) -> None:
        self.mail.post(self.other, parcel.envelope(version))

    def take(self) -> Any:
        letter = self.inbox.next(self.other, "work")
        unit, self.after = codec.decode(letter.words["form"], letter.arrays)
        return unit

    def state(self) -> Arrays:
        if self.after is not None:
            return self.after
        self.mail.send(self.other, {"ask": "state"})
        return self.inbox.next(self.other, "state").arrays

    def restore(self, state: Mapping[str, Array]) -> None:
        self.after = None
        self.mail.send(self.other, {"ask": "restore"}, state)
        self.inbox.next(self.other, "restore")

    def close(self) -> None:
        pass


class Order:
    """Parameters that are encoded once for all ranks, when the first of them needs it."""

    def __init__(self, params: Any) -> None:
        self.params = params
        self.sent: Array | None = None

    def envelope(self, version: int) -> Array:
        if self.sent is None:
            form, arrays = codec.encode(self.params)
            self.sent = envelope({"ask": "work", "form": form, "version": version}, arrays)
        return self.sent


class Mine(Here):
    """The worker of rank 0 itself."""

    def begin(self, parcel: Order, version: int) -> None:
        super().begin(parcel.params, version)


def new_rank(job: Job, number: int, mail: Mail) -> Rank:
    """What a rank other than 0 does."""
    return Serving(job, number, mail)


class Serving:
    """A rank that works for rank 0."""

    def __init__(self, job: Job, number: int, mail: Mail) -> None:
        self.mail, self.worker, self.ahead = mail, job.worker(number), job.algorithm.overlap

    def idle(self) -> bool:
        return True

    def play(self) -> None:
        pass

    def answer(self, letter: Letter) -> None:
        if letter.words["ask"] == "work":
            self.worker.publish(codec.decode(letter.words["form"], letter.arrays), letter.words["version"])
            unit = self.worker.work()
            form, arrays = codec.encode((unit, self.worker.state() if self.ahead else None))
            self.mail.send(0, {"say": "work", "form": form}, arrays)
        elif letter.words["ask"] == "state":
            self.mail.send(0, {"say": "state"}, self.worker.state())
        else:
            self.worker.restore(letter.arrays)
            self.mail.send(0, {"say": "restore"})

    def close(self) -> None:
        self.worker.close()


def serve() -> None:
    """Work for rank 0 until it ends, or is dead."""
    mail = post_office()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Rank 0 decides, and may still need the unit that is being made to save it.
        signal.signal(number, signal.SIG_IGN)
    try:
        letter = mail.wait()
        while letter is not None and letter.words["ask"] != "end":
            letter = _guarded(mail, letter) if letter.words["ask"] == "job" else mail.wait()
    except LudusError as error:
        # Without rank 0 an orderly end is impossible.
        print(f"ludus: rank {mail.me} ends: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _guarded(mail: Mail, letter: Letter) -> Letter | None:
    """Do a job; errors are sent to rank 0. Returns the letter after the last of the job."""
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
    worker: Rank = runtimes.load(letter.words["runtime"]).new_rank(job, number, mail)
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
    """The mail of this process; from now on it sends and expects heartbeats."""
    mpi = load_mpi()
    if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        raise LudusError("this MPI was not built for threads; the one of pip install 'ludus[mpi]' is")
    world = mpi.COMM_WORLD
    me, count = int(world.Get_rank()), int(world.Get_size())
    mail = Mail(world, list(range(1, count)) if me == 0 else [0])
    atexit.register(_part, mail)
    return mail


def _part(mail: Mail) -> None:
    """End in order: before MPI waits for all ranks, all must know."""
    if mail.me == 0 and not mail.failed:
        for other in mail.others:
            mail.send(other, {"ask": "end"})
        mail.flush(FAREWELL_SECONDS)
    mail.close()
    if mail.failed:
        # MPI would wait for the dead rank.
        sys.stdout.flush()
        sys.stderr.flush()
        load_mpi().COMM_WORLD.Abort(1)
