"""`kill -9` of servers under load: no acknowledged step is lost, and answers are those of an undisturbed run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ludus.bench import Result
from ludus.bench.served import PATIENCE, Caller, Server, observation, served
from ludus.types import JsonObject, LudusError

MODEL, AGENT = "net", "recall:trained"
"""an agent with a memory, whose answers tell every earlier step"""
SESSIONS = 16
LOADED = (0.1, 0.5)
"""the least and the most seconds under load before a server is killed"""
WORKER_KILLS = 4
"""one of two workers is killed for every four times that a whole server is"""
TOLERANCE = 1e-4
"""of probabilities and values: batches of different sizes are computed by different programs"""


@dataclass
class Played:
    """A session as its client knows it."""

    number: int
    id: str
    answers: list[JsonObject] = field(default_factory=list)
    """all that was acknowledged"""


@dataclass
class Tally:
    """What went wrong."""

    lost: int = 0
    different: int = 0
    refused: int = 0


def measure(kills: int) -> Iterator[Result]:
    """A server with SQLite, and one of two workers with Redis."""
    with tempfile.TemporaryDirectory(prefix="ludus-bench-") as name:
        folder = pathlib.Path(name)
        yield from _results("sqlite", kills, *_sqlite(folder, kills))
        if shutil.which("redis-server") is None:
            raise LudusError("redis-server is missing; install it: apt-get install redis-server")
        number = -(-kills // WORKER_KILLS)
        yield from _results("redis", number, *_redis(folder, number))


def _results(store: str, kills: int, played: list[Played], tally: Tally) -> Iterator[Result]:
    _compare(played, tally)
    name = f"serve/kill/{store}"
    yield Result(f"{name}/kills", kills, "times")
    yield Result(f"{name}/acknowledged", sum(len(one.answers) for one in played), "steps")
    yield Result(f"{name}/lost", tally.lost, "steps")
    yield Result(f"{name}/different", tally.different, "answers")
    yield Result(f"{name}/refused", tally.refused, "answers")


def _sqlite(folder: pathlib.Path, kills: int) -> tuple[list[Played], Tally]:
    """Kill the server, start it again, and go on, again and again."""
    tally, dice = Tally(), random.Random(0)
    store = ("--store", f"sqlite:{folder / 'sessions.db'}")
    with Server(folder / "sqlite.log", f"{MODEL}={AGENT}", *store) as server:
        schema, played = server.schema(MODEL), _open(server)
        for _ in range(kills):
            asyncio.run(_load(server, played, schema, tally, dice.uniform(*LOADED), server.kill))
            server.start()
            _check_indices(server, played, schema, tally)
    return played, tally


def _redis(folder: pathlib.Path, kills: int) -> tuple[list[Played], Tally]:
    """Kill one of two workers; the other one goes on, until it is started again."""
    tally, dice = Tally(), random.Random(1)
    with _redis_server(folder) as address:
        words = ("--workers", "2", "--store", address)
        with Server(folder / "redis.log", f"{MODEL}={AGENT}", *words) as server:
            _until_ready(server, 2)
            schema, played = server.schema(MODEL), _open(server)
            for killed in range(kills):
                _until_ready(server, 2 + killed)
                victim = dice.choice(server.workers())

                def kill(pid: int = victim) -> None:
                    os.kill(pid, signal.SIGKILL)

                asyncio.run(_load(server, played, schema, tally, dice.uniform(*LOADED), kill, 1.0))
                _check_indices(server, played, schema, tally)
    return played, tally


def _open(server: Server) -> list[Played]:
    return [Played(number, server.open_session(MODEL, number)) for number in range(SESSIONS)]


def _until_ready(server: Server, starts: int) -> None:
    """Wait until both workers are ready, after so many starts of workers."""
    deadline = time.monotonic() + 2 * PATIENCE
    while len(server.workers()) != 2 or server.log.read_text().count('"event":"ready"') < starts:
        if time.monotonic() > deadline:
            raise LudusError("a worker that was killed is not ready again")
        time.sleep(0.02)


async def _load(
    server: Server, played: list[Played], schema: JsonObject, tally: Tally, seconds: float, kill: Any, more: float = 0.0
) -> None:
    """Play all sessions until the server has been killed, or `more` seconds longer."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(_play(server, one, schema, tally, stop)) for one in played]
    await asyncio.sleep(seconds)
    kill()
    await asyncio.sleep(more)
    stop.set()
    await asyncio.gather(*tasks)


async def _play(server: Server, played: Played, schema: JsonObject, tally: Tally, stop: asyncio.Event) -> None:
    caller = Caller(server.port)
    while not stop.is_set():
        try:
            reply = await caller.call("POST", f"/v1/sessions/{played.id}/act", _request(played, schema))
        except ConnectionError:
            await asyncio.sleep(0.02)  # the answer is lost: the same request again
            continue
        if reply.status == 200:
            played.answers.append(reply.json())
        elif reply.status != 503:
            tally.refused += 1
            break
    await caller.close()


def _request(played: Played, schema: JsonObject, index: int | None = None) -> bytes:
    """The next request of a session, or another one: the same in every run."""
    at = len(played.answers) if index is None else index
    shown = observation(schema, random.Random(f"{played.number} {at}"))
    return json.dumps({"index": at, "observation": shown}).encode()


def _check_indices(server: Server, played: list[Played], schema: JsonObject, tally: Tally) -> None:
    """After all acknowledged steps, at most one may be stored whose answer was lost; the last answer is repeated."""
    for one in played:
        status, found = server.call("GET", f"/v1/sessions/{one.id}")
        steps = len(one.answers)
        if status != 200:
            tally.lost += steps
        elif found["index"] not in (steps, steps + 1):
            tally.lost += max(1, steps - found["index"])
        elif found["index"] == steps > 0:
            body = json.loads(_request(one, schema, steps - 1))
            again = server.call("POST", f"/v1/sessions/{one.id}/act", body)
            tally.different += again != (200, one.answers[-1])


def _compare(played: list[Played], tally: Tally) -> None:
    """Count the answers that differ from those of a server that nobody disturbs."""
    with served(f"{MODEL}={AGENT}") as server:
        schema, fresh = server.schema(MODEL), _open(server)
        asyncio.run(_replay(server, played, fresh, schema))
    for one, other in zip(played, fresh, strict=True):
        pairs = zip(one.answers, other.answers, strict=True)
        tally.different += sum(not same(mine, theirs) for mine, theirs in pairs)


async def _replay(server: Server, played: list[Played], fresh: list[Played], schema: JsonObject) -> None:
    async def replay(one: Played, other: Played) -> None:
        caller = Caller(server.port)
        for _ in one.answers:
            reply = await caller.call("POST", f"/v1/sessions/{other.id}/act", _request(other, schema))
            other.answers.append(reply.json())
        await caller.close()

    await asyncio.gather(*[replay(*pair) for pair in zip(played, fresh, strict=True)])


def same(one: Any, other: Any) -> bool:
    """Whether two answers agree, numbers up to the tolerance; actions may differ only if they are equally probable."""
    if isinstance(one, dict) and isinstance(other, dict):
        tied = "probabilities" in one and _tied(one, other)
        names = [name for name in one if not (tied and name in ("action", "name"))]
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) <= TOLERANCE * max(1.0, abs(one))
    return bool(one == other)


def _tied(one: JsonObject, other: JsonObject) -> bool:
    """Whether rounding decides between the actions of two answers."""
    actions, probabilities = (one["action"], other.get("action")), one["probabilities"]
    if not probabilities or not all(isinstance(action, int) for action in actions):
        return False
    first, second = (probabilities[action] for action in actions)
    return abs(first - second) <= TOLERANCE


@contextlib.contextmanager
def _redis_server(folder: pathlib.Path) -> Iterator[str]:
    """The address of a Redis of its own, which keeps nothing."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise LudusError("redis-server has not started")
            time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()
