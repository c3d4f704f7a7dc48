"""A worker for each core, in processes: what threads do, for games that are stepped in Python and hold its lock.

Every worker learns into a copy of the table in memory that it shares with this process, and the copies are merged. A
worker that dies loses its unfinished chunk and nothing else: another takes its number.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from ludus.agents.table import Table
from ludus.algorithms.tabular import Learned
from ludus.runtimes.job import Job
from ludus.runtimes.process_worker import LONGEST, Message
from ludus.runtimes.shared import Facts, Segment, table_arrays, table_over
from ludus.types import Array, LudusError

MOST_DEATHS = 3
"""of one worker, in a row, without a finished chunk between them"""
PATIENCE = 5.0
"""seconds for a process that is ending to be gone"""
LAST_WORDS = 4000
"""bytes of a worker's stderr that are kept to explain its death"""


class Helper:
    """A worker in another process, as it is seen from here."""

    def __init__(self, job: Job, number: int, merged: Segment) -> None:
        self.job, self.number, self.merged = job, number, merged
        self.restarts, self.deaths, self.time = 0, 0, 0
        self.start()

    def start(self) -> None:
        """Open a process, and tell it what it is."""
        self.segment, self.mapping = Segment(), Facts()
        self.owes, self.last_words = False, b""
        self.connection, theirs = Pipe()
        descriptors = (theirs.fileno(), self.merged.descriptor, self.segment.descriptor)
        command = [sys.executable, "-P", "-m", "ludus.runtimes.process_worker"]
        command += map(str, (os.getpid(), *descriptors))
        # The worker finds the modules that are found here, and no others.
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        # A group of its own, so that ^C in the terminal reaches this process alone, which then decides.
        self.process = subprocess.Popen(
            command, pass_fds=descriptors, process_group=0, env={**os.environ, "PYTHONPATH": path}, bufsize=0,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        theirs.close()
        self.ear = threading.Thread(target=self._overhear, daemon=True)
        self.ear.start()
        self._send({"job": self.job.to_json(), "number": self.number, "restarts": self.restarts, "time": self.time})

    def ask(self, what: str, **more: Any) -> None:
        """Give an order; a worker that is gone is noticed when it does not answer."""
        self._send({"ask": what, "mapping": self.mapping, **more})
        self.mapping, self.owes = [], self.owes or what == "work"

    def _send(self, message: Message) -> None:
        with contextlib.suppress(OSError):
            self.connection.send_bytes(json.dumps(message).encode())

    def hear(self) -> Message | None:
        """What it says; None if it is dead."""
        try:
            message: Message = json.loads(self.connection.recv_bytes(LONGEST))
        except (EOFError, OSError):
            return None
        if message["ask"] == "work":
            self.owes, self.deaths, self.time = False, 0, message["time"]
        return message

    def _overhear(self) -> None:
        """Pass on what the worker prints, and remember the end of it."""
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
            return "says nothing sensible any more"
        self.ear.join(PATIENCE)
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}" + "".join(f" ({line})" for line in self.last_lines(1))

    def last_lines(self, count: int) -> list[str]:
        """The end of what it printed."""
        return [line for line in self.last_words.decode(errors="replace").split("\n") if line.strip()][-count:]

    def stop(self) -> None:
        """End the process, whatever it does, and give back all that was held for it."""
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.ear.join(PATIENCE)
        if self.process.stdout:
            self.process.stdout.close()
        self.segment.close()


class Processes:
    """A source of tables that learned side by side, each in a process."""

    def __init__(self, job: Job) -> None:
        if os.name != "posix":
            raise LudusError("the processes runtime needs Linux or macOS; use --runtime threads")
        self.job, self.version = job, 0
        self.table: Table | None = None
        self.failure: LudusError | None = None
        self.merged, self.facts = Segment(), Facts()
        self.helpers = [Helper(job, number, self.merged) for number in range(job.workers)]
        self.taught: list[Helper] = []
        self.mappings: list[Array] = []

    def __iter__(self) -> Iterator[Learned]:
        while True:
            learned = self._round()
            if learned.tables:
                yield learned
            if self.failure:
                raise self.failure

    def _round(self) -> Learned:
        assert self.table is not None, "publish a table before the workers begin"
        count, actions = self.table.count, self.table.actions
        for helper in self.helpers:
            if not helper.owes:
                helper.ask("work", steps=self.job.steps, table=self.facts, count=count, actions=actions)
        answers = self._collect("work", list(self.helpers))
        self.taught, self.mappings = list(answers), []
        tables = [table_over(self.table, helper.segment.get(said["table"])) for helper, said in answers.items()]
        tallies = [np.array(said["tally"]) for said in answers.values()]
        return Learned(tables, tallies, self.version, self.mappings)

    def _collect(self, what: str, helpers: list[Helper]) -> dict[Helper, Message]:
        """The answers of all who live to give one, in the order of their numbers."""
        waiting = {helper.connection: helper for helper in helpers}
        answers: dict[Helper, Message] = {}
        while waiting:
            for connection in wait(list(waiting)):
                helper = waiting[connection]  # type: ignore[index]
                said = helper.hear()
                if said is None or said["ask"] == "error":
                    self._replace(helper, said)
                elif said["ask"] == what:
                    answers[helper] = said
                else:
                    continue  # the answer to a question that was broken off
                del waiting[connection]  # type: ignore[arg-type]
        return {helper: answers[helper] for helper in helpers if helper in answers}

    def _replace(self, helper: Helper, said: Message | None) -> None:
        """Another worker takes the number of one that died, unless that would not help."""
        helper.deaths, helper.restarts = helper.deaths + 1, helper.restarts + 1
        story = f"worker {helper.number} {helper.epitaph()}"
        helper.stop()
        if said is None and helper.deaths < MOST_DEATHS:
            print(f"ludus: {story}; its unfinished chunk is lost, and another takes its place", file=sys.stderr)
            helper.time = max(other.time for other in self.helpers)
            helper.start()
            return
        self.helpers.remove(helper)
        last = [f"{story}, {helper.deaths} times in a row; the end of what it printed:", *helper.last_lines(8)]
        self.failure = LudusError("\n".join(last) if said is None else said["error"])

    def publish(self, params: Table, version: int) -> None:
        for helper in self.helpers:
            if helper.owes:  # a round was broken off, and this worker began with a table that is no more
                helper.stop()
                helper.start()
        self.table, self.version = params, version
        self.facts = self.merged.put(table_arrays(params))
        for helper, mapping in zip(self.taught, self.mappings, strict=False):
            if params.hashed:
                helper.mapping = helper.segment.put({"mapping": mapping})
        self.taught = []

    def state(self) -> dict[str, dict[str, Array]]:
        """Of every worker that is not in the middle of a chunk; where one is missing, its games are opened anew."""
        idle = [helper for helper in self.helpers if not helper.owes]
        for helper in idle:
            helper.ask("state")
        answers = self._collect("state", idle)
        return {
            f"worker_{helper.number}": {name: array.copy() for name, array in helper.segment.get(said["state"]).items()}
            for helper, said in answers.items()
        }

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        latest = max(int(parts["time"][0]) for parts in state.values())
        for helper in self.helpers:
            helper.time, helper.mapping = latest, []
            helper.ask("restore", time=latest, state=helper.segment.put(state.get(f"worker_{helper.number}", {})))
        self._collect("restore", list(self.helpers))
        if self.failure:
            raise self.failure

    def close(self) -> None:
        while self.helpers:
            self.helpers.pop().stop()
        self.merged.close()


def open_source(job: Job) -> Processes:
    return Processes(job)
