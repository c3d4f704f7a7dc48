"""Workers in separate processes: for games that are stepped in Python and hold the GIL.

Parameters and experience are exchanged through shared memory. If a worker dies, only its unfinished unit is lost: a
new worker with the same number replaces it.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from multiprocessing import Pipe
from typing import NamedTuple

import numpy as np

from ludus.agents.protocol import Params
from ludus.algorithms.protocol import Arrays, Experience
from ludus.evaluation.parts import Spread
from ludus.pool import available_cores
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.child import LONGEST
from ludus.runtimes.transport.game_process import GameProcess
from ludus.runtimes.transport.job import AnyAlgorithm, Job
from ludus.runtimes.transport.memory import Layout, Segment
from ludus.runtimes.transport.rounds import Rounds
from ludus.runtimes.transport.spread import spread_over
from ludus.types import Array, JsonObject, LudusError

MAX_DEATHS = 3
"""deaths of one worker in a row, without a finished unit between them, after which the run fails"""
EXIT_SECONDS = 5.0
"""time for a process to exit"""
TAIL_BYTES = 4000
"""of a worker's output, kept for the error message if it dies"""


def count_workers(algorithm: AnyAlgorithm, wanted: int) -> int:
    return algorithm.count_workers(wanted, available_cores())


def open_source(job: Job) -> Processes:
    return Processes(job)


@contextlib.contextmanager
def open_spread(workers: int, settings: None = None) -> Iterator[Spread]:
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
        self.workers = [ProcessLane(job, number, self.published, ahead) for number in numbers]
        super().__init__(job, self.workers, ahead, self._pack)

    def _pack(self, params: Params) -> Parcel:
        self.turn = (self.turn + 1) % len(self.published)
        form, arrays = codec.encode(params)
        return Parcel(self.turn, self.published[self.turn].put(arrays), form)

    def close(self) -> None:
        super().close()
        for segment in self.published:
            segment.close()


class ProcessLane:
    """A worker in another process, as seen from the learner's process."""

    def __init__(self, job: Job, number: int, published: list[Segment], ahead: bool) -> None:
        self.job, self.number, self.published, self.ahead = job, number, published, ahead
        self.restarts, self.deaths, self.time = 0, 0, 0
        self.orders = collections.deque[JsonObject]()
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker works ahead"""
        self.start()

    def start(self) -> None:
        """Start the process and send it its job."""
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
        place = {"number": self.number, "restarts": self.restarts, "time": self.time, "ahead": self.ahead}
        self._send({"job": self.job.to_json(), **place})

    def begin(self, parcel: Parcel, version: int) -> None:
        order = {"type": "work", "version": version, **parcel._asdict()}
        self.orders.append(order)
        self._send(order)

    def _send(self, message: JsonObject) -> None:
        with contextlib.suppress(OSError):  # `_answer` notices that the worker has died
            self.connection.send_bytes(json.dumps(message).encode())

    def take(self) -> Experience | None:
        """The next unit; None if its worker died. A replacement that works ahead makes the lost unit again."""
        while (answer := self._answer("work")) is None:
            self._replace()
            if not self.ahead:
                self.orders.popleft()
                return None
        self.orders.popleft()
        self.deaths, self.time = 0, answer["time"]
        arrays = self.returned[answer["segment"]].get(answer["layout"])
        if self.ahead:  # the worker writes the next unit while these are used
            arrays = {name: array.copy() for name, array in arrays.items()}
        unit, self.after = codec.decode(answer["form"], arrays)
        return unit

    def _answer(self, kind: str) -> JsonObject | None:
        """The next answer of this type; None if the worker is dead."""
        while True:
            try:
                message: JsonObject = json.loads(self.connection.recv_bytes(LONGEST))
            except (EOFError, OSError):
                return None
            if message["type"] == "error":
                raise LudusError(f"worker {self.number} failed: {message['error']}")
            if message["type"] == kind:
                return message

    def _replace(self) -> None:
        """Start a new worker with the number of the one that died, unless it has died too often."""
        self.deaths, self.restarts = self.deaths + 1, self.restarts + 1
        reason = f"worker {self.number} {self.exit_reason()}"
        self.stop()
        if self.deaths >= MAX_DEATHS:
            lines = [f"{reason}, {self.deaths} times in a row; the end of its output:", *self.last_lines(8)]
            raise LudusError("\n".join(lines))
        print(f"ludus: {reason}; its unfinished unit is lost, and a new worker replaces it", file=sys.stderr)
        self.time += 0 if self.ahead else self.job.steps  # schedules continue as if the lost unit had been made
        self.start()
        for order in list(self.orders)[0 if self.ahead else 1 :]:
            self._send(order)

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
        """The state of the worker; only the time if it has died since its last unit, so it resumes with new games."""
        if self.after is not None:
            return self.after
        self._send({"type": "state"})
        if (answer := self._answer("state")) is None:
            return {"time": np.array([self.time], np.int64)}
        arrays = self.returned[0].get(answer["layout"])
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.time, self.after = int(state["time"][0]), None
        self._send({"type": "restore", "layout": self.returned[0].put(state)})
        if self._answer("restore") is None:
            self._replace()
            self.restore(state)

    def stop(self) -> None:
        """Kill the process and free its resources."""
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.reader.join(EXIT_SECONDS)
        if self.process.stdout:
            self.process.stdout.close()
        for segment in self.returned:
            segment.close()

    def close(self) -> None:
        self.stop()
