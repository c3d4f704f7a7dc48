"""The HTTP server of `ludus balatro emulate`: BalatroBot's interface with our engine behind it.

Unlike the mod, it keeps connections open, which makes it about twice as fast, and answers several in turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable
from typing import cast

import httptools

from ludus.bridges.balatrobot import protocol
from ludus.bridges.balatrobot.emulator import Emulator
from ludus.bridges.balatrobot.protocol import BAD_REQUEST, MOST_BYTES
from ludus.server.access import Refused, Rules, check_host, check_origin

MOST_CONNECTIONS, MOST_HEADERS = 64, 16_384
"""connections at a time, and bytes of the request line and the headers"""
SLOWEST_REQUEST, IDLE = 30.0, 600.0
"""seconds in which a request must arrive, and seconds after which an unused connection is closed"""
REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed"}


class Listener:
    """What the connections share: the emulator and the rules of access."""

    def __init__(self, emulator: Emulator, host: str = "") -> None:
        self.emulator, self.rules = emulator, Rules(host=host)
        self.connections: set[Connection] = set()
        self.hosts: set[str] = set()
        """values of Host that have been checked"""


class Connection(asyncio.Protocol):
    """One connection; its requests are answered in order."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        """Forget the last request."""
        self._url, self._body, self._received = b"", bytearray(), 0
        self._headers: dict[str, str] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are not subclasses of it
        if len(self._listener.connections) >= MOST_CONNECTIONS:
            self.close()
            return
        self._listener.connections.add(self)
        self._wait(IDLE)

    def connection_lost(self, error: Exception | None) -> None:
        self._listener.connections.discard(self)
        if self._timer:
            self._timer.cancel()

    def _wait(self, seconds: float) -> None:
        """Close the connection if nothing has been completed after this time."""
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.close)

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def pause_writing(self) -> None:
        """Read no more requests of a client that does not read its answers."""
        if self._transport:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport:
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._received == 0:
            self._wait(SLOWEST_REQUEST)
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, "this server has no other protocol than HTTP")
        except httptools.HttpParserError:
            self._refuse(400, "this is not an HTTP request")
        if self._received > MOST_BYTES + MOST_HEADERS:
            self._too_large()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._headers.get("expect", "").lower() == "100-continue" and self._transport:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) > MOST_BYTES:
            self._too_large()

    def on_message_complete(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        status, refused = self._checked()
        if refused:
            self._refuse(status, refused)
        else:
            self._send(200, self._listener.emulator.answer(bytes(self._body)), self._parser.should_keep_alive())
        self._begin()
        self._wait(IDLE)

    def _checked(self) -> tuple[int, str]:
        """The status and the reason of a request that is refused before it reaches the emulator, else 200 and ""."""
        path = self._url.partition(b"?")[0]
        if path != b"/":
            return 404, "not found: there is only the path /"
        if self._parser.get_method() != b"POST":
            return 405, "method not allowed: send requests by POST"
        host = self._headers.get("host", "")
        try:
            if host not in self._listener.hosts:
                check_host(host, self._listener.rules)
                if len(self._listener.hosts) < MOST_CONNECTIONS:
                    self._listener.hosts.add(host)
            check_origin(self._headers)
        except Refused as refused:
            return 403, refused.sentence
        return 200, ""

    def _too_large(self) -> None:
        self._refuse(400, f"a request has at most {MOST_BYTES:,} bytes")

    def _refuse(self, status: int, why: str) -> None:
        """Answer with an error of JSON-RPC and close the connection."""
        if self._transport and not self._transport.is_closing():
            answer = protocol.error(BAD_REQUEST, why, None)
            self._send(status, protocol.encoded(answer), keep=False)

    def _send(self, status: int, body: bytes, keep: bool) -> None:
        assert self._transport is not None
        kept = "keep-alive" if keep else "close"
        head = (
            f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: {kept}\r\n\r\n"
        )
        self._transport.write(head.encode() + body)
        if not keep:
            self._transport.close()


async def run(emulator: Emulator, listening: socket.socket, host: str = "") -> None:
    """Serve until SIGTERM or Ctrl-C."""
    loop, listener, ended = asyncio.get_running_loop(), Listener(emulator, host), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # on Windows, Ctrl-C raises KeyboardInterrupt
            loop.add_signal_handler(number, ended.set)
    listening.setblocking(False)
    server = await loop.create_server(lambda: Connection(listener), sock=listening)
    await ended.wait()
    server.close()
    for connection in list(listener.connections):
        connection.close()


def serve(emulator: Emulator, listening: socket.socket, host: str = "") -> None:
    """Serve in this thread until SIGTERM or Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=_loop()) as runner:
        runner.run(run(emulator, listening, host))


def _loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop, which Windows does not have."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
