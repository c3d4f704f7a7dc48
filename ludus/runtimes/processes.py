"""Workers in processes of their own: for games that are stepped in Python and hold its lock.

Parameters and experience travel through memory that the processes share. A worker that dies loses its unfinished unit
and nothing else: another takes its number.
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
from collections.abc import Mapping
from multiprocessing import Pipe
from typing import Any, NamedTuple

import numpy as np

from ludus.algorithms.protocol import Algorithm, Arrays
from ludus.pool import available_cores
from ludus.runtimes.transport import codec
from ludus.runtimes.transport.child import LONGEST, Message
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.memory import Facts, Segment
from ludus.runtimes.transport.rounds import Rounds
from ludus.types import Array, LudusError

MOST_DEATHS = 3
"""of one worker, in a row, without a finished unit between them"""
PATIENCE = 5.0
"""seconds that a process may take to end"""
LAST_WORDS = 4000
"""bytes of a worker's output that are kept to explain its death"""


def count_workers(algorithm: Algorithm[Any, Any, Any], wanted: int) -> int:
    return algorithm.count_workers(wanted, available_cores())


def open_source(job: Job) -> Processes:
    return Processes(job)


class Parcel(NamedTuple):
    """Parameters in shared memory: in which segment, and how to read them."""

    segment: int
    facts: Facts
    form: codec.Form


class Processes(Rounds[Any]):
    """Rounds whose workers are processes."""

    def __init__(self, job: Job) -> None:
        if os.name != "posix":
            raise LudusError("the processes runtime needs Linux or macOS; use --runtime threads")
        ahead = job.algorithm.overlap
        # A worker may still read the parameters of the round before while newer ones are written.
        self.published, self.turn = [Segment() for _ in range(1 + ahead)], 0
        numbers = range(job.first, job.first + job.workers)
        self.helpers = [Helper(job, number, self.published, ahead) for number in numbers]
        super().__init__(job, self.helpers, ahead, self._pack)

    def _pack(self, params: Any) -> Parcel:
        self.turn = (self.turn + 1) % len(self.published)
        form, arrays = codec.encode(params)
        return Parcel(self.turn, self.published[self.turn].put(arrays), form)

    def close(self) -> None:
        super().close()
        for segment in self.published:
            segment.close()


class Helper:
    """A worker in another process, as seen from this one."""

    def __init__(self, job: Job, number: int, published: list[Segment], ahead: bool) -> None:
        self.job, self.number, self.published, self.ahead = job, number, published, ahead
        self.restarts, self.deaths, self.time = 0, 0, 0
        self.orders = collections.deque[Message]()
        self.after: Arrays | None = None
        """the state after the unit that was taken last, if the worker has gone on since"""
        self.start()

    def start(self) -> None:
        """Open a process and tell it its job."""
        self.returned, self.last_words = [Segment() for _ in range(1 + self.ahead)], b""
        self.connection, theirs = Pipe()
        shared = [segment.descriptor for segment in (*self.published, *self.returned)]
        command = [sys.executable, "-P", "-m", "ludus.runtimes.transport.child"]
        command += map(str, (os.getpid(), theirs.fileno(), *shared))
        # The worker finds the modules that are found here, and no others. It acts on the CPU: the GPU is the learner's.
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        # A group of its own, so that ^C in the terminal reaches this process alone, which then decides.
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
        order = {"ask": "work", "version": version, **parcel._asdict()}
        self.orders.append(order)
        self._send(order)

    def _send(self, message: Message) -> None:
        with contextlib.suppress(OSError):  # that the worker is gone is noticed when it does not answer
            self.connection.send_bytes(json.dumps(message).encode())

    def take(self) -> Any:
        """The next unit; None if it is lost with its worker. Workers that are ahead make it again."""
        while (answer := self._answer("work")) is None:
            self._replace()
            if not self.ahead:
                self.orders.popleft()
                return None
        self.orders.popleft()
        self.deaths, self.time = 0, answer["time"]
        arrays = self.returned[answer["segment"]].get(answer["facts"])
        if self.ahead:  # the worker goes on while these are used
            arrays = {name: array.copy() for name, array in arrays.items()}
        unit, self.after = codec.decode(answer["form"], arrays)
        return unit

    def _answer(self, what: str) -> Message | None:
        """The next answer to a question; None if the worker is dead."""
        while True:
            try:
                message: Message = json.loads(self.connection.recv_bytes(LONGEST))
            except (EOFError, OSError):
                return None
            if message["ask"] == "error":
                raise LudusError(message["error"])
            if message["ask"] == what:
                return message

    def _replace(self) -> None:
        """Start another worker with the number of one that died, unless that would not help."""
        self.deaths, self.restarts = self.deaths + 1, self.restarts + 1
        story = f"worker {self.number} {self.epitaph()}"
        self.stop()
        if self.deaths >= MOST_DEATHS:
            last = [f"{story}, {self.deaths} times in a row; the end of what it printed:", *self.last_lines(8)]
            raise LudusError("\n".join(last))
        print(f"ludus: {story}; its unfinished unit is lost, and another takes its place", file=sys.stderr)
        self.time += 0 if self.ahead else self.job.steps  # schedules go on as if the lost unit had been made
        self.start()
        for order in list(self.orders)[0 if self.ahead else 1 :]:
            self._send(order)

    def _read_output(self) -> None:
        """Pass on what the worker prints, and keep the end of it."""
        assert self.process.stdout
        with contextlib.suppress(OSError, ValueError):
            while heard := self.process.stdout.read(LAST_WORDS):
                self.last_words = (self.last_words + heard)[-LAST_WORDS:]
                sys.stderr.write(heard.decode(errors="replace"))
                sys.stderr.flush()

    def epitaph(self) -> str:
        """How it ended."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return "sends messages that cannot be read"
        self.reader.join(PATIENCE)
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}" + "".join(f" ({line})" for line in self.last_lines(1))

    def last_lines(self, count: int) -> list[str]:
        """The end of what it printed."""
        return [line for line in self.last_words.decode(errors="replace").split("\n") if line.strip()][-count:]

    def state(self) -> Arrays:
        """The state of a worker that has died since its last unit is the time alone: its games are opened anew."""
        if self.after is not None:
            return self.after
        self._send({"ask": "state"})
        if (answer := self._answer("state")) is None:
            return {"time": np.array([self.time], np.int64)}
        arrays = self.returned[0].get(answer["facts"])
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.time, self.after = int(state["time"][0]), None
        self._send({"ask": "restore", "facts": self.returned[0].put(state)})
        if self._answer("restore") is None:
            self._replace()
            self.restore(state)

    def stop(self) -> None:
        """End the process and free all that was held for it."""
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.reader.join(PATIENCE)
        if self.process.stdout:
            self.process.stdout.close()
        for segment in self.returned:
            segment.close()

    def close(self) -> None:
        self.stop()
