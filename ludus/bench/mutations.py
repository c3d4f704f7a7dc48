"""Malformed requests to /v1 and /v0: none may fail inside, hang, or spoil a session.

Valid requests are changed at random. After every thousand, each live session answers a valid request, and a new session
that gets only what the first one has accepted must give the same answer.
"""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from ludus.bench import Result
from ludus.bench.killing import same
from ludus.bench.served import JSON_TYPE, Caller, Headers, Reply, Server, observation, served
from ludus.server.reference import examples
from ludus.types import JsonObject, LudusError

AGENTS = ("net=recall:trained", "duel=duel:trained")
CALLERS, ROUND = 16, 1000
"""connections at a time; mutations between two checks"""
MOST_SHOWN, MOST_LETTERS = 10, 1500
"""failures that are described on standard error, and the length of a description"""
SCHEMA_EXAMPLES = 25
"""requests of schemathesis for each operation"""
PACKED_TYPE: Headers = (("Content-Type", "application/msgpack"),)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "post", "BREW")
TEXTS = ("", "0", "..", "%00", "%2e%2e%2f", "%ff", "\u00e9", "x" * 5000, "null", "act", "*", "?a=b&a", "#", "//", ";")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, 5e-324,
    "", "me", "a" * 5000, "\ud800", "\u0000", [], {}, [[]], [None], [[[[[0]]]]], {"": 0}, "select_card", "deck",
    "net", [0] * 1000,
)  # fmt: skip
HEADERS = (
    ("Content-Type", "text/plain"), ("Content-Type", "application/msgpack"), ("Content-Type", ""),
    ("Content-Type", "application/json; x=\u00ff"), ("Accept", "application/msgpack"), ("Accept", "\u00ff,;q=a"),
    ("X-Request-Id", "a b\tc\u00e9"),
    ("X-Request-Id", "y" * 3000), ("Host", "example.org"), ("Host", "[::1"), ("Host", ""), ("Origin", "null"),
    ("Origin", "http://\u00e9"), ("Authorization", "Bearer \u00ff"), ("Authorization", "Basic"),
    ("X-Seat-Key", "z" * 200),
    ("X-Seat-Key", "\u00e9"), ("Cookie", "a=b; " * 100), ("Range", "bytes=5-1"), ("Expect", "100-continue"),
    ("Accept-Encoding", "gzip;q=x"), ("If-None-Match", "*"), ("Access-Control-Request-Method", "POST"),
    ("X-Forwarded-For", "\u00ff"), ("Accept", "*/*;q=0"), ("Content-Encoding", "gzip"),
)  # fmt: skip


class Request(NamedTuple):
    """A request before it is changed."""

    method: str
    path: str
    body: bytes = b""
    headers: Headers = JSON_TYPE


@dataclass
class Live:
    """A session or a duel that the mutations are aimed at."""

    path: str
    reference: bool
    index: int = 0
    chosen: int = 0
    """the entry of a duel's last answer that is played"""
    accepted: list[Request] = field(default_factory=list)


@dataclass
class Found:
    """What went wrong, with some descriptions."""

    sent: int = 0
    failed: int = 0
    hung: int = 0
    closed: int = 0
    poisoned: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    def tell(self, what: str, request: object) -> None:
        if what not in self.shown and len(self.shown) < MOST_SHOWN:
            self.shown[what] = f"{what}: {str(request)[:MOST_LETTERS]}"


def measure(count: int) -> Iterator[Result]:
    """Send this many mutations, and what schemathesis makes from the OpenAPI."""
    if importlib.util.find_spec("schemathesis") is None:
        raise LudusError("this part needs schemathesis; install it: pip install 'ludus[dev]'")
    with served(*AGENTS) as server:
        found = asyncio.run(_attack(server, count))
        made, failed = _schemathesis(server)
        logged = server.logged()
    for line in [*found.shown.values(), *(line[-MOST_LETTERS:] for line in logged[-MOST_SHOWN:])]:
        print(line, file=sys.stderr)
    yield Result("serve/mutated/requests", found.sent, "requests")
    for status, number in sorted(found.statuses.items()):
        yield Result(f"serve/mutated/status/{status}", number, "answers")
    yield Result("serve/mutated/failed", found.failed, "answers 500")
    yield Result("serve/mutated/hung", found.hung, "requests")
    yield Result("serve/mutated/closed", found.closed, "connections without an answer")
    yield Result("serve/mutated/poisoned", found.poisoned, "sessions")
    yield Result("serve/mutated/logged", len(logged), "unexpected lines in the log")
    yield Result("serve/mutated/schemathesis/requests", made, "requests")
    yield Result("serve/mutated/schemathesis/failed", failed, "requests")


async def _attack(server: Server, count: int) -> Found:
    found, schema = Found(), server.schema("net")
    attackers = [Attacker(Caller(server.port), random.Random(number), schema, found) for number in range(CALLERS)]
    while found.sent < count:
        share = min(ROUND, count - found.sent + CALLERS - 1) // CALLERS
        await asyncio.gather(*[one.round(max(1, share)) for one in attackers])
    for one in attackers:
        await one.caller.close()
    return found


@dataclass
class Attacker:
    """One connection, with sessions of its own, so that what they accept has an order."""

    caller: Caller
    dice: random.Random
    schema: JsonObject
    found: Found

    async def round(self, count: int) -> None:
        """Aim some mutations at new sessions, and check these."""
        lives = [await self._session(), await self._duel()]
        # What does not come back from broken HTTP may have been accepted or not, so it goes elsewhere.
        spare, spare_duel, game = await self._session(), await self._duel(), await self._game()
        for _ in range(count):
            live = self.dice.choice(lives)
            await self._mutation(live, self._request(live, spare, game), self.dice.choice((spare, spare_duel)))
        for live in lives:
            await self._check(live)
            await self.caller.call("DELETE", live.path)
        await self._answers(spare)
        for path in (game, spare_duel.path):
            await self.caller.call("DELETE", path)

    async def _session(self) -> Live:
        reply = await self.caller.call("POST", "/v1/sessions", b'{"model": "net", "seed": 7}')
        return Live(f"/v1/sessions/{reply.json()['id']}", False)

    async def _duel(self) -> Live:
        reply = await self.caller.call("POST", "/v0/duels")
        return Live(f"/v0/duels/{reply.json()['duelId']}", True)

    async def _game(self) -> str:
        body = b'{"game": "tictactoe", "seats": ["person", "random"], "seed": 3}'
        return f"/v1/games/{(await self.caller.call('POST', '/v1/games', body)).json()['id']}"

    def _valid(self, live: Live, packed: bool = False) -> Request:
        """The next valid request of a session."""
        if live.reference:
            message = self.dice.choice(list(examples.MESSAGES))
            body = json.dumps(examples.request(message, live.index, live.chosen)).encode()
            return Request("POST", f"{live.path}/predict", body)
        asked = {"index": live.index, "observation": observation(self.schema, self.dice)}
        content = msgspec.msgpack.encode(asked) if packed else json.dumps(asked).encode()
        return Request("POST", f"{live.path}/act", content, PACKED_TYPE if packed else JSON_TYPE)

    def _request(self, live: Live, spare: Live, game: str) -> Request:
        """What to change: mostly the next request of a session, and sometimes any other."""
        if self.dice.random() < 0.7:
            return self._valid(live, self.dice.random() < 0.3)
        move = json.dumps({"move": self.dice.randrange(3), "action": self.dice.randrange(9)}).encode()
        others = (
            Request("POST", "/v1/sessions", b'{"model": "net", "seat": 0, "seed": 5}'), Request("GET", live.path),
            Request("GET", "/v1/models"), Request("GET", "/v1/models/net"), Request("POST", "/v0/duels"),
            Request("POST", "/v1/games", b'{"game": "tictactoe", "seats": ["person", "random"], "seed": 1}'),
            Request("GET", game), Request("GET", f"{game}?seat=0"), Request("POST", f"{game}/moves", move),
            Request("GET", f"{game}/picture.svg"), Request("GET", f"{game}/replay"), Request("GET", "/metrics"),
            Request("DELETE", "/v0/duels/nobody"), Request("DELETE", "/v1/sessions/nobody"), Request("GET", "/docs"),
            Request("POST", f"{spare.path}/act", b'{"index": 0, "observation": [0, 0]}'),
        )  # fmt: skip
        return self.dice.choice(others)

    async def _mutation(self, live: Live, request: Request, spare: Live) -> None:
        """Send one changed request, and judge the answer."""
        self.found.sent += 1
        kind = self.dice.choices(("body", "bytes", "path", "method", "header", "raw"), (40, 20, 10, 8, 18, 4))[0]
        if kind == "raw":
            await self._raw(self._valid(spare))
            return
        changed = changed_at(kind, request, self.dice)
        try:
            reply = await self.caller.call(*changed)
        except TimeoutError:
            self.found.hung += 1
            self.found.tell("no answer", changed)
            return
        except ConnectionError as error:
            self.found.closed += 1
            self.found.tell(str(error), changed)
            return
        self._judge(reply, changed)
        if reply.status == 204 and changed.method == "DELETE" and live.path in changed.path:
            fresh = await (self._duel() if live.reference else self._session())
            live.path, live.index, live.chosen, live.accepted = fresh.path, 0, 0, []
        elif reply.status == 200 and live.path in changed.path and changed.method == "POST":
            self._accept(live, changed, reply)

    def _judge(self, reply: Reply, request: object) -> None:
        self.found.statuses[reply.status] = self.found.statuses.get(reply.status, 0) + 1
        degraded = b'"degraded":true' in reply.body or b"degraded\xc3" in reply.body  # in JSON, in msgpack
        if (reply.status >= 500 and reply.status != 503) or degraded:
            self.found.failed += 1
            self.found.tell(f"status {reply.status} {reply.body[:200]!r}", request)

    def _accept(self, live: Live, request: Request, reply: Reply) -> None:
        """Remember a request that has advanced a session."""
        answer = decoded(reply.body)
        if isinstance(answer, dict) and answer.get("index") == live.index + 1:
            live.index += 1
            live.accepted.append(request)
            if live.reference:
                live.chosen = examples.best(answer)

    async def _raw(self, request: Request) -> None:
        """Bytes that may not be HTTP, after which nothing follows; any answer will do, or none."""
        head = f"{request.method} {request.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        sizes = (len(request.body), 0, -1, 10**18, len(request.body) + 5, len(request.body) // 2)
        framing = self.dice.choice(
            ("Content-Length: {}\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length : {}\r\n")
        )
        data = (head + framing.format(self.dice.choice(sizes)) + "\r\n").encode("latin-1") + request.body
        await self.caller.close()
        try:
            reply = await self.caller.send(altered(data, self.dice) if self.dice.random() < 0.7 else data, last=True)
            self._judge(reply, data)
        except TimeoutError:
            self.found.hung += 1
            self.found.tell("no answer", data)
        except (ConnectionError, ValueError):
            pass
        finally:
            await self.caller.close()

    async def _check(self, live: Live) -> None:
        """A valid request must be answered as by a session that got only what this one has accepted."""
        request = self._valid(live)
        reply = await self.caller.call(*request)
        twin = await (self._duel() if live.reference else self._session())
        for one in live.accepted:
            await self.caller.call(one.method, one.path.replace(live.path, twin.path), one.body, one.headers)
        other = await self.caller.call(request.method, request.path.replace(live.path, twin.path), request.body)
        await self.caller.call("DELETE", twin.path)
        if reply.status != 200 or b'"error"' in reply.body[:10] or not same(reply.json(), other.json()):
            self.found.poisoned += 1
            self.found.tell(f"{len(live.accepted)} accepted; {reply} is not {other}", request)

    async def _answers(self, spare: Live) -> None:
        """A session that has got what cannot be followed goes on at the index that it names."""
        reply = await self.caller.call("GET", spare.path)
        if reply.status == 200:
            spare.index = reply.json()["index"]
            reply = await self.caller.call(*self._valid(spare))
            await self.caller.call("DELETE", spare.path)
        if reply.status not in (200, 404):
            self.found.poisoned += 1
            self.found.tell(f"spare session: {reply}", spare)


def decoded(body: bytes) -> Any:
    """A body in JSON or msgpack; None if it is neither."""
    for decode in (json.loads, msgspec.msgpack.decode):
        try:
            return decode(body)
        except (ValueError, msgspec.DecodeError):
            continue
    return None


def changed_at(kind: str, request: Request, dice: random.Random) -> Request:
    """A request with one part changed, in a form that is still HTTP."""
    match kind:
        case "body":
            return request._replace(body=restructured(request.body, dice, request.headers == PACKED_TYPE))
        case "bytes":
            return request._replace(body=altered(request.body, dice))
        case "path":
            return request._replace(path=_other_path(request.path, dice))
        case "method":
            return request._replace(method=dice.choice(METHODS))
    name, value = dice.choice(HEADERS)
    keep = [pair for pair in request.headers if pair[0] != name or dice.random() < 0.3]
    return request._replace(headers=(*keep, (name, value)))


def altered(data: bytes, dice: random.Random) -> bytes:
    """Some bytes replaced, inserted, removed, or repeated."""
    for _ in range(dice.randint(1, 4)):
        at = dice.randint(0, len(data))
        size = dice.choice((1, 1, 1, 4, 50))
        piece = dice.choice((dice.randbytes(size), data[at : at + size] * 2, b"", b'"', b"[" * size, b"\x00"))
        data = data[:at] + piece + data[at + dice.choice((0, 1, size, 10**6 if dice.random() < 0.1 else 1)) :]
    return data


def _other_path(path: str, dice: random.Random) -> str:
    """A segment replaced, removed, doubled, or some characters changed."""
    parts = path.split("/")
    at = dice.randrange(1, len(parts))
    match dice.randrange(4):
        case 0:
            parts[at] = dice.choice(TEXTS)
        case 1:
            del parts[at]
        case 2:
            parts.insert(at, parts[at])
        case 3:
            where = dice.randint(0, len(parts[at]))
            parts[at] = parts[at][:where] + dice.choice(TEXTS) + parts[at][where:]
    return "/".join(parts) or "/"


def restructured(body: bytes, dice: random.Random, packed: bool) -> bytes:
    """A body with up to three values replaced, removed, doubled or reversed."""
    value = decoded(body)
    for _ in range(dice.randint(1, 3)):
        paths = list(_places(value))
        if not paths:
            value = copy.deepcopy(dice.choice(VALUES))
            break
        asked = [path for path in paths if "action_msg" in path]  # a small part, but the most interesting one
        _change(value, dice.choice(asked if asked and dice.random() < 0.5 else paths), dice)
    try:
        return msgspec.msgpack.encode(value) if packed else json.dumps(value).encode()
    except (OverflowError, UnicodeEncodeError, ValueError):
        return json.dumps(value).encode()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values inside a JSON value."""
    inner: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value[:50]))
    for key, part in inner:
        yield (*path, key)
        yield from _places(part, (*path, key))


def _change(value: Any, path: tuple[Any, ...], dice: random.Random) -> None:
    *above, key = path
    for step in above:
        value = value[step]
    match dice.randrange(5):
        case 0 | 1:
            value[key] = copy.deepcopy(dice.choice(VALUES))
        case 2:
            del value[key]
        case 3 if isinstance(value, list):
            value.append(copy.deepcopy(value[key]))
        case 4 if isinstance(value, list):
            value.reverse()
        case _:
            value[f"{key}x" if isinstance(value, dict) else key] = copy.deepcopy(dice.choice(VALUES))


def _schemathesis(server: Server) -> tuple[int, int]:
    """The number of requests made from the OpenAPI, and of those answered 500."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis
        from hypothesis import HealthCheck, Phase, given, settings

        schema = schemathesis.openapi.from_dict(server.get("/openapi.json"))
        schema.config.update(base_url=f"http://127.0.0.1:{server.port}")
        made = failed = 0

        def send(case: Any) -> None:
            nonlocal made, failed
            made += 1
            status = case.call(timeout=30).status_code
            failed += status >= 500 and status != 503

        operations: Iterator[Any] = schema.get_all_operations()
        for operation in operations:
            run = settings(
                max_examples=SCHEMA_EXAMPLES, deadline=None, phases=[Phase.generate], database=None,
                suppress_health_check=list(HealthCheck), derandomize=True,
            )  # fmt: skip
            check: Callable[[], None] = run(given(case=operation.ok().as_strategy())(send))
            check()
    return made, failed
