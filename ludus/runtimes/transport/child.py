"""A worker in a process of its own: `python -m ludus.runtimes.transport.child`, started by `processes.py`.

It answers one request after the other. Arrays are in shared memory; messages about them go through a pipe. When the
pipe closes, the parent has exited, and this process exits at once.
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

from ludus.runtimes.transport import codec
from ludus.runtimes.transport.job import Job
from ludus.runtimes.transport.memory import Segment
from ludus.types import JsonObject, LudusError

LONGEST = 2**24
"""bytes of a message"""


class Child:
    """A worker, the segments that hold the parameters, and the segments for its results."""

    def __init__(self, order: JsonObject, segments: list[Segment]) -> None:
        self.ahead = bool(order["ahead"])
        count = 1 + self.ahead
        self.published, self.returned, self.turn = segments[:count], segments[count:], 0
        self.worker = Job.from_json(order["job"]).worker(order["number"], order["restarts"])
        self.worker.time = order["time"]

    def work(self, order: JsonObject) -> JsonObject:
        """Make one unit with the parameters of the order; if the worker works ahead, also return its state after it."""
        arrays = self.published[order["segment"]].get(order["layout"])
        if self.ahead:  # newer parameters are written while these are used
            arrays = {name: array.copy() for name, array in arrays.items()}
        self.worker.publish(codec.decode(order["form"], arrays), order["version"])
        unit = self.worker.work()
        form, made = codec.encode((unit, self.worker.state() if self.ahead else None))
        self.turn = (self.turn + 1) % len(self.returned)
        return {
            "segment": self.turn, "layout": self.returned[self.turn].put(made), "form": form, "time": self.worker.time
        }  # fmt: skip

    def state(self, order: JsonObject) -> JsonObject:
        return {"layout": self.returned[0].put(self.worker.state())}

    def restore(self, order: JsonObject) -> JsonObject:
        self.worker.restore({name: array.copy() for name, array in self.returned[0].get(order["layout"]).items()})
        return {}

    def answer(self, order: JsonObject) -> JsonObject:
        methods: Mapping[str, Callable[[JsonObject], JsonObject]]
        methods = {"work": self.work, "state": self.state, "restore": self.restore}
        return methods[order["type"]](order)


def receive_orders(connection: Connection, parent: int, orders: queue.SimpleQueue[JsonObject]) -> None:
    """Receive orders; exit this process as soon as the parent has exited."""
    try:
        while True:
            while not connection.poll(1.0):
                if os.getppid() != parent:
                    os._exit(1)
            orders.put(json.loads(connection.recv_bytes(LONGEST)))
    except (EOFError, OSError):
        os._exit(1)


def main() -> None:
    """Serve the parent; its process id, the pipe and the segments are the command-line arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, *descriptors = map(int, sys.argv[1:])
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    connection, segments = Connection(descriptors[0]), [Segment(descriptor) for descriptor in descriptors[1:]]
    orders: queue.SimpleQueue[JsonObject] = queue.SimpleQueue()
    threading.Thread(target=receive_orders, args=(connection, parent, orders), daemon=True).start()
    try:
        child = Child(orders.get(), segments)
        while True:
            order = orders.get()
            answer = {"type": order["type"], **child.answer(order)}
            connection.send_bytes(json.dumps(answer).encode())
    except LudusError as error:
        connection.send_bytes(json.dumps({"type": "error", "error": str(error)}).encode())
        sys.exit(1)


if __name__ == "__main__":
    main()
