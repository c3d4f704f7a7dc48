"""Access control that the server and the studio share: host names, origins, tokens, sizes and times of requests.

Pages of other sites in a browser on this machine can send requests to it, either through a host name of their own that
resolves to it (DNS rebinding, so Host is checked), or directly (so Origin is checked).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
import urllib.parse
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from starlette.types import Message, Receive, Scope

SLOWEST_BODY = 30.0
"""seconds within which a body must arrive"""


@dataclass(frozen=True)
class Rules:
    """What a request must satisfy."""

    token: str = ""
    """required of every request if not empty"""
    host: str = ""
    """the address that the server listens on; empty for this machine only"""


class Refused(Exception):  # noqa: N818  (it is a response)
    """A request that is rejected before it reaches the application."""

    def __init__(self, status: int, sentence: str, code: str = "refused") -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.code = status, sentence, code


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; repeated headers are joined with a comma."""
    pairs = scope["headers"]
    found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}
    if len(found) == len(pairs):
        return found
    found = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def check_host(header: str, rules: Rules) -> None:
    """Reject unknown Host names: another site's name may resolve to this machine (DNS rebinding)."""
    name = _host_name(header)
    if name is None or not (name in local_names(rules) or (rules.host and _is_address(name))):
        known = "http://localhost" if not rules.host else "the machine's own address"
        raise Refused(403, f"this host name is not answered; use {known} with its port", "unknown_host")


def _host_name(header: str) -> str | None:
    """The name in a Host header, without the port; None if there is none."""
    try:
        return urllib.parse.urlsplit(f"//{header}").hostname if _plain(header) else None
    except ValueError:  # a bracket without the other one
        return None


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


def check_origin(headers: Mapping[str, str], allowed: Collection[str] = ()) -> None:
    """Reject requests that pages of other sites make, except those of the allowed origins."""
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    if origin is None or "*" in allowed or origin.lower() in (f"http://{host}", f"https://{host}", *allowed):
        return
    raise Refused(403, "this request comes from a page of another site, which is not allowed", "foreign_origin")


def is_origin(text: str) -> bool:
    """Whether this is an origin as browsers send it: a scheme, a host, and perhaps a port."""
    try:
        parts = urllib.parse.urlsplit(text.rstrip("/"))
        named = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and f"{parts.scheme}://{parts.netloc}" == text.rstrip("/") and "@" not in parts.netloc


def bearer(headers: Mapping[str, str]) -> str:
    """The token in the header `Authorization: Bearer`, or ""."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def same(one: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def check_length(headers: Mapping[str, str], most: int) -> None:
    """Reject a request whose declared size is too large."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > most:
        raise _too_large(most)


async def whole_body(receive: Receive, most: int) -> list[Message]:
    """The whole body of a request as one message, or the message that the client left; raises Refused."""
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await _messages(receive, most)
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time; send it again", "slow_request") from None


async def _messages(receive: Receive, most: int) -> list[Message]:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return [message]
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return [{"type": "http.request", "body": b"".join(parts), "more_body": False}]


def _too_large(most: int) -> Refused:
    return Refused(413, f"the request is larger than {most // 1024:,} KB, the limit for this address", "too_large")


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """A `receive` that returns these messages first, then those of the given one."""
    waiting = list(messages)

    async def next_message() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return next_message
