"""A worker in a process of its own: `python -m ludus.runtimes.process_worker`, started by `processes.py`.

It answers one request after the other. Tables and states lie in shared memory; what is said about them goes through a
pipe. When the pipe closes, the parent is gone, and so is the worker, whatever it is doing.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from ludus.agents.table import Table
from ludus.runtimes.job import Job
from ludus.runtimes.shared import Facts, Segment, compiling_alone, table_arrays, table_over
from ludus.types import LudusError

LONGEST = 2**20
"""bytes of a message"""
Message = dict[str, Any]


class Bench:
    """A worker, the table that all begin with, and the segment where it learns and answers."""

    def __init__(self, job: Job, order: Mapping[str, Any], merged: Segment, mine: Segment) -> None:
        self.job, self.merged, self.mine = job, merged, mine
        self.worker = job.worker(order["number"], order["restarts"])
        self.worker.time = order["time"]

    def work(self, order: Mapping[str, Any]) -> Message:
        """Learn into a copy of the merged table, which is left in the segment."""
        like = Table(order["count"], order["actions"], self.job.algorithm.extra, 1)
        facts = self.mine.put(self.merged.get(order["table"]))
        table = table_over(like, self.mine.get(facts))
        rows = table.rows
        with compiling_alone(self.worker):
            tally = self.worker.work(table, order["steps"])
        if table.rows is not rows:  # a hashed table that has grown is no longer in the segment, except for its size
            table.used = table.used.copy()
            facts = self.mine.put(table_arrays(table))
        return {"table": facts, "tally": tally.tolist(), "time": self.worker.time}

    def remap(self, facts: Facts) -> None:
        self.worker.remap(self.mine.get(facts)["mapping"].copy())

    def state(self, order: Mapping[str, Any]) -> Message:
        return {"state": self.mine.put(self.worker.state())}

    def restore(self, order: Mapping[str, Any]) -> Message:
        state = {name: array.copy() for name, array in self.mine.get(order["state"]).items()}
        if state:
            self.worker.restore(state)
        self.worker.time = order["time"]
        return {}

    def answer(self, order: Mapping[str, Any]) -> Message:
        """Do as told; where rows are now comes before all else."""
        if order["mapping"]:
            self.remap(order["mapping"])
        kinds: dict[str, Callable[[Mapping[str, Any]], Message]]
        kinds = {"work": self.work, "state": self.state, "restore": self.restore}
        return kinds[order["ask"]](order)


def listen(connection: Connection, parent: int, orders: queue.SimpleQueue[Message]) -> None:
    """Hear orders, and end this process as soon as nobody can give any more."""
    try:
        while True:
            while not connection.poll(1.0):
                if os.getppid() != parent:
                    os._exit(1)
            orders.put(json.loads(connection.recv_bytes(LONGEST)))
    except (EOFError, OSError):
        os._exit(1)


def main() -> None:
    """Serve the parent whose id, and whose pipe and segments, are the arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, *descriptors = map(int, sys.argv[1:])
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    connection, merged, mine = Connection(descriptors[0]), Segment(descriptors[1]), Segment(descriptors[2])
    orders: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(connection, parent, orders), daemon=True).start()
    try:
        first = orders.get()
        bench = Bench(Job.from_json(first["job"]), first, merged, mine)
        while True:
            order = orders.get()
            said = {"ask": order["ask"], **bench.answer(order)}
            connection.send_bytes(json.dumps(said).encode())
    except LudusError as error:
        connection.send_bytes(json.dumps({"ask": "error", "error": str(error)}).encode())
        sys.exit(1)


if __name__ == "__main__":
    main()
