"""Messages between MPI ranks: a JSON header and arrays in one buffer. Heartbeats detect ranks that have died.

No call blocks inside MPI: every operation is started, polled and abandoned after a timeout, so that signals are handled
and a dead rank raises a LudusError. With `mpiexec --with-ft ulfm` MPI reports a death immediately; otherwise it is
detected by missing heartbeats.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ludus.agents.table import LINE, aligned
from ludus.runtimes.transport.memory import layout_of, size_of, views, write
from ludus.types import Array, JsonObject, LudusError

if TYPE_CHECKING:
    from mpi4py import MPI

MESSAGE, HEARTBEAT = 71, 72
"""MPI tags"""
HEARTBEAT_SECONDS = 1.0
TIMEOUT_SECONDS = 60.0
"""a rank that sends nothing for so long, not even heartbeats, is considered dead"""
GRACE_SECONDS = 0.1
"""time to wait for answers after a SIGTERM: mpiexec sends it when a rank has died, and SIGKILL a quarter of a second
later; a checkpoint must be saved between them"""
SHORTEST_SLEEP, LONGEST_SLEEP = 2e-5, 2e-3
"""seconds between two polls: short while messages arrive often, longer to leave the cores to the workers"""


class Message(NamedTuple):
    """A message that has arrived."""

    sender: int
    header: JsonObject
    arrays: dict[str, Array]


class SigtermWatch:
    """Detects a SIGTERM without replacing its handler: Python also writes the numbers of signals to a pipe."""

    def __init__(self) -> None:
        self.received = float("inf")
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self.writer, False)
        self.previous = -1
        with contextlib.suppress(ValueError):  # only the main thread may set it
            self.previous = signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)

    def check(self) -> None:
        """Raise LudusError if a SIGTERM arrived more than GRACE_SECONDS ago."""
        with contextlib.suppress(BlockingIOError):
            if signal.SIGTERM in os.read(self.reader, 4096):
                self.received = min(self.received, time.monotonic())
        if time.monotonic() - self.received > GRACE_SECONDS:
            raise LudusError("mpiexec sent SIGTERM to rank 0 before all ranks had answered; a rank may have died")

    def close(self) -> None:
        with contextlib.suppress(ValueError):
            signal.set_wakeup_fd(self.previous)
        os.close(self.reader)
        os.close(self.writer)


class Messenger:
    """Sends messages to the ranks in `others`, receives messages from them and watches their heartbeats."""

    def __init__(self, world: MPI.Intracomm, others: list[int]) -> None:
        self.world, self.others = world, others
        self.rank = int(world.Get_rank())
        self.failed, self.sigterm = False, SigtermWatch()
        self.block = load_mpi().BYTE.Create_contiguous(LINE).Commit()
        self.pending: list[tuple[MPI.Request, Array]] = []
        """unfinished sends, with the buffers that MPI reads from"""
        self.last_poll = time.monotonic()
        self.last_contact = dict.fromkeys(others, self.last_poll)
        self.closing = threading.Event()
        self.heartbeat = threading.Thread(target=self._send_heartbeats, daemon=True)
        self.heartbeat.start()

    def send(self, receiver: int, header: Mapping[str, object], arrays: Mapping[str, Array] | None = None) -> None:
        """Start to send a message; it may arrive after this returns."""
        self.send_packed(receiver, pack(header, arrays or {}))

    def send_packed(self, receiver: int, buffer: Array) -> None:
        """Start to send a packed message; its buffer must not be modified afterwards."""
        with self._mpi_errors():
            self.pending = [(request, kept) for request, kept in self.pending if not request.Test()]
            blocks = [buffer, len(buffer) // LINE, self.block]
            self.pending.append((self.world.Isend(blocks, receiver, MESSAGE), buffer))

    def poll(self) -> Message | None:
        """The next message, or None if none has arrived."""
        self._extend_deadlines()
        with self._mpi_errors():
            while (found := self._probe()) is not None:
                message, sender, tag, blocks = found
                buffer = aligned(blocks * LINE, np.dtype(np.uint8))
                self._finish(message.Irecv([buffer, blocks, self.block]), sender)
                self.last_contact[sender] = time.monotonic()
                if tag == MESSAGE:
                    return Message(sender, *unpack(buffer))
        return None

    def _probe(self) -> tuple[MPI.Message, int, int, int] | None:
        mpi = load_mpi()
        status = mpi.Status()
        # Only rank 0 reacts to the death of another rank: the others must not exit before it has saved a checkpoint.
        message = self.world.Improbe(mpi.ANY_SOURCE if self.rank == 0 else 0, mpi.ANY_TAG, status)
        if message is None:
            return None
        return message, status.Get_source(), status.Get_tag(), status.Get_count(self.block)

    def _finish(self, request: MPI.Request, sender: int) -> None:
        """Wait until a message that has begun to arrive is complete."""
        began = time.monotonic()
        while not request.Test():
            time.sleep(SHORTEST_SLEEP)
            if time.monotonic() - began > TIMEOUT_SECONDS:
                raise self._failure(f"rank {sender} has stopped in the middle of a message")

    def wait(self, enough: Callable[[], bool] = lambda: False) -> Message | None:
        """The next message; None as soon as `enough()` is true. Raises LudusError if a rank has died."""
        sleep = SHORTEST_SLEEP
        while not enough():
            message = self.poll()
            if message is not None:
                return message
            self._check_ranks()
            time.sleep(sleep)
            sleep = min(2 * sleep, LONGEST_SLEEP)
        return None

    def flush(self, seconds: float) -> None:
        """Wait until all messages are sent, for at most so many seconds."""
        stop = time.monotonic() + seconds
        while self.pending and time.monotonic() < stop:
            with contextlib.suppress(load_mpi().Exception):
                self.pending = [(request, kept) for request, kept in self.pending if not request.Test()]
            time.sleep(SHORTEST_SLEEP)

    def _extend_deadlines(self) -> None:
        """After a pause between polls, restart all timeouts: heartbeats may have arrived unread."""
        now = time.monotonic()
        if now - self.last_poll > HEARTBEAT_SECONDS:
            self.last_contact = dict.fromkeys(self.others, now)
        self.last_poll = now

    def _check_ranks(self) -> None:
        self.sigterm.check()
        now = time.monotonic()
        silent = [rank for rank in self.others if now - self.last_contact[rank] > TIMEOUT_SECONDS]
        if silent:
            raise self._failure(f"rank {silent[0]} has sent no heartbeat for {TIMEOUT_SECONDS:g} seconds")

    @contextlib.contextmanager
    def _mpi_errors(self) -> Iterator[None]:
        """Raise errors of MPI as LudusError: communication fails only if a rank has died."""
        try:
            yield
        except load_mpi().Exception as error:
            raise self._failure(f"{self._failed_ranks() or 'a rank'} has died ({error.Get_error_string()})") from None

    def _failure(self, reason: str) -> LudusError:
        self.failed = True
        return LudusError(f"{reason}; resume the run from its newest checkpoint with the same number of ranks")

    def _failed_ranks(self) -> str:
        """The ranks that have died, if MPI knows them."""
        with contextlib.suppress(Exception):
            group, own = self.world.Get_failed(), self.world.Get_group()
            ranks = group.Translate_ranks(range(group.Get_size()), own)
            return ", ".join(f"rank {rank}" for rank in ranks)
        return ""

    def _send_heartbeats(self) -> None:
        empty = np.zeros(0, np.uint8)
        while not self.closing.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(load_mpi().Exception):
                for rank in self.others:
                    # MPI sends an empty message without waiting for the receiver, so the request can be freed.
                    self.world.Isend([empty, 0, self.block], rank, HEARTBEAT).Free()

    def close(self) -> None:
        """Stop the heartbeats; unfinished sends are abandoned."""
        self.closing.set()
        self.heartbeat.join()
        self.sigterm.close()


class RankWorker(Protocol):
    """The work of a rank other than 0."""

    def answer(self, message: Message) -> None: ...
    def play(self) -> None:
        """Continue with work that needs no request."""
        ...

    def idle(self) -> bool:
        """Whether there is nothing to do before the next message."""
        ...

    def close(self) -> None: ...


def pack(header: Mapping[str, object], arrays: Mapping[str, Array]) -> Array:
    """A message as whole cache lines: the length of the JSON, the JSON, the arrays."""
    layout = layout_of(arrays)
    text = json.dumps({"header": dict(header), "layout": layout}).encode()
    start = -(-(len(text) + 8) // LINE) * LINE
    buffer = aligned(start + size_of(layout), np.dtype(np.uint8))
    buffer[:8].view(np.int64)[0] = len(text)
    buffer[8 : 8 + len(text)] = np.frombuffer(text, np.uint8)
    write(buffer[start:], layout, arrays)
    return buffer


def unpack(buffer: Array) -> tuple[JsonObject, dict[str, Array]]:
    """The header and the arrays of a packed message."""
    length = int(buffer[:8].view(np.int64)[0])
    message = json.loads(buffer[8 : 8 + length].tobytes())
    start = -(-(length + 8) // LINE) * LINE
    return message["header"], views(buffer[start:], message["layout"])


def load_mpi() -> ModuleType:
    """The module `mpi4py.MPI`."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        raise LudusError("the mpi runtime needs mpi4py and an MPI: pip install 'ludus[mpi]'") from None
    return MPI
