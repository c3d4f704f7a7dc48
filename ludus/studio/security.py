"""Access control: the studio answers its own pages, on this machine or with its token.

`ludus/server/access.py` has the checks that the studio shares with the server; those of browsers' pages are here.
"""

from __future__ import annotations

import http.cookies
import json
import urllib.parse
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ludus.server import access
from ludus.server.access import (
    Refused,
    Rules,
    bearer,
    check_host,
    check_length,
    headers_of,
    replayed,
    same,
    whole_body,
)

LARGEST_BODY, LARGEST_AGENT = 64 * 2**10, 64 * 2**20
UPLOAD = "/api/agents"
"""the only path that accepts bodies larger than LARGEST_BODY"""
MOST_SOCKETS = 200
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
            body = replayed(await whole_body(receive, LARGEST_BODY), receive)
        await self.app(scope, body, guarded(send))


def check_origin(scope: Scope, headers: Mapping[str, str]) -> None:
    """Reject requests that pages of other sites make."""
    access.check_origin(headers)
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
    if same(bearer(headers), rules.token):
        return
    if not same(cookie_of(headers.get("cookie", ""), cookie_name(scope)), rules.token):
        raise Refused(401, "the token of the studio is missing or wrong; open the address that it printed at its start")


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
