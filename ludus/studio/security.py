"""Access control: the studio answers its own pages, on this machine or with its token.

Pages of other sites in the same browser can send requests to this machine, either through a host name of their own that
resolves to it (DNS rebinding, so Host is checked), or directly (so Origin and Sec-Fetch-Site are checked).
"""

from __future__ import annotations

import asyncio
import hmac
import http.cookies
import ipaddress
import json
import socket
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY, LARGEST_AGENT = 64 * 2**10, 64 * 2**20
UPLOAD = "/api/agents"
"""the only path that accepts bodies larger than LARGEST_BODY"""
MOST_SOCKETS = 200
SLOWEST_BODY = 30.0
"""seconds within which a body must arrive"""
PAGES = ("/", "/reference")
"""pages that a link on another site may open, because they change nothing"""
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Rules:
    """What a request must satisfy."""

    token: str = ""
    """required of every request if not empty"""
    host: str = ""
    """the address that the server listens on; empty for this machine only"""


class Refused(Exception):  # noqa: N818  (it is a response)
    """A request that is rejected before it reaches the application."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Security:
    """ASGI middleware that checks every request and every WebSocket first."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules, self.sockets = app, rules, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        try:
            headers = headers_of(scope)
            check_host(headers.get("host", ""), self.rules)
            check_origin(scope, headers)
            if (entry := token_in_address(scope, self.rules)) is not None:
                await send_answer(send, 303, {"location": entry, "set-cookie": cookie_for(scope, self.rules)})
                return
            check_token(scope, headers, self.rules)
            if scope["type"] == "websocket":
                await self._socket(scope, receive, send)
            else:
                await self._request(scope, headers, receive, send)
        except Refused as refused:
            await refuse(scope, send, refused)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.sockets >= MOST_SOCKETS:
            raise Refused(503, f"{MOST_SOCKETS} pages are connected, the maximum; close some")
        self.sockets += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.sockets -= 1

    async def _request(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        if scope["path"] == UPLOAD:
            check_length(headers, LARGEST_AGENT)
            body = receive  # its size is checked by the route that reads it
        else:
            check_length(headers, LARGEST_BODY)
            body = replayed(await whole_body(receive), receive)
        await self.app(scope, body, guarded(send))


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; repeated headers are joined with a comma."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def check_host(header: str, rules: Rules) -> None:
    """Reject unknown Host names: another site's name may resolve to this machine (DNS rebinding)."""
    name = urllib.parse.urlsplit(f"//{header}").hostname if _plain(header) else None
    if name is None or not (name in local_names(rules) or (rules.host and _is_address(name))):
        known = "http://localhost" if not rules.host else "the machine's own address"
        raise Refused(403, f"the studio does not answer to this host name; open it as {known} with its port")


def local_names(rules: Rules) -> set[str]:
    """The names of this machine; those in the network only if the server listens on the network."""
    names = {"localhost", "127.0.0.1", "::1"}
    return names | {rules.host.lower(), socket.gethostname().lower()} if rules.host else names


def _plain(header: str) -> bool:
    return 0 < len(header) < 300 and not set(header) & set("/@?#, \\%")


def _is_address(name: str) -> bool:
    """Whether the name is an IP address, which needs no DNS."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def check_origin(scope: Scope, headers: Mapping[str, str]) -> None:
    """Reject requests that pages of other sites make."""
    origin, host = headers.get("origin"), headers["host"].lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise Refused(403, "this request comes from a page of another site; use the studio's own page")
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return
    opened = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") == "GET"
    if not (opened and scope["path"] in PAGES):
        raise Refused(403, "this request comes from another site; use the studio's own page")


def token_in_address(scope: Scope, rules: Rules) -> str | None:
    """The path to redirect to, without the token, if the address of a page contains the correct token; else None."""
    if not rules.token or scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in PAGES:
        return None
    given = urllib.parse.parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
    return str(scope["path"]) if given and same(given, rules.token) else None


def check_token(scope: Scope, headers: Mapping[str, str], rules: Rules) -> None:
    if not rules.token:
        return
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and same(bearer.strip(), rules.token):
        return
    if not same(cookie_of(headers.get("cookie", ""), cookie_name(scope)), rules.token):
        raise Refused(401, "the token of the studio is missing or wrong; open the address that it printed at its start")


def same(one: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def cookie_name(scope: Scope) -> str:
    """The name of the cookie, with the port, because browsers share cookies between all ports of a host."""
    return f"ludus_{(scope.get('server') or ('', 0))[1]}"


def cookie_of(header: str, name: str) -> str:
    jar = http.cookies.SimpleCookie()
    try:
        jar.load(header)
    except http.cookies.CookieError:
        return ""
    return jar[name].value if name in jar else ""


def cookie_for(scope: Scope, rules: Rules) -> str:
    return f"{cookie_name(scope)}={rules.token}; HttpOnly; SameSite=Strict; Path=/"


def check_length(headers: Mapping[str, str], most: int) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > most:
        raise Refused(413, f"the request is larger than {most // 1024:,} KB, the limit for this address")


async def whole_body(receive: Receive) -> list[Message]:
    """Read the whole body of a request; raises Refused if it is too large or too slow."""
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await _messages(receive)
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time; send it again") from None


async def _messages(receive: Receive) -> list[Message]:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return [message]
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            raise Refused(413, f"the request is larger than {LARGEST_BODY // 1024} KB, the limit for this address")
        if not message.get("more_body", False):
            return [{"type": "http.request", "body": b"".join(parts), "more_body": False}]


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """A `receive` that returns these messages first, then those of the given one."""
    waiting = list(messages)

    async def next_message() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return next_message


def guarded(send: Send) -> Send:
    """A `send` that adds the security headers to every response."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return send_guarded


async def refuse(scope: Scope, send: Send, refused: Refused) -> None:
    if scope["type"] == "websocket":
        # Closing before the handshake is accepted becomes status 403; browsers do not show the reason.
        await send({"type": "websocket.close", "code": 1008, "reason": refused.sentence[:120]})
        return
    body = json.dumps({"sentence": refused.sentence, "field": None}).encode()
    await send_answer(send, refused.status, {"content-type": "application/json"}, body)


async def send_answer(send: Send, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
    every = {"content-length": str(len(body)), "cache-control": "no-store", **headers}
    pairs = [(name.encode(), value.encode()) for name, value in every.items()]
    send = guarded(send)
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
