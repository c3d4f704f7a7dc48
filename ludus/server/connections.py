"""HTTP connections that are bounded in number, size and time, which uvicorn leaves to a proxy."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_CONNECTIONS, LONGEST_HEAD = 4096, 64 * 2**10
"""connections of one process; bytes of a request before its body"""
SLOWEST_HEAD = 20.0
"""seconds between two looks at a connection; one that is still waiting for the rest of a head is closed"""


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections that send endless or incomplete heads.

    It inherits because uvicorn is extended by a class.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head = 0
        self._timer = self.loop.call_later(SLOWEST_HEAD, self._look, None, -1)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()

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

    def _look(self, before: RequestResponseCycle | None, head: int) -> None:
        """Close the connection if it has waited for the same head since the last look."""
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.timeout_keep_alive_task is None and self.cycle is before and head >= 0:
            self.transport.close()
            return
        waiting = 0 if idle and self.timeout_keep_alive_task is None else -1
        self._timer = self.loop.call_later(SLOWEST_HEAD, self._look, self.cycle, waiting)
