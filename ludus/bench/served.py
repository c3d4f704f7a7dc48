"""A `ludus serve` process for benchmarks, and a client that sees exactly what comes back for any bytes."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

from ludus.types import JsonObject, LudusError

START = 300.0
"""seconds that a server may take to be ready, for a machine that compiles for the first time"""
PATIENCE = 30.0
"""seconds to wait for an answer; the server itself gives up after 10"""
Headers = Sequence[tuple[str, str]]
JSON_TYPE: Headers = (("Content-Type", "application/json"),)


class Server:
    """`ludus serve` on a free port; a context."""

    def __init__(self, log: pathlib.Path, *words: str) -> None:
        self.log, self._words = log, words
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> float:
        """Start, or start again after `kill`; the seconds until it is ready."""
        begin = time.perf_counter()
        command = [sys.executable, "-m", "ludus.cli", "serve", *self._words, "--port", "0", "--json"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise LudusError(f"the server has not started: {self.log.read_text()[-500:]}")
        self.port = int(json.loads(line)["server"].rstrip("/").rpartition(":")[2])
        try:
            self._wait(begin + START)
        except BaseException:
            self.kill()
            raise
        return time.perf_counter() - begin

    def _wait(self, deadline: float) -> None:
        while time.perf_counter() < deadline:
            if self.process is None or self.process.poll() is not None:
                raise LudusError(f"the server has ended: {self.log.read_text()[-500:]}")
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise LudusError(f"the server was not ready after {START:g} s: {self.log.read_text()[-500:]}")

    def stop(self) -> None:
        """Let it end by itself."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        self._close()

    def kill(self) -> None:
        """End it as `kill -9` does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self) -> None:
        if self.process is not None and self.process.stdout is not None:
            self.process.stdout.close()

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), dict(JSON_TYPE))
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        is_json = "json" in (answer.headers["content-type"] or "")
        return answer.status, json.loads(content) if is_json else content

    def get(self, path: str) -> Any:
        """JSON that must be there."""
        return self._expect(200, "GET", path, None)

    def open_session(self, model: str, seed: int = 0) -> str:
        """The id of a new session."""
        return str(self._expect(201, "POST", "/v1/sessions", {"model": model, "seed": seed})["id"])

    def schema(self, model: str) -> JsonObject:
        """The JSON Schema of the observation of a model."""
        found: JsonObject = self.get(f"/v1/models/{model}")["observation"]
        return found

    def _expect(self, wanted: int, method: str, path: str, body: object) -> Any:
        status, found = self.call(method, path, body)
        if status != wanted:
            raise LudusError(f"{method} {path} was answered {status} instead of {wanted}: {str(found)[:300]}")
        return found

    def resident(self) -> int:
        """Bytes of memory in use."""
        assert self.process is not None
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def workers(self) -> list[int]:
        """The processes of `--workers`."""
        assert self.process is not None
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(one) for one in children if b"spawn_main" in pathlib.Path(f"/proc/{one}/cmdline").read_bytes()]

    def logged(self) -> list[str]:
        """Errors in the log; warnings, as of requests that are not HTTP, are none."""
        lines = self.log.read_text(errors="replace").split("\n")
        return [line for line in lines if line and ('"level":"error"' in line or not line.startswith("{"))]


@contextlib.contextmanager
def served(*words: str) -> Iterator[Server]:
    """A server whose log is in a temporary folder."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ludus-bench-"))
        yield stack.enter_context(Server(pathlib.Path(folder) / "log", *words))


def observation(schema: JsonObject, dice: random.Random | None = None) -> JsonObject:
    """An observation with this JSON Schema: random, or the values nearest to 0."""
    return {name: _value(part, dice) for name, part in schema["properties"].items()}


def _value(schema: JsonObject, dice: random.Random | None) -> Any:
    if schema["type"] == "array":
        return [_value(schema["items"], dice) for _ in range(schema["minItems"])]
    low, high = schema.get("minimum", -1), schema.get("maximum", 1)
    if dice is None:
        return max(low, min(high, 0))
    return dice.randint(low, high) if schema["type"] == "integer" else dice.uniform(max(low, -1), min(high, 1))


class Reply(NamedTuple):
    """An answer."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """One connection that sends any bytes; it connects again after the server has closed it.

    `send` raises ConnectionError if the server closes the connection without an answer, and TimeoutError if it neither
    answers nor closes.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: bytes = b"", headers: Headers = JSON_TYPE) -> Reply:
        """The answer to a request with a correct length."""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers)]
        head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
        return await self.send(head.encode("latin-1") + body, method)

    async def send(self, data: bytes, method: str = "", last: bool = False) -> Reply:
        """The answer to these bytes; `last` tells the server that no more will follow."""
        try:
            async with asyncio.timeout(PATIENCE):
                reader, writer = await self._connected()
                writer.write(data)
                if last:
                    writer.write_eof()
                reply, stays = await _read(reader, method)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            await self.close()
            if isinstance(error, TimeoutError):
                raise
            raise ConnectionError(f"closed without an answer: {error}") from None
        if last or not stays:
            await self.close()
        return reply

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None or self._streams[0].at_eof():
            await self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        return self._streams


async def _read(reader: asyncio.StreamReader, method: str) -> tuple[Reply, bool]:
    """One answer, and whether the connection can be used again."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head[9:12])
    if status == 100:
        return await _read(reader, method)
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2] if b": " in line)
    stays = status != 101 and fields.get(b"connection") != b"close"
    if method == "HEAD" or status in (101, 204, 304):
        return Reply(status, b""), stays
    if b"content-length" in fields:
        return Reply(status, await reader.readexactly(int(fields[b"content-length"]))), stays
    if fields.get(b"transfer-encoding") == b"chunked":
        return Reply(status, await reader.readuntil(b"0\r\n\r\n")), stays
    return Reply(status, await reader.read()), False
