"""WebSockets: each message is a request, answered by one message, JSON as text or msgpack as bytes.

An error is answered by a problem, and the connection stays open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.websockets import WebSocket, WebSocketDisconnect

from ludus.server.answers import facts, problem_of
from ludus.server.encoding import encode
from ludus.server.front import SUBPROTOCOL
from ludus.server.metrics import Metrics

LARGEST_MESSAGE, MOST_SOCKETS = 2**20, 1000
SLOWEST_READER = 30.0
"""seconds within which a client must receive an answer"""
BUSY = 1013
Handle = Callable[[bytes, bool], Awaitable[object]]
_open: set[int] = set()


async def serve(websocket: WebSocket, handle: Handle, metrics: Metrics) -> None:
    """Answer the messages of one client, one after the other, until it leaves."""
    wanted = [one.strip() for one in websocket.headers.get("sec-websocket-protocol", "").split(",")]
    await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in wanted else None)
    if len(_open) >= MOST_SOCKETS:
        await websocket.close(BUSY, f"{MOST_SOCKETS} sockets are open, the maximum")
        return
    _open.add(id(websocket))
    metrics.numbers.sockets += 1
    try:
        await _answer(websocket, handle)
    except (WebSocketDisconnect, TimeoutError, RuntimeError):
        pass  # the client has left, or does not read
    finally:
        _open.discard(id(websocket))
        metrics.numbers.sockets -= 1


async def _answer(websocket: WebSocket, handle: Handle) -> None:
    while (message := await websocket.receive())["type"] != "websocket.disconnect":
        text = message.get("text")
        packed = text is None
        try:
            # surrogatepass, because a lone surrogate must become an error of the decoder and not of this line
            given = message["bytes"] if text is None else text.encode("utf-8", "surrogatepass")
            answer = await handle(given, packed)
        except Exception as error:
            answer = facts(problem_of(error))
        content, _ = encode(answer, packed)
        sending = websocket.send_bytes(content) if packed else websocket.send_text(content.decode())
        await asyncio.wait_for(sending, SLOWEST_READER)
