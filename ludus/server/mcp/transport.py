"""How clients reach the server: the standard input and output of its process, or HTTP on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ludus.dsl.cache import quiet
from ludus.server.access import Refused, Rules, bearer, check_host, check_origin, headers_of, same
from ludus.server.mcp.server import Opened, Options, opened
from ludus.types import NO_FILES

PATH = "/mcp"
LARGEST_REQUEST = 2**20
MOST_CONNECTIONS, IDLE = 256, 1800.0
"""connections of clients at the same time, and seconds after which an unused one is closed"""


def serve_stdio(options: Options) -> None:
    """Serve one client until it closes the standard input."""
    with _prepared():
        asyncio.run(_serve_stdio(options))


async def _serve_stdio(options: Options) -> None:
    async with opened(options) as one:
        ending: list[asyncio.Task[None]] = []
        _on_signals(lambda: ending.append(asyncio.create_task(_end(one))))
        await one.server.run_stdio_async()


async def _end(one: Opened) -> None:
    """Stop the trainers and end the process; the thread that reads the standard input cannot be interrupted."""
    await one.working.close()
    os._exit(0)


def _on_signals(work: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, work)


def serve_http(options: Options, listening: socket.socket, token: str) -> None:
    """Serve any number of clients until Ctrl-C or SIGTERM."""
    with _prepared():
        asyncio.run(_serve_http(options, listening, token))


async def _serve_http(options: Options, listening: socket.socket, token: str) -> None:
    async with opened(options) as one:
        config = uvicorn.Config(
            application(one, Rules(token)), lifespan="on", log_config=None, access_log=False, server_header=False,
            proxy_headers=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        _on_signals(lambda: None)  # uvicorn handles them, and raises them again when it has ended
        await uvicorn.Server(config).serve([listening])


@contextlib.contextmanager
def _prepared() -> Iterator[None]:
    """The settings of this process while it serves."""
    os.environ[NO_FILES] = "1"  # names of games come from requests, so they must not open files
    os.environ.setdefault("JAX_CPU_ENABLE_ASYNC_DISPATCH", "0")
    with quiet():
        yield


def application(one: Opened, rules: Rules) -> Guard:
    """The web application for a server such as uvicorn."""
    app = one.server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=LARGEST_REQUEST, max_sessions=MOST_CONNECTIONS,
        session_idle_timeout=IDLE,
    )  # fmt: skip
    return Guard(app, rules)


class Guard:
    """Refuses requests of foreign pages and host names, and requests without the token if there is one."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(headers_of(scope))
            except Refused as refused:
                await PlainTextResponse(refused.sentence, refused.status)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, headers: dict[str, str]) -> None:
        check_host(headers.get("host", ""), self.rules)
        check_origin(headers)
        if self.rules.token and not same(bearer(headers), self.rules.token):
            raise Refused(401, "this server needs its token: send the header Authorization: Bearer TOKEN")
