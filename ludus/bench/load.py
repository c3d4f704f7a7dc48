"""The load of `ludus bench serve`, in a process of its own: it reads a Job from its input and writes a Report.

Requests are encoded before the clock starts; only their index changes, and it always takes the same number of bytes.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

import msgspec

from ludus.types import JsonObject, LudusError

TICK = 0.001
"""seconds between two looks for requests that are due, in an open loop"""
LONGEST = 60.0
"""seconds to wait for the last answers"""


class Target(msgspec.Struct, frozen=True):
    """A session with a connection of its own; the bytes of its requests before and after the index."""

    before: bytes
    after: bytes
    index: int = 0


class Job(msgspec.Struct, frozen=True):
    """What to send."""

    port: int
    packed: bool
    targets: list[Target]
    seconds: float
    warm: float = 0.5
    """seconds at the beginning that are not measured"""
    rate: float = 0.0
    """requests/s, whether they are answered or not (open loop); 0: each session sends when it has its answer"""


class Report(msgspec.Struct, frozen=True):
    """What came back in the measured time."""

    rate: float
    """answers with status 200 per second"""
    p50: float
    p99: float
    """seconds from the time when a request was due to its answer"""
    refused: dict[str, int]
    """other answers by their status"""
    degraded: int
    busy: float
    """the share of the time for which this process used a core"""
    indices: list[int]
    """the next index of each session"""


def target(session: str, observation: JsonObject, mask: Sequence[int] | None, packed: bool, index: int = 0) -> Target:
    """The requests of one session."""
    shown: JsonObject = {"observation": observation} | ({} if mask is None else {"mask": list(mask)})
    if packed:
        kind, after = "msgpack", b""
        body = msgspec.msgpack.encode(shown | {"index": 2**32 - 1})[:-4]
    else:
        kind, after = "json", b"}"
        body = msgspec.json.encode(shown)[:-1] + b',"index":'
    size = len(body) + len(_number(0, packed)) + len(after)
    head = (
        f"POST /v1/sessions/{session}/act HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/{kind}\r\n"
        f"Content-Length: {size}\r\n\r\n"
    )
    return Target(head.encode() + body, after, index)


def run(job: Job) -> Report:
    """Send the requests from a second process."""
    command = [sys.executable, "-m", "ludus.bench.load"]
    limit = job.warm + job.seconds + LONGEST + 30
    found = subprocess.run(command, input=msgspec.msgpack.encode(job), capture_output=True, timeout=limit)
    if found.returncode:
        raise LudusError(f"the load generator has failed: {found.stderr.decode(errors='replace')[-500:]}")
    return msgspec.msgpack.decode(found.stdout, type=Report)


def _number(index: int, packed: bool) -> bytes:
    return index.to_bytes(4, "big") if packed else b"%10d" % index


class Connection(asyncio.Protocol):
    """A session: at most one request is on its way, others wait until it is answered."""

    def __init__(self, target: Target, packed: bool, answered: Callable[[Connection, float, bytes], None]) -> None:
        self._target, self._packed, self._answered = target, packed, answered
        self.index, self._rest, self._due = target.index, b"", deque[float]()
        self.transport: asyncio.Transport | None = None
        self.lost = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True

    @property
    def waiting(self) -> bool:
        """Whether an answer is expected."""
        return bool(self._due)

    def request(self, due: float) -> None:
        """Send the next request, now or after the answer to the present one."""
        self._due.append(due)
        if len(self._due) == 1:
            self._send()

    def _send(self) -> None:
        assert self.transport is not None
        number = _number(self.index, self._packed)
        self.transport.write(b"".join((self._target.before, number, self._target.after)))

    def data_received(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        end = data.find(b"\r\n\r\n")
        start = data.find(b"content-length: ", 0, end) + 16
        if end < 0 or len(data) < end + 4 + int(data[start : data.index(b"\r", start)]):
            self._rest = data
            return
        self._rest = b""
        due = self._due.popleft()
        if data[9:12] == b"200":
            self.index += 1
        if self._due:
            self._send()
        self._answered(self, due, data)


class Counts:
    """What has been answered since `start`."""

    def __init__(self) -> None:
        self.start = self.end = self.cpu = 0.0
        self.seconds: list[float] = []
        self.refused: Counter[str] = Counter()
        self.degraded = 0

    def add(self, due: float, now: float, data: bytes) -> None:
        if data[9:12] != b"200":
            self.refused[data[9:12].decode()] += 1
        elif self.start <= now < self.end:
            self.seconds.append(now - due)
        if b'"degraded":true' in data or b"degraded\xc3" in data:
            self.degraded += 1


async def _measure(job: Job) -> Report:
    loop, counts = asyncio.get_running_loop(), Counts()

    def answered(connection: Connection, due: float, data: bytes) -> None:
        now = time.perf_counter()
        counts.add(due, now, data)
        if not job.rate and now < counts.end:
            connection.request(now)

    connections = [Connection(one, job.packed, answered) for one in job.targets]
    for connection in connections:
        await loop.create_connection(lambda made=connection: made, "127.0.0.1", job.port)  # type: ignore[misc]
    begin = time.perf_counter()
    counts.start = begin + job.warm
    counts.end = counts.start + job.seconds
    if job.rate:
        loop.create_task(_open_loop(job.rate, connections, begin, counts.end))
    else:
        for connection in connections:
            connection.request(begin)
    await asyncio.sleep(job.warm)
    cpu = time.process_time()
    await asyncio.sleep(job.seconds)
    busy = (time.process_time() - cpu) / job.seconds
    while any(one.waiting and not one.lost for one in connections) and time.perf_counter() < counts.end + LONGEST:
        await asyncio.sleep(0.01)
    if any(one.waiting for one in connections):
        counts.refused["unanswered"] += sum(one.waiting for one in connections)
    return _report(job, counts, busy, [one.index for one in connections])


async def _open_loop(rate: float, connections: list[Connection], begin: float, end: float) -> None:
    """Send request number n at n / rate, by one session after the other."""
    sent = 0
    while (now := time.perf_counter()) < end:
        while begin + sent / rate <= now:
            connections[sent % len(connections)].request(begin + sent / rate)
            sent += 1
        await asyncio.sleep(min(TICK, max(0.0, begin + sent / rate - time.perf_counter())))


def _report(job: Job, counts: Counts, busy: float, indices: list[int]) -> Report:
    ordered = sorted(counts.seconds) or [float("inf")]
    p50, p99 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99))
    rate = len(counts.seconds) / job.seconds
    return Report(rate, p50, p99, dict(counts.refused), counts.degraded, busy, indices)


def main() -> None:
    import uvloop

    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Job)
    sys.stdout.buffer.write(msgspec.msgpack.encode(uvloop.run(_measure(job))))


if __name__ == "__main__":
    main()
