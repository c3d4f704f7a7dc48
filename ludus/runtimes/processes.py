"""Workers in separate processes: for games that are stepped in Python and hold the GIL.

Parameters and experience are exchanged through shared memory. If a worker dies, only its unfinished unit is lost: a
new worker with the same number replaces it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import Pipe
from typing import NamedTuple

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Experience, Metrics
from ludus.evaluation.parts import Spread
from ludus.pool import available_cores
from ludus.runtimes.transport import codec, replaced
from ludus.runtimes.transport.child import LONGEST
from ludus.runtimes.transport.game_process import GameProcess
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.memory import Layout, Segment
from ludus.runtimes.transport.replaced import Finished, Place, ReplacedLane, WorkerDied
from ludus.runtimes.transport.rounds import Rounds
from ludus.runtimes.transport.spread import spread_over
from ludus.types import Array, JsonObject, LudusError

EXIT_SECONDS = 5.0
"""time for a process to exit"""
TAIL_BYTES = 4000
"""of a worker's output, kept for the error message if it dies"""


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    return algorithm.count_workers(wanted, available_cores())


def open_source(job: Job) -> Processes:
    return Processes(job)


@contextlib.contextmanager
def open_spread(workers: int) -> Iterator[Spread]:
    count = workers or available_cores()
    threads = max(1, available_cores() // count)
    yield spread_over(count, lambda number: GameProcess(threads))


class Parcel(NamedTuple):
    """Parameters in shared memory: the segment, and how to read them."""

    segment: int
    layout: Layout
    form: codec.Form


class Processes(Rounds[Experience, Parcel]):
    """Rounds whose workers are processes."""

    def __init__(self, job: Job) -> None:
        if os.name != "posix":
            raise LudusError("the processes runtime needs Linux or macOS; use --runtime threads")
        ahead = job.algorithm.overlap
        # A worker may still read the parameters of the previous round while newer ones are written.
        self.published, self.turn = [Segment() for _ in range(1 + ahead)], 0
        numbers = range(job.first, job.first + job.workers)
        self.workers = [ReplacedLane(job, number, ahead, self._started(job)) for number in numbers]
        super().__init__(job, self.workers, ahead, self._pack)

    def _started(self, job: Job) -> Callable[[Place], Process]:
        return lambda place: Process(job, place, self.published)

    def _pack(self, params: Params) -> Parcel:
        self.turn = (self.turn + 1) % len(self.published)
        form, arrays = codec.encode(params)
        return Parcel(self.turn, self.published[self.turn].put(arrays), form)

    def metrics(self) -> Metrics:
        return replaced.metrics(self.workers)

    def close(self) -> None:
        super().close()
        for segment in self.published:
            segment.close()


class Process:
    """A worker in another process, as seen from the learner's process."""

    def __init__(self, job: Job, place: Place, published: list[Segment]) -> None:
        self.number, self.ahead, self.published = place.number, place.ahead, published
        self.returned, self.output_tail = [Segment() for _ in range(1 + self.ahead)], b""
        self.connection, theirs = Pipe()
        shared = [segment.descriptor for segment in (*self.published, *self.returned)]
        command = [sys.executable, "-P", "-m", "ludus.runtimes.transport.child"]
        command += map(str, (os.getpid(), theirs.fileno(), *shared))
        # The worker uses the module search path of this process, and the CPU only: the GPU belongs to the learner.
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        # A separate process group, so that Ctrl-C in the terminal interrupts only this process.
        self.process = subprocess.Popen(
            command, pass_fds=(theirs.fileno(), *shared), process_group=0, bufsize=0, stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        theirs.close()
        self.reader = threading.Thread(target=self._read_output, daemon=True)
        self.reader.start()
        self._send({"job": job.to_json(), **place._asdict()})

    def order(self, parcel: Parcel, version: int) -> None:
        self._send({"type": "work", "version": version, **parcel._asdict()})

    def _send(self, message: JsonObject) -> None:
        with contextlib.suppress(OSError):  # `_answer` notices that the worker has died
            self.connection.send_bytes(json.dumps(message).encode())

    def unit(self) -> Finished[Experience]:
        answer = self._answer("work")
        arrays = self.returned[answer["segment"]].get(answer["layout"])
        if self.ahead:  # the worker writes the next unit while these are used
            arrays = {name: array.copy() for name, array in arrays.items()}
        unit, after = codec.decode(answer["form"], arrays)
        return Finished(unit, answer["time"], None if after is None else lambda: after)

    def _answer(self, kind: str) -> JsonObject:
        """The next answer of this type."""
        while True:
            try:
                message: JsonObject = json.loads(self.connection.recv_bytes(LONGEST))
            except (EOFError, OSError):
                raise WorkerDied(self.exit_reason(), self.last_lines(8)) from None
            if message["type"] == "error":
                raise LudusError(f"worker {self.number} failed: {message['error']}")
            if message["type"] == kind:
                return message

    def _read_output(self) -> None:
        """Copy the worker's output to standard error, and keep its end."""
        assert self.process.stdout
        with contextlib.suppress(OSError, ValueError):
            while output := self.process.stdout.read(TAIL_BYTES):
                self.output_tail = (self.output_tail + output)[-TAIL_BYTES:]
                sys.stderr.write(output.decode(errors="replace"))
                sys.stderr.flush()

    def exit_reason(self) -> str:
        """How the process ended, for messages."""
        try:
            code = self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "sends unreadable messages"
        self.reader.join(EXIT_SECONDS)
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with code {code}" + "".join(f" ({line})" for line in self.last_lines(1))

    def last_lines(self, count: int) -> list[str]:
        """The last lines of its output."""
        return [line for line in self.output_tail.decode(errors="replace").split("\n") if line.strip()][-count:]

    def state(self) -> Arrays:
        self._send({"type": "state"})
        arrays = self.returned[0].get(self._answer("state")["layout"])
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._send({"type": "restore", "layout": self.returned[0].put(state)})
        self._answer("restore")

    def stop(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.reader.join(EXIT_SECONDS)
        if self.process.stdout:
            self.process.stdout.close()
        for segment in self.returned:
            segment.close()
