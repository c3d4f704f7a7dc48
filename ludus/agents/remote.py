"""Agents of a running `ludus serve`: `http://host:3000/connect4-0001` is accepted where the name of an agent is.

Every row and seat has a session of its own, opened when the seat first acts in a game. The rows of a step are asked
at the same time, over connections that are kept open. A request is repeated once if its connection was lost, which is
safe because decisions are numbered.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import time
import urllib.parse
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params
from ludus.bridges import identity_of, open_pool
from ludus.files import names_may_be_files
from ludus.games import plain_name
from ludus.pool.actions import is_per_row
from ludus.types import Array, Continuous, Decision, Discrete, JsonObject, LudusError, Spec, Step

SCHEMES = ("http://", "https://")
ALLOWED, TOKENS = "LUDUS_AGENT_SERVERS", "LUDUS_TOKENS"
"""environment variables: servers that requests to a studio or server may name, with spaces between them; and tokens
with the servers that receive them, `http://host:3000=TOKEN`"""
CONNECTIONS, SECONDS, LARGEST_ANSWER, BUSY = 16, 60.0, 2**24, 7
SHORT = 2.0
"""seconds to wait for the list of agents of a server"""


Decided = tuple[Any, float]
"""an action and a value"""


class Checked(NamedTuple):
    """A model that plays the same game as we."""

    name: str
    spec: Spec


class Place(NamedTuple):
    """A server and the name of a model there; "" for its only one."""

    server: str
    model: str


def is_url(kind: str) -> bool:
    """Whether the name of an agent is the address of a served one."""
    return kind.startswith(SCHEMES)


def place_of(url: str) -> Place:
    """The parts of an address; raises LudusError for invalid ones, and in a server for those that are not allowed."""
    try:
        parts = urllib.parse.urlsplit(url)
        valid = (
            bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc and not (parts.query or parts.fragment)
        )
    except ValueError:
        valid = False
    if not valid or not url.isascii() or any(letter <= " " for letter in url):
        raise LudusError(f'"{url[:100]}" is not the address of an agent; write http://host:port/model')
    place = Place(f"{parts.scheme}://{parts.netloc}".lower(), urllib.parse.unquote(parts.path.strip("/")))
    allowed = os.environ.get(ALLOWED, "").lower().split()
    if not names_may_be_files() and place.server not in [server.rstrip("/") for server in allowed]:
        raise LudusError(f"agents of {place.server} are not allowed here; its operator can set {ALLOWED}")
    return place


def model_at(url: str) -> JsonObject:
    """What the server says about the model at an address."""
    place = place_of(url)
    wire = Wire(place.server)
    try:
        return _model(wire, place)
    finally:
        wire.close()


def offered(game: str) -> list[str]:
    """The addresses of the agents for a game on the servers that requests may name; servers that are away have none."""
    found = []
    for server in os.environ.get(ALLOWED, "").split():
        with contextlib.suppress(LudusError):
            wire = Wire(place_of(server).server, SHORT)
            try:
                found += [f"{wire.server}/{model['name']}" for model in _models(wire) if _plays(model, game)]
            finally:
                wire.close()
    return found


def load(url: str, game: str) -> RemoteAgent:
    """The agent at an address; raises LudusError if it plays another game or another version of the game."""
    place = place_of(url)
    wire = Wire(place.server)
    try:
        found = _checked_model(url, game, wire, place)
    except LudusError:
        wire.close()
        raise
    return RemoteAgent(url, found.name, found.spec, wire)


def _checked_model(url: str, game: str, wire: Wire, place: Place) -> Checked:
    found = _model(wire, place)
    if not _plays(found, game):
        raise LudusError(f"{url} plays {found['game']}, not {game}; choose another agent or game")
    pool = open_pool(game, 1, 0, threads=1)
    fingerprint, spec = identity_of(pool).fingerprint, pool.spec
    pool.close()
    if found["fingerprint"] != fingerprint:
        raise LudusError(f"{url} plays another version of {game}; use the same version of ludus on both sides")
    if not found.get("sessions", True):
        raise LudusError(f"{url} simulates the game, so it cannot be asked for decisions; load it on this machine")
    return Checked(str(found["name"]), spec)


def _plays(model: JsonObject, game: str) -> bool:
    return plain_name(str(model["game"])) == plain_name(game)


def _models(wire: Wire) -> list[JsonObject]:
    models = wire.send("GET", "/v1/models").get("models")
    if not (isinstance(models, list) and all(isinstance(model, dict) and _describes(model) for model in models)):
        raise LudusError(f"{wire.server} answered something else than a list of models; is it ludus serve?")
    return models


def _model(wire: Wire, place: Place) -> JsonObject:
    models = _models(wire)
    found = [model for model in models if place.model in ("", model["name"])]
    if len(found) != 1:
        names = ", ".join(str(model["name"]) for model in models)
        which = f'has no model "{place.model}"' if place.model else f"serves {len(models)} models"
        raise LudusError(f"{place.server} {which}; add one of these to the address: {names or 'none'}")
    return dict(found[0])


def _describes(model: JsonObject) -> bool:
    return all(isinstance(model.get(name), str) for name in ("name", "game", "fingerprint"))


@dataclass(frozen=True, eq=False)
class RemoteAgent(Agent):
    """Plays by the agent sessions of a server."""

    url: str
    model: str
    spec: Spec
    wire: Wire

    def init(self, spec: Spec, key: Key) -> Params:
        return ()

    def memory(self, rows: int) -> Memory:
        """For every row and seat the number of its session, 0 for none, and the index of its next request."""
        shape = (rows, self.spec.seats)
        return {"session": np.zeros(shape, np.int64), "index": np.zeros(shape, np.int64)}

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Ask the server in all rows where there is something to decide; elsewhere any legal action is returned."""
        sessions, indices = memory["session"].copy(), memory["index"].copy()
        rows = np.flatnonzero((step.discount != 0) & (step.seat >= 0)).tolist()
        for row in rows:
            if step.first[row]:
                self.wire.forget(sessions[row][sessions[row] > 0].tolist())
                sessions[row] = indices[row] = 0
        answers = self.wire.each(lambda row: self._ask(row, step, sessions, indices, key), rows)
        actions, values = self._defaults(step), np.zeros((len(step.seat), self.spec.seats))
        for row, (action, value) in zip(rows, answers, strict=True):
            actions[row], values[row, step.seat[row]] = action, value
        return Decision(actions, np.zeros(len(actions)), values), {"session": sessions, "index": indices}

    def _defaults(self, step: Step) -> Array:
        if isinstance(self.spec.actions, Continuous):
            return np.tile(np.array(self.spec.actions.low, np.float64), (len(step.seat), 1))
        return np.asarray(step.mask.argmax(axis=1))

    def _ask(self, row: int, step: Step, sessions: Array, indices: Array, key: Key) -> Decided:
        """The action and the value of one row; its session is opened first if it has none."""
        seat = int(step.seat[row])
        if not sessions[row, seat]:
            # One seed for all rows gives them different sessions; a seed for each row is used as it is.
            seed = int(key[row]) % 2**31 if is_per_row(key) else int(np.asarray(key)) % 2**31 + row
            sessions[row, seat] = self.wire.open_session(self.model, seat, seed)
        observation = {name: array[row].tolist() for name, array in step.observation.items()}
        body = {
            "index": int(indices[row, seat]),
            "observation": observation,
            "mask": step.mask[row].astype(int).tolist(),
        }
        if isinstance(self.spec.actions, Continuous):
            body["mask"] = None
        answer = self.wire.act(int(sessions[row, seat]), body)
        action, value, index = answer.get("action"), answer.get("value"), answer.get("index")
        if not self._is_legal(action, step.mask[row]) or type(index) is not int:
            raise LudusError(f"{self.url} answered {str(action)[:60]!r}, which is no legal action; is it ludus serve?")
        indices[row, seat] = index
        return action, float(value) if isinstance(value, int | float) else 0.0

    def _is_legal(self, action: object, mask: Array) -> bool:
        actions = self.spec.actions
        if isinstance(actions, Discrete):
            return type(action) is int and 0 <= action < actions.n and bool(mask[action])
        if not isinstance(action, list) or len(action) != len(actions.low):
            return False
        numbers = all(type(number) in (int, float) for number in action)
        return numbers and all(a <= x <= b for a, x, b in zip(actions.low, action, actions.high, strict=True))


class Wire:
    """Open connections to a server, and the sessions that are open there."""

    def __init__(self, server: str, seconds: float = SECONDS) -> None:
        """`seconds` is the time that an answer may take."""
        self.server, self.seconds = server, seconds
        self._idle: list[http.client.HTTPConnection] = []
        self._sessions: dict[int, str] = {}
        self._numbers = itertools.count(1)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="remote agent")
        self._finalizer = weakref.finalize(self, _finish, server, self._idle, self._sessions, self._threads)

    def close(self) -> None:
        """End all sessions and connections."""
        self._finalizer()

    def each(self, ask: Callable[[int], Decided], rows: list[int]) -> list[Decided]:
        """`ask` of every row, several at a time; after an error, requests that are under way are awaited too."""
        if len(rows) < 2:
            return [ask(row) for row in rows]
        asked = [self._threads.submit(ask, row) for row in rows]
        wait(asked)
        return [answer.result() for answer in asked]

    def open_session(self, model: str, seat: int, seed: int) -> int:
        """Open a session; returns its number here."""
        name = self.send("POST", "/v1/sessions", {"model": model, "seat": seat, "seed": seed}).get("id")
        if not isinstance(name, str):
            raise LudusError(f"{self.server} opened a session without an id; is it ludus serve?")
        number = next(self._numbers)
        self._sessions[number] = name
        return number

    def act(self, number: int, body: JsonObject) -> JsonObject:
        """The answer to a request for a decision."""
        if number not in self._sessions:
            raise LudusError("this session of a served agent has ended; begin a new game")
        return self.send("POST", f"{_path(self._sessions[number])}/act", body)

    def forget(self, numbers: list[int]) -> None:
        """End sessions; the server also ends them by itself after some time."""
        for number in numbers:
            name = self._sessions.pop(number, None)
            if name is not None:
                with contextlib.suppress(LudusError):
                    self.send("DELETE", _path(name))

    def send(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        """The answer to a request as JSON; it is repeated while the server is busy."""
        for attempt in range(BUSY):
            status, data = self._exchange(method, path, body)
            if status != 503 or attempt == BUSY - 1:
                break
            time.sleep(0.1 * 2**attempt)
        return self._read(status, data)

    def _exchange(self, method: str, path: str, body: JsonObject | None) -> tuple[int, bytes]:
        """Status and content of an answer, over an idle connection, or a new one if the server has closed that."""
        content = None if body is None else json.dumps(body).encode()
        while True:
            try:
                connection, fresh = self._idle.pop(), False
            except IndexError:
                connection, fresh = _connect(self.server, self.seconds), True
            try:
                found = _sent(connection, method, path, content)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if fresh:
                    reason = getattr(error, "strerror", None) or error or type(error).__name__
                    raise LudusError(f"{self.server} does not answer ({reason}); start it with ludus serve") from None
            else:
                self._idle.append(connection)
                return found

    def _read(self, status: int, data: bytes) -> JsonObject:
        try:
            found = json.loads(data) if data else {}
        except (ValueError, RecursionError):
            found = None
        if status >= 400:
            detail = found.get("detail") if isinstance(found, dict) else None
            raise LudusError(f"{self.server} refused a request ({status}): {str(detail or 'no reason given')[:300]}")
        if not isinstance(found, dict):
            raise LudusError(f"{self.server} answered something else than JSON; is it ludus serve?")
        return found


def _connect(server: str, seconds: float = SECONDS) -> http.client.HTTPConnection:
    parts = urllib.parse.urlsplit(server)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.netloc, timeout=seconds)


def _sent(
    connection: http.client.HTTPConnection, method: str, path: str, content: bytes | None = None
) -> tuple[int, bytes]:
    headers = {"accept": "application/json", "content-type": "application/json"}
    if token := token_for(connection.host, connection.port):
        headers["authorization"] = f"Bearer {token}"
    connection.request(method, path, content, headers)
    answer = connection.getresponse()
    data = answer.read(LARGEST_ANSWER + 1)
    if len(data) > LARGEST_ANSWER:
        raise http.client.HTTPException(f"an answer of more than {LARGEST_ANSWER} bytes")
    return answer.status, data


def token_for(host: str, port: int) -> str:
    """The token of a server; empty if it has none."""
    for pair in os.environ.get(TOKENS, "").split():
        server, _, token = pair.partition("=")
        parts = urllib.parse.urlsplit(server)
        if (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)) == (host.lower(), port):
            return token
    return ""


def _path(session: str) -> str:
    return f"/v1/sessions/{urllib.parse.quote(session, safe='')}"


def _finish(
    server: str, idle: list[http.client.HTTPConnection], sessions: dict[int, str], threads: ThreadPoolExecutor
) -> None:
    """End all sessions; a server that has gone away is no error here."""
    # The last reference may be dropped by one of these threads, which cannot wait for itself.
    threads.shutdown(wait=False, cancel_futures=True)
    with contextlib.suppress(OSError, http.client.HTTPException):
        if sessions and not idle:
            idle.append(_connect(server))
        for name in sessions.values():
            _sent(idle[0], "DELETE", _path(name))
    sessions.clear()
    while idle:
        idle.pop().close()
