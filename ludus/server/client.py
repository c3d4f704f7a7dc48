"""Clients of `ludus serve`: `Client` waits for answers, `AsyncClient` is awaited. Both retry safely.

A request that is repeated is answered like the first time, because decisions and moves are numbered; so a lost
connection or a server that restarts is not an error until all attempts have failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ludus.server.messages import Answer, Legal, OpenedGame, SessionInfo, State
from ludus.server.problems import Problem
from ludus.types import JsonObject, LudusError

if TYPE_CHECKING:
    import httpx

ATTEMPTS, LONGEST_PAUSE = 6, 5.0
PREPARING, MOST_WAITS = ("not_ready", "compiling"), 100
"""codes of a server that loads or compiles, for which the client waits longer"""
MSGPACK = "application/msgpack"


class Call(NamedTuple):
    """A request, and the type of its answer: None for bytes."""

    method: str
    path: str
    kind: Any = None
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = {}


class Link(NamedTuple):
    """Where the server is, and how long to wait for it."""

    url: str
    token: str | None
    timeout: float

    def options(self) -> dict[str, Any]:
        """The arguments of a client of httpx."""
        headers = {"accept": f"{MSGPACK}, */*"} | ({"authorization": f"Bearer {self.token}"} if self.token else {})
        return {"base_url": self.url, "headers": headers, "timeout": self.timeout}


class Session:
    """An agent session: you play the game and ask for decisions."""

    def __init__(self, client: Client, info: SessionInfo) -> None:
        self._client, self.info, self.index = client, info, info.index

    def act(self, observation: Any, mask: Any = None) -> Answer:
        """The decision of the agent for an observation: all fields by name, or the array of the only one."""
        answer: Answer = self._client.send(_act(self.info.id, self.index, observation, mask))
        self.index = answer.index
        return answer

    def close(self) -> None:
        """Forget the session."""
        self._client.send(Call("DELETE", f"/v1/sessions/{self.info.id}"))


class Game:
    """A game session: the server plays the rules and the agents; you play the seats of persons."""

    def __init__(self, client: Client, opened: OpenedGame) -> None:
        self._client, self.id, self.keys, self.state = client, opened.id, opened.keys, opened.state

    @property
    def moves(self) -> list[Legal]:
        """The moves that may be played now."""
        return self.state.legal

    def play(self, move: str | int | Sequence[float], seat: int | None = None) -> State:
        """Play a move by its name or its action, by default in the first seat whose turn it is; then agents answer."""
        self.state = self._client.send(_move(self.id, self.keys, self.state, move, seat))
        return self.state

    def look(self, seat: int | None = None) -> State:
        """The state now, as a seat sees it."""
        self.state = self._client.send(_look(self.id, self.keys, self.state, seat))
        return self.state

    def picture(self, kind: str = "svg", seat: int | None = None) -> bytes:
        """The picture as svg or png."""
        content: bytes = self._client.send(_picture(self.id, self.keys, self.state, kind, seat))
        return content

    def replay(self) -> bytes:
        """The content of a file for `ludus replay`."""
        content: bytes = self._client.send(Call("GET", f"/v1/games/{self.id}/replay"))
        return content

    def close(self) -> None:
        """Forget the game."""
        self._client.send(Call("DELETE", f"/v1/games/{self.id}", headers=_key(self.keys, None)))


class Client:
    """A client of `ludus serve`.

    >>> import ludus
    >>> with ludus.Client("http://localhost:3000") as client:   # then: client.game("connect4", ["person", "perfect"])
    ...     client
    <ludus client of http://localhost:3000>
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 60.0) -> None:
        self.link = Link(url.rstrip("/"), token, timeout)
        self._http = _httpx().Client(**self.link.options())

    def __repr__(self) -> str:
        return f"<ludus client of {self.link.url}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def models(self) -> list[JsonObject]:
        """What the server serves."""
        found: list[JsonObject] = self.send(Call("GET", "/v1/models", JsonObject))["models"]
        return found

    def session(self, model: str, seat: int = 0, seed: int | None = None) -> Session:
        """Open an agent session."""
        return Session(self, self.send(_open_session(model, seat, seed)))

    def game(self, game: str, seats: Sequence[str], seed: int | None = None) -> Game:
        """Open a game; `seats` names for each seat "person", a model, or an agent of the game."""
        return Game(self, self.send(_open_game(game, seats, seed)))

    def send(self, call: Call) -> Any:
        """Send a request, again if the server cannot be reached or is busy."""
        for attempt in range(MOST_WAITS):
            try:
                return _read(call, self._http.request(**_request(call)))
            except (_httpx().TransportError, Problem) as error:
                pause = _pause(error, attempt, self.link.url)
            time.sleep(pause)
        raise AssertionError

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class AsyncSession:
    """Like `Session`, awaited."""

    def __init__(self, client: AsyncClient, info: SessionInfo) -> None:
        self._client, self.info, self.index = client, info, info.index

    async def act(self, observation: Any, mask: Any = None) -> Answer:
        """The decision of the agent for an observation."""
        answer: Answer = await self._client.send(_act(self.info.id, self.index, observation, mask))
        self.index = answer.index
        return answer

    async def close(self) -> None:
        """Forget the session."""
        await self._client.send(Call("DELETE", f"/v1/sessions/{self.info.id}"))


class AsyncGame:
    """Like `Game`, awaited."""

    def __init__(self, client: AsyncClient, opened: OpenedGame) -> None:
        self._client, self.id, self.keys, self.state = client, opened.id, opened.keys, opened.state

    @property
    def moves(self) -> list[Legal]:
        """The moves that may be played now."""
        return self.state.legal

    async def play(self, move: str | int | Sequence[float], seat: int | None = None) -> State:
        """Play a move by its name or its action; then agents answer."""
        self.state = await self._client.send(_move(self.id, self.keys, self.state, move, seat))
        return self.state

    async def look(self, seat: int | None = None) -> State:
        """The state now, as a seat sees it."""
        self.state = await self._client.send(_look(self.id, self.keys, self.state, seat))
        return self.state

    async def picture(self, kind: str = "svg", seat: int | None = None) -> bytes:
        """The picture as svg or png."""
        content: bytes = await self._client.send(_picture(self.id, self.keys, self.state, kind, seat))
        return content

    async def replay(self) -> bytes:
        """The content of a file for `ludus replay`."""
        content: bytes = await self._client.send(Call("GET", f"/v1/games/{self.id}/replay"))
        return content

    async def close(self) -> None:
        """Forget the game."""
        await self._client.send(Call("DELETE", f"/v1/games/{self.id}", headers=_key(self.keys, None)))


class AsyncClient:
    """A client of `ludus serve` whose methods are awaited.

    >>> import ludus
    >>> ludus.AsyncClient("http://localhost:3000")   # then: session = await client.session("car-0001")
    <ludus client of http://localhost:3000>
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 60.0) -> None:
        self.link = Link(url.rstrip("/"), token, timeout)
        self._http = _httpx().AsyncClient(**self.link.options())

    def __repr__(self) -> str:
        return f"<ludus client of {self.link.url}>"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def models(self) -> list[JsonObject]:
        """What the server serves."""
        found: list[JsonObject] = (await self.send(Call("GET", "/v1/models", JsonObject)))["models"]
        return found

    async def session(self, model: str, seat: int = 0, seed: int | None = None) -> AsyncSession:
        """Open an agent session."""
        return AsyncSession(self, await self.send(_open_session(model, seat, seed)))

    async def game(self, game: str, seats: Sequence[str], seed: int | None = None) -> AsyncGame:
        """Open a game; `seats` names for each seat "person", a model, or an agent of the game."""
        return AsyncGame(self, await self.send(_open_game(game, seats, seed)))

    async def send(self, call: Call) -> Any:
        """Send a request, again if the server cannot be reached or is busy."""
        for attempt in range(MOST_WAITS):
            try:
                return _read(call, await self._http.request(**_request(call)))
            except (_httpx().TransportError, Problem) as error:
                pause = _pause(error, attempt, self.link.url)
            await asyncio.sleep(pause)
        raise AssertionError

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise LudusError("the client needs httpx; install it: pip install 'ludus[client]'") from None
    return httpx


# Requests.


def _open_session(model: str, seat: int, seed: int | None) -> Call:
    return Call("POST", "/v1/sessions", SessionInfo, {"model": model, "seat": seat, "seed": seed})


def _open_game(game: str, seats: Sequence[str], seed: int | None) -> Call:
    return Call("POST", "/v1/games", OpenedGame, {"game": game, "seats": list(seats), "seed": seed})


def _act(session: str, index: int, observation: Any, mask: Any) -> Call:
    body = {"index": index, "observation": observation, "mask": mask}
    return Call("POST", f"/v1/sessions/{session}/act", Answer, body)


def _move(
    game: str, keys: Mapping[str, str], state: State, move: str | int | Sequence[float], seat: int | None
) -> Call:
    place = seat if seat is not None else next(iter(state.turn), 0)
    chosen = {"name": move} if isinstance(move, str) else {"action": move}
    body = {"move": state.move, "seat": place, **chosen}
    return Call("POST", f"/v1/games/{game}/moves", State, body, _key(keys, place))


def _look(game: str, keys: Mapping[str, str], state: State, seat: int | None) -> Call:
    place = _viewer(state, seat)
    return Call("GET", f"/v1/games/{game}?seat={place}", State, headers=_key(keys, place))


def _picture(game: str, keys: Mapping[str, str], state: State, kind: str, seat: int | None) -> Call:
    place = _viewer(state, seat)
    return Call("GET", f"/v1/games/{game}/picture.{kind}?seat={place}", headers=_key(keys, place))


def _viewer(state: State, seat: int | None) -> int:
    return seat if seat is not None else state.seat if state.seat is not None else 0


def _key(keys: Mapping[str, str], seat: int | None) -> dict[str, str]:
    """The header with the key of a seat, or of any seat."""
    key = next(iter(keys.values()), "") if seat is None else keys.get(str(seat), "")
    return {"x-seat-key": key} if key else {}


def _request(call: Call) -> dict[str, Any]:
    """The arguments of httpx."""
    request = {"method": call.method, "url": call.path, "headers": dict(call.headers)}
    if call.body is None:
        return request
    content = msgspec.msgpack.encode(call.body, enc_hook=_plain)
    return {**request, "headers": {**call.headers, "content-type": MSGPACK}, "content": content}


def _plain(value: Any) -> Any:
    """Arrays as lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise LudusError(f"cannot send {value!r:.60} to a server; give numbers, lists or arrays")


# Answers.


def _read(call: Call, answer: httpx.Response) -> Any:
    if answer.status_code >= 400:
        raise _problem(answer)
    if call.kind is None:
        return answer.content
    packed = answer.headers.get("content-type", "").startswith(MSGPACK)
    return (msgspec.msgpack if packed else msgspec.json).decode(answer.content, type=call.kind)


def _problem(answer: httpx.Response) -> Problem:
    try:
        found = msgspec.json.decode(answer.content)
        more = {name: value for name, value in found.items() if name not in ("status", "code", "detail")}
        return Problem(answer.status_code, str(found["code"]), str(found["detail"]), **more)
    except (msgspec.MsgspecError, KeyError, AttributeError, TypeError):  # a proxy has answered
        return Problem(answer.status_code, "http_error", f"the server answered {answer.status_code}")


def _pause(error: Exception, attempt: int, url: str) -> float:
    """The seconds to wait before the next attempt; raises the error if there is none."""
    wait = 0.1 * 2 ** min(attempt, 10)
    if isinstance(error, Problem):
        most = MOST_WAITS if error.code in PREPARING else ATTEMPTS
        if error.status not in (502, 503, 504) or attempt >= most - 1:
            raise error
        asked = error.more.get("retry_after", wait)
        return min(LONGEST_PAUSE, max(wait, asked if isinstance(asked, int | float) else wait))
    if attempt >= ATTEMPTS - 1:
        raise LudusError(f"{url} cannot be reached: {error or type(error).__name__}; start it: ludus serve") from None
    return min(LONGEST_PAUSE, wait)
