"""HTTP connections that are bounded in number, size and time, which uvicorn leaves to a proxy."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_CONNECTIONS, LONGEST_HEAD = 4096, 64 * 2**10
"""connections of one process; bytes of a request before its body"""
SLOWEST = 20.0
"""seconds between two looks at a connection; one that still waits for the rest of a request is closed"""


class Joined:
    """A transport that sends everything written in one turn of the event loop at once.

    uvicorn writes the head and the body of an answer separately, which would cost a system call and a packet more.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._waiting = transport, loop, list[bytes]()

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self.flush)
        self._waiting.append(data)

    def flush(self) -> None:
        if self._waiting:
            self._transport.write(b"".join(self._waiting))
            self._waiting.clear()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections that send endless heads or incomplete requests.

    It inherits because uvicorn is extended by a class.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(Joined(transport, self.loop))  # type: ignore[arg-type]
        self._head = 0
        self._timer = self.loop.call_later(SLOWEST, self._look, None, False)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()

    def handle_websocket_upgrade(self) -> None:
        self._timer.cancel()  # a WebSocket has its own protocol, with other limits
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head > LONGEST_HEAD:
            self.transport.close()
            return
        if self.cycle is None or self.cycle.response_complete:
            self._head += len(data)
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._head = 0
        super().on_headers_complete()

    def _look(self, before: RequestResponseCycle | None, waited: bool) -> None:
        """Close the connection if it has waited for the rest of the same request since the last look."""
        idle = self.cycle is None or self.cycle.response_complete
        waits = self.timeout_keep_alive_task is None if idle else self.cycle.more_body
        if waits and waited and self.cycle is before:
            self.transport.close()
            return
        self._timer = self.loop.call_later(SLOWEST, self._look, self.cycle, waits)
