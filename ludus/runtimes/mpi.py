"""Workers on the ranks of MPI, on one machine or many: `mpiexec -n 4 ludus train tictactoe --runtime mpi`.

Rank 0 saves the run. If the update of the algorithm is collective (`data_parallel`), every rank is a process of one
`jax.distributed` group: it plays and learns, and the gradients are those of one learner with all rows. Otherwise rank 0
learns, and the other ranks `serve` it as workers.

When a rank is killed, Open MPI 5 ends the others: SIGCONT at once, SIGTERM after 0.25 s, SIGKILL 0.25 s later (the
setting odls_base_sigkill_timeout changes nothing): enough to save a small checkpoint. With `mpiexec --with-ft ulfm` the
others survive and MPI reports the death at once; with `--enable-recovery` they survive and notice missing heartbeats
after a minute. In all three cases rank 0 raises a LudusError, and the run saves a checkpoint.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ludus import runtimes
from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Experience, Groups
from ludus.runtimes.local import LocalLane
from ludus.runtimes.threads import ThreadLane
from ludus.runtimes.transport import codec, group, jax_group
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.messages import Message, Messenger, RankWorker, load_mpi, pack
from ludus.runtimes.transport.rounds import Lane, Rounds, unpacked
from ludus.types import Array, LudusError

LONGEST_CHUNK = 2**18
"""mpiexec leaves half a second between Ctrl-C and SIGKILL, in which a unit must end and be saved"""
FLUSH_SECONDS = 2.0
"""time to send the last messages when rank 0 exits"""


def rank() -> int:
    """The number of this process among the ranks."""
    return int(load_mpi().COMM_WORLD.Get_rank())


def ranks() -> int:
    """The number of ranks."""
    return int(load_mpi().COMM_WORLD.Get_size())


@contextlib.contextmanager
def session(algorithm: AnyAlgorithm) -> Iterator[str]:
    """The role of this process in a run: "keeper" (rank 0), "learner", or "done" if it has served as a worker."""
    if not algorithm.data_parallel:
        messenger()  # from now on rank 0 sends heartbeats, and ends the other ranks when it exits
        if rank() > 0:
            serve()
        yield "keeper" if rank() == 0 else "done"
    elif ranks() == 1:
        yield "keeper"
    else:
        with jax_group.library_output_redirected(), jax_group.joined():
            yield "keeper" if rank() == 0 else "learner"


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    """Workers of each process if all processes learn, otherwise one on each rank."""
    if algorithm.data_parallel:
        return algorithm.count_workers(wanted, 1)
    if wanted not in (0, ranks()):
        raise LudusError(
            f"--runtime mpi has one worker per rank, {ranks()} here, not {wanted}; change the -n of mpiexec"
        )
    return algorithm.count_workers(ranks(), ranks())


def open_source(job: Job) -> Group | Ranks:
    """The source of rank 0, or of any rank if all ranks learn."""
    if job.algorithm.data_parallel:
        return Group(job)
    connection = messenger()
    if connection.rank != 0:
        raise LudusError(f"rank {connection.rank} cannot train; only rank 0 trains, and the other ranks serve it")
    return Ranks(replace(job, workers=ranks()), connection)


class Group(Rounds[Experience, Params]):
    """The workers of one process of a `jax.distributed` group; all processes must call its methods together."""

    def __init__(self, job: Job) -> None:
        from ludus.agents.neural import devices

        own = job.workers
        whole = replace(job, workers=own * devices.processes(), first=own * devices.process())
        numbers, ahead = range(whole.first, whole.first + own), job.algorithm.overlap
        lanes = [ThreadLane(whole.worker(number), number, ahead) for number in numbers]
        super().__init__(whole, lanes, ahead, unpacked)

    def state(self) -> Groups:
        """The states of the workers of all processes."""
        return group.gathered_states(super().state(), range(self.job.first, self.job.first + len(self.lanes)))

    def agree(self, *flags: bool) -> tuple[bool, ...]:
        return group.agreed(*flags)


class Ranks(Rounds[Experience, "Order"]):
    """Rounds whose workers are ranks; rank 0 also has a worker, which works when its unit is taken."""

    def __init__(self, job: Job, connection: Messenger) -> None:
        self.connection = connection
        for other in connection.others:
            connection.send(other, {"type": "job", "job": job.to_json(), "number": other, "runtime": "mpi"})
        inbox = Inbox(connection)
        own: Lane[Experience, Order] = OwnLane(job.worker(0), 0)
        others: list[Lane[Experience, Order]] = [RankLane(connection, inbox, other) for other in connection.others]
        super().__init__(job, [own, *others], job.algorithm.overlap, Order)

    def close(self) -> None:
        if not self.connection.failed:
            for other in self.connection.others:
                self.connection.send(other, {"type": "end"})
        super().close()


class Inbox:
    """Messages that have arrived, by sender."""

    def __init__(self, connection: Messenger) -> None:
        self.connection = connection
        self.messages = {other: collections.deque[Message]() for other in connection.others}

    def next(self, sender: int, kind: str) -> Message:
        """The next message of this type from a rank; messages from others are kept for later."""
        messages = self.messages[sender]
        while True:
            while messages:
                message = messages[0]
                if message.header["type"] == "error":  # stays in the inbox, since this rank will not answer again
                    raise LudusError(message.header["error"])
                messages.popleft()
                if message.header["type"] == kind:
                    return message
            arrived = self.connection.wait()
            assert arrived is not None
            self.messages[arrived.sender].append(arrived)


class RankLane:
    """A worker on another rank, as seen from rank 0."""

    def __init__(self, connection: Messenger, inbox: Inbox, other: int) -> None:
        self.connection, self.inbox, self.other = connection, inbox, other
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker works ahead"""

    def begin(self, parcel: Order, version: int) -> None:
        self.connection.send_packed(self.other, parcel.packed(version))

    def take(self) -> Experience:
        message = self.inbox.next(self.other, "work")
        unit: Experience
        unit, self.after = codec.decode(message.header["form"], message.arrays)
        return unit

    def state(self) -> Arrays:
        if self.after is not None:
            return self.after
        self.connection.send(self.other, {"type": "state"})
        return self.inbox.next(self.other, "state").arrays

    def restore(self, state: Mapping[str, Array]) -> None:
        self.after = None
        self.connection.send(self.other, {"type": "restore"}, state)
        self.inbox.next(self.other, "restore")

    def close(self) -> None:
        pass


class Order:
    """Parameters that are packed once for all ranks, when the first of them needs it."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.message: Array | None = None

    def packed(self, version: int) -> Array:
        if self.message is None:
            form, arrays = codec.encode(self.params)
            self.message = pack({"type": "work", "form": form, "version": version}, arrays)
        return self.message


class OwnLane(LocalLane[Experience]):
    """The worker on rank 0 itself."""

    def begin(self, parcel: Order, version: int) -> None:
        super().begin(parcel.params, version)


def new_rank(job: Job, number: int, connection: Messenger) -> RankWorker:
    """The work of a rank other than 0."""
    return Serving(job, number, connection)


class Serving:
    """A rank that works for rank 0."""

    def __init__(self, job: Job, number: int, connection: Messenger) -> None:
        self.connection, self.worker, self.ahead = connection, job.worker(number), job.algorithm.overlap

    def idle(self) -> bool:
        return True

    def play(self) -> None:
        pass

    def answer(self, message: Message) -> None:
        header = message.header
        if header["type"] == "work":
            self.worker.publish(codec.decode(header["form"], message.arrays), header["version"])
            unit = self.worker.work()
            form, arrays = codec.encode((unit, self.worker.state() if self.ahead else None))
            self.connection.send(0, {"type": "work", "form": form}, arrays)
        elif header["type"] == "state":
            self.connection.send(0, {"type": "state"}, self.worker.state())
        else:
            self.worker.restore(message.arrays)
            self.connection.send(0, {"type": "restore"})

    def close(self) -> None:
        self.worker.close()


def serve() -> None:
    """Work for rank 0 until it ends the session or dies."""
    connection = messenger()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Rank 0 handles these signals, and may still need the current unit for its checkpoint.
        signal.signal(number, signal.SIG_IGN)
    try:
        message = connection.wait()
        while message is not None and message.header["type"] != "end":
            message = _run_job(connection, message) if message.header["type"] == "job" else connection.wait()
    except LudusError as error:
        # MPI cannot shut down in order without rank 0.
        print(f"ludus: rank {connection.rank} ends: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _run_job(connection: Messenger, message: Message) -> Message | None:
    """Work on a job and send errors to rank 0; returns the first message that does not belong to the job."""
    try:
        return _answer_messages(connection, message)
    except Exception as error:
        if connection.failed:
            raise
        if not isinstance(error, LudusError):
            traceback.print_exc()
        text = str(error) if isinstance(error, LudusError) else f"{type(error).__name__}: {error}"
        connection.send(0, {"type": "error", "error": f"rank {connection.rank}: {text}"})
        return connection.wait()


def _answer_messages(connection: Messenger, message: Message) -> Message | None:
    job, number = Job.from_json(message.header["job"]), message.header["number"]
    worker: RankWorker = runtimes.load(message.header["runtime"]).new_rank(job, number, connection)
    try:
        while True:
            following = connection.wait() if worker.idle() else connection.poll()
            if following is None:
                worker.play()
            elif following.header["type"] in ("job", "end"):
                return following
            else:
                worker.answer(following)
    finally:
        worker.close()


@functools.cache
def messenger() -> Messenger:
    """The messenger of this process, created at the first call; from then on it sends and expects heartbeats."""
    mpi = load_mpi()
    if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        raise LudusError("this MPI was built without support for threads; install one with: pip install 'ludus[mpi]'")
    connection = Messenger(mpi.COMM_WORLD, list(range(1, ranks())) if rank() == 0 else [0])
    atexit.register(_disconnect, connection)
    return connection


def _disconnect(connection: Messenger) -> None:
    """End the other ranks before MPI waits for them in its own exit handler."""
    if connection.rank == 0 and not connection.failed:
        for other in connection.others:
            connection.send(other, {"type": "end"})
        connection.flush(FLUSH_SECONDS)
    connection.close()
    if connection.failed:
        # MPI would wait for the dead rank.
        sys.stdout.flush()
        sys.stderr.flush()
        load_mpi().COMM_WORLD.Abort(1)
