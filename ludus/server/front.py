"""The outermost ASGI application: access control, request ids, CORS, logs, metrics, and the route `act`.

`POST /v1/sessions/{id}/act` is answered here, without the routing and validation of FastAPI, because it is called
thousands of times per second. Everything else goes to FastAPI.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludus.server import logs
from ludus.server.access import (
    Refused,
    Rules,
    bearer,
    check_host,
    check_length,
    check_origin,
    headers_of,
    replayed,
    same,
    whole_body,
)
from ludus.server.answers import facts, headers_for, problem_of
from ludus.server.encoding import PROBLEM, Codec, encode, is_packed, wants_packed
from ludus.server.messages import Act
from ludus.server.metrics import Metrics
from ludus.server.problems import Problem
from ludus.server.service import Service

LARGEST_BODY = 2**20
OPEN = ("/", "/healthz", "/readyz", "/docs", "/openapi.json")
"""addresses without a token: they show nothing about this server but whether it is ready"""
SUBPROTOCOL, IN_SUBPROTOCOL = "ludus", "bearer."
"""browsers cannot send headers with a WebSocket, so they send the token as a subprotocol: ["ludus", "bearer.TOKEN"]"""
FREQUENT = ("/healthz", "/readyz", "/metrics")
"""addresses that monitors ask every few seconds, which are not logged"""
MOST_HOSTS = 100
LEFT = 499
"""the status in logs and metrics if the client left before its request was complete"""
ACT, BEFORE, ROUTE = "/act", "/v1/sessions/", "/v1/sessions/{session}/act"
Pairs = list[tuple[bytes, bytes]]
ACT_CODEC = Codec(Act)


@dataclass(frozen=True)
class Access:
    """Who may use the server."""

    rules: Rules = field(default_factory=Rules)
    origins: tuple[str, ...] = ()
    """origins of web pages that may use it (CORS); "*" for all"""


class Front:
    """The ASGI application of the server."""

    def __init__(self, app: ASGIApp, service: Service, metrics: Metrics, access: Access) -> None:
        self.app, self.service, self.metrics = app, service, metrics
        self._hosts: set[str] = set()
        """values of Host that have been checked"""
        self.rules, self.origins = access.rules, tuple(origin.lower().rstrip("/") for origin in access.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            act = path.startswith(BEFORE) and path.endswith(ACT)
            await (self._decision if act else self._request)(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _decision(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a decision. Only those that fail are logged, because there are too many."""
        start, headers = time.perf_counter(), headers_of(scope)
        answering = Answering(send, logs.request_id(headers.get("x-request-id")), self._cors(headers))
        try:
            self._check(scope, headers)
            if scope["method"] == "POST":
                await self._act(scope["path"], headers, await self._body(headers, receive), answering)
            elif self._is_preflight(scope, headers):
                await answering.whole(204, [], b"")
            else:
                raise Problem(405, "method_not_allowed", "send POST to this address", allow="POST")
        except Exception as error:
            await answering.problem(problem_of(error))
        seconds = time.perf_counter() - start
        self.metrics.request(ROUTE, answering.status, seconds)
        if answering.status >= 400:
            self._log(scope, answering, seconds)

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes | None:
        """The body, or None if the client has left. One that is already here needs no time limit."""
        check_length(headers, LARGEST_BODY)
        message = await receive()
        if message["type"] == "http.request" and message.get("more_body"):
            message = (await whole_body(replayed([message], receive), LARGEST_BODY))[0]
        return message["body"] if message["type"] == "http.request" else None

    async def _act(self, path: str, headers: dict[str, str], body: bytes | None, answering: Answering) -> None:
        if body is None:
            answering.status = LEFT
            return
        packed = is_packed(headers.get("content-type", ""))
        wanted = ACT_CODEC.decode(body, packed)
        session = path[len(BEFORE) : -len(ACT)]
        answer = await self.service.act(session, wanted.index, wanted.observation, wanted.mask)
        content, kind = encode(answer, wants_packed(headers.get("accept", ""), packed))
        await answering.whole(200, [(b"content-type", kind.encode()), (b"cache-control", b"no-store")], content)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer any other request by a route of FastAPI."""
        start, headers = time.perf_counter(), headers_of(scope)
        answering = Answering(send, logs.request_id(headers.get("x-request-id")), self._cors(headers))
        try:
            self._check(scope, headers)
            if self._is_preflight(scope, headers):
                await answering.whole(204, [], b"")
            elif (body := await self._body(headers, receive)) is None:
                answering.status = LEFT
            else:
                messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
                await self.app(scope, replayed(messages, receive), answering)
        except Exception as error:
            problem = problem_of(error)
            if not answering.status:  # else the response has begun, and uvicorn closes the connection
                await answering.problem(problem)
        seconds = time.perf_counter() - start
        route = getattr(scope.get("route"), "path", "unknown")
        self.metrics.request(route, answering.status, seconds)
        if route not in FREQUENT or answering.status >= 500:
            self._log(scope, answering, seconds)

    def _is_preflight(self, scope: Scope, headers: dict[str, str]) -> bool:
        return scope["method"] == "OPTIONS" and "access-control-request-method" in headers

    def _log(self, scope: Scope, answering: Answering, seconds: float) -> None:
        client = (scope.get("client") or ("",))[0]
        logs.note_request(answering.id, scope["method"], scope["path"], answering.status, seconds, client)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        """Raise Refused unless the request is allowed.

        Without a token, Host is checked; a page that lets its name resolve to this machine does not know a token.
        """
        check_origin(headers, self.origins)
        if not self.rules.token:
            self._check_host(headers.get("host", ""))
        elif not (scope["path"] in OPEN or scope.get("method") == "OPTIONS" or self._has_token(scope, headers)):
            raise Refused(401, "the token is missing or wrong; send it as Authorization: Bearer", "unauthorized")

    def _check_host(self, host: str) -> None:
        if host not in self._hosts:
            check_host(host, self.rules)
            if len(self._hosts) < MOST_HOSTS:
                self._hosts.add(host)

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        given = bearer(headers)
        if scope["type"] == "websocket" and not given:
            wanted = [one.strip() for one in headers.get("sec-websocket-protocol", "").split(",")]
            given = next((one[len(IN_SUBPROTOCOL) :] for one in wanted if one.startswith(IN_SUBPROTOCOL)), "")
        return same(given, self.rules.token)

    def _cors(self, headers: dict[str, str]) -> Pairs:
        """The headers that let a page of an allowed origin read the answer."""
        origin = headers.get("origin", "")
        if not origin or not ("*" in self.origins or origin.lower() in self.origins):
            return []
        return [
            (b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"),
            (b"access-control-allow-methods", b"GET, POST, DELETE"), (b"access-control-max-age", b"600"),
            (b"access-control-allow-headers", b"Authorization, Content-Type, X-Request-Id, X-Seat-Key"),
            (b"access-control-expose-headers", b"X-Request-Id, Retry-After"),
        ]  # fmt: skip

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope, headers_of(scope))
        except Refused as refused:
            # Closing before the handshake is accepted becomes status 403.
            await send({"type": "websocket.close", "code": 1008, "reason": refused.sentence[:120]})
            return
        await self.app(scope, receive, send)


class Answering:
    """Sends the answer of one request, with the headers that every answer has, and remembers its status."""

    def __init__(self, send: Send, id: str, more: Pairs) -> None:
        self._send, self.id, self.status = send, id, 0
        self._more: Pairs = [(b"x-request-id", id.encode()), (b"x-content-type-options", b"nosniff"), *more]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", []), *self._more]}
        await self._send(message)

    async def whole(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        pairs = [*headers, (b"content-length", str(len(body)).encode()), *self._more]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})
        await self._send({"type": "http.response.body", "body": body})

    async def problem(self, problem: Problem) -> None:
        """An error; its request id is in the body too, for reports."""
        pairs = [(name.encode(), value.encode()) for name, value in headers_for(problem).items()]
        body, _ = encode(facts(problem) | {"request": self.id}, packed=False)
        await self.whole(problem.status, [(b"content-type", PROBLEM.encode()), *pairs], body)
