"""Who may talk to the studio: pages that came from it, on this machine, or with its token.

A page of somebody else that is open in the same browser can send requests to addresses of this machine. It can do so
under a name of its own that it lets point here (so the Host must be ours), or openly (so Origin and Sec-Fetch-Site must
be ours); it can read and set nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import http.cookies
import ipaddress
import json
import socket
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY, LARGEST_AGENT = 64 * 2**10, 64 * 2**20
UPLOAD = "/api/agents"
"""the one path that takes more"""
MOST_SOCKETS = 200
SLOWEST_BODY = 30.0
"""seconds for a small body to arrive"""
PAGES = ("/", "/reference")
"""which a link on another site may open: they do nothing by themselves"""
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
    """What is asked of a request."""

    token: str = ""
    """needed by everyone where there is one"""
    host: str = ""
    """the address that the server was told to listen on; empty for this machine alone"""


class Refused(Exception):  # noqa: N818  (it is an answer)
    """A request that goes no further."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Security:
    """The outermost layer: every request and every socket passes here first."""

    def __init__(self, app: App, rules: Rules) -> None:
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
            raise Refused(503, f"{MOST_SOCKETS} pages are connected already; close some")
        self.sockets += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.sockets -= 1

    async def _request(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        if scope["path"] == UPLOAD:
            check_length(headers, LARGEST_AGENT)
            body = receive  # counted where it is read
        else:
            check_length(headers, LARGEST_BODY)
            body = replayed(await whole_body(receive), receive)
        await self.app(scope, body, guarded(send))


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by small name; of one that is sent twice, both."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def check_host(header: str, rules: Rules) -> None:
    """The name in the address bar must be one of ours, or a stranger's name may have been made to point here."""
    name = urllib.parse.urlsplit(f"//{header}").hostname if _plain(header) else None
    if name is None or not (name in local_names(rules) or (rules.host and _is_address(name))):
        known = "http://localhost" if not rules.host else "the machine's own address"
        raise Refused(403, f"the studio does not answer under this name; open it as {known} with its port")


def local_names(rules: Rules) -> set[str]:
    """What this machine is called; the network's names only where the network may ask."""
    names = {"localhost", "127.0.0.1", "::1"}
    return names | {rules.host.lower(), socket.gethostname().lower()} if rules.host else names


def _plain(header: str) -> bool:
    return 0 < len(header) < 300 and not set(header) & set("/@?#, \\%")


def _is_address(name: str) -> bool:
    """A bare number: no name server had a say in it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def check_origin(scope: Scope, headers: Mapping[str, str]) -> None:
    """A page that asks must have come from here."""
    origin, host = headers.get("origin"), headers["host"].lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise Refused(403, "this request comes from a page of another site; use the studio's own page")
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return
    opened = headers.get("sec-fetch-mode") == "navigate" and scope.get("method") == "GET"
    if not (opened and scope["path"] in PAGES):
        raise Refused(403, "this request comes from another site; use the studio's own page")


def token_in_address(scope: Scope, rules: Rules) -> str | None:
    """Where to go on without the token in sight, if it came right in the address of a page."""
    if not rules.token or scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in PAGES:
        return None
    asked = urllib.parse.parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
    return str(scope["path"]) if asked and same(asked, rules.token) else None


def check_token(scope: Scope, headers: Mapping[str, str], rules: Rules) -> None:
    if not rules.token:
        return
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and same(bearer.strip(), rules.token):
        return
    if not same(cookie_of(headers.get("cookie", ""), cookie_name(scope)), rules.token):
        raise Refused(401, "the studio wants its token: open the address that it printed when it was started")


def same(one: str, other: str) -> bool:
    """Compared in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def cookie_name(scope: Scope) -> str:
    """With the port, as browsers share cookies between all ports of a machine."""
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
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said[:20]) > most:
        raise Refused(413, f"a request here has at most {most // 1024:,} KB; send less")


async def whole_body(receive: Receive) -> list[Message]:
    """The body of a request, however it is chopped up, if it is small and comes soon."""
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
            raise Refused(413, f"a request here has at most {LARGEST_BODY // 1024} KB; send less")
        if not message.get("more_body", False):
            return [{"type": "http.request", "body": b"".join(parts), "more_body": False}]


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """Hands out what was read already, then what comes."""
    waiting = list(messages)

    async def next_message() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return next_message


def guarded(send: Send) -> Send:
    """Adds to every answer what keeps a browser from doing more with it than we mean."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return send_guarded


async def refuse(scope: Scope, send: Send, refused: Refused) -> None:
    if scope["type"] == "websocket":
        # Before the handshake is accepted this becomes a 403; browsers show no more of it.
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
