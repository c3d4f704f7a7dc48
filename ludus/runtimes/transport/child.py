"""A worker in a process of its own: `python -m ludus.runtimes.transport.child`, started by `processes.py`.

It answers one request after the other. Arrays are in shared memory, messages about them go through a pipe. When the
pipe closes, the parent is gone, and this process ends, whatever it is doing.
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

from ludus.runtimes.transport import codec
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.memory import Segment
from ludus.types import LudusError

LONGEST = 2**24
"""bytes of a message"""
Message = dict[str, Any]


class Child:
    """A worker, the segments with the parameters, and those where it leaves its answers."""

    def __init__(self, order: Message, segments: list[Segment]) -> None:
        self.ahead = bool(order["ahead"])
        half = 1 + self.ahead
        self.published, self.returned, self.turn = segments[:half], segments[half:], 0
        self.worker = Job.from_json(order["job"]).worker(order["number"], order["restarts"])
        self.worker.time = order["time"]

    def work(self, order: Message) -> Message:
        """One unit with the parameters of the order; with the state after it if there is no time to ask for that."""
        arrays = self.published[order["segment"]].get(order["facts"])
        if self.ahead:  # newer parameters are written while these are used
            arrays = {name: array.copy() for name, array in arrays.items()}
        self.worker.publish(codec.decode(order["form"], arrays), order["version"])
        unit = self.worker.work()
        form, made = codec.encode((unit, self.worker.state() if self.ahead else None))
        self.turn = (self.turn + 1) % len(self.returned)
        return {
            "segment": self.turn, "facts": self.returned[self.turn].put(made), "form": form, "time": self.worker.time
        }  # fmt: skip

    def state(self, order: Message) -> Message:
        return {"facts": self.returned[0].put(self.worker.state())}

    def restore(self, order: Message) -> Message:
        self.worker.restore({name: array.copy() for name, array in self.returned[0].get(order["facts"]).items()})
        return {}

    def answer(self, order: Message) -> Message:
        kinds: Mapping[str, Callable[[Message], Message]]
        kinds = {"work": self.work, "state": self.state, "restore": self.restore}
        return kinds[order["ask"]](order)


def listen(connection: Connection, parent: int, orders: queue.SimpleQueue[Message]) -> None:
    """Receive orders, and end this process as soon as nobody can give any more."""
    try:
        while True:
            while not connection.poll(1.0):
                if os.getppid() != parent:
                    os._exit(1)
            orders.put(json.loads(connection.recv_bytes(LONGEST)))
    except (EOFError, OSError):
        os._exit(1)


def main() -> None:
    """Serve the parent whose id, pipe and segments are the arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, *descriptors = map(int, sys.argv[1:])
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    connection, segments = Connection(descriptors[0]), [Segment(descriptor) for descriptor in descriptors[1:]]
    orders: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(connection, parent, orders), daemon=True).start()
    try:
        child = Child(orders.get(), segments)
        while True:
            order = orders.get()
            said = {"ask": order["ask"], **child.answer(order)}
            connection.send_bytes(json.dumps(said).encode())
    except LudusError as error:
        connection.send_bytes(json.dumps({"ask": "error", "error": str(error)}).encode())
        sys.exit(1)


if __name__ == "__main__":
    main()
