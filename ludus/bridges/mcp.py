"""A game behind somebody else's MCP server, for programs: `reset(seed)`, then `play(name)` until it is over.

The connection lives in a thread with an event loop. A call that fails on its way is sent again over a new connection;
it carries the number of the move, so the server never plays it twice. Every state is checked, and a server that lies is
left at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from ludus import games
from ludus.bridges.mcp_states import Lie, RemoteState, read
from ludus.types import Discrete, JsonObject, LudusError

if TYPE_CHECKING:
    from mcp import Client

STARTING = 30.0
"""seconds that a new connection may take, besides the time of a call"""


class MCPClient(Protocol):
    """What plays a game behind an MCP server; names of actions are those in `legal` of the last state."""

    def reset(self, seed: int | None = None) -> RemoteState:
        """Open a new game."""
        ...

    def play(self, action_name: str) -> RemoteState:
        """Play a legal action by its name; the state when this seat is to move again, or at the end."""
        ...

    def close(self) -> None:
        """Leave the server."""
        ...


class MCPGame:
    """An `MCPClient` for servers with the tools of `ludus mcp`: `new_game` and `play`.

    `server` is the address of a server over HTTP, or the words of the command that starts one. `timeout` is the number
    of seconds that a call may take, and `reconnects` how often a call is sent again over a new connection.
    """

    def __init__(
        self, server: str | Sequence[str], game: str = "balatro", opponent: str = "best", timeout: float = 30.0,
        reconnects: int = 2,
    ) -> None:  # fmt: skip
        self.game, self.full_name, self.opponent = games.load(game), game, opponent
        if not isinstance(self.game.spec.actions, Discrete):
            raise LudusError(f"{game} has continuous actions, which have no names; MCPGame plays games with a list")
        self.place = server if isinstance(server, str) else " ".join(server)
        self._link = Link(lambda: connection(server), timeout, reconnects)
        self._game_id = ""
        self._state: RemoteState | None = None

    def reset(self, seed: int | None = None) -> RemoteState:
        """Open a new game."""
        arguments = {"game": self.full_name, "opponent": self.opponent, "observation": True}
        opened = self._call("new_game", arguments | ({} if seed is None else {"seed": seed}))
        game_id = opened.get("game_id")
        if not isinstance(game_id, str):
            raise self._leave("new_game returned no game_id")
        self._game_id, self._state = game_id, None
        return self._read(opened.get("state"))

    def play(self, action_name: str) -> RemoteState:
        """Play a legal action by its name."""
        state = self._state
        if state is None or state.over:
            raise LudusError("there is no game that goes on; call reset first")
        if action_name not in state.legal:
            some = ", ".join(list(state.legal)[:12])
            raise LudusError(f'"{action_name}" is not a legal move here; there are {some}')
        arguments = {
            "game_id": self._game_id, "move": state.legal[action_name], "at_move": state.move, "observation": True
        }  # fmt: skip
        return self._read(self._call("play", arguments))

    def _call(self, tool: str, arguments: JsonObject) -> JsonObject:
        try:
            return self._link.call(tool, arguments)
        except Lie as lie:
            raise self._leave(str(lie)) from None
        except LudusError as error:
            raise LudusError(f"the MCP server {self.place}: {error}") from None

    def _read(self, facts: object) -> RemoteState:
        try:
            self._state = read(facts, self.game, self._state)
        except Lie as lie:
            raise self._leave(str(lie)) from None
        return self._state

    def _leave(self, what: str) -> LudusError:
        self.close()
        self._state = None
        return LudusError(f"the MCP server {self.place} does not play {self.game.name} by its rules: {what}")

    def close(self) -> None:
        """Leave the server."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Call(NamedTuple):
    """A call of a tool, and where its answer goes."""

    tool: str
    arguments: JsonObject
    answer: concurrent.futures.Future[JsonObject]


class Link:
    """A connection to a server in a thread of its own; one call at a time."""

    def __init__(
        self, connect: Callable[[], AbstractAsyncContextManager[Client]], timeout: float, reconnects: int
    ) -> None:
        self._connect, self._timeout, self._reconnects = connect, timeout, reconnects
        self._loop, self._closed = asyncio.new_event_loop(), False
        self._calls: asyncio.Queue[Call | None] = asyncio.Queue()
        self._waiting: Call | None = None
        """the call that has no answer yet"""
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self._thread.start()

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """The structured content of an answer; raises LudusError if there is none."""
        if self._closed:
            raise LudusError("the connection is closed; make another client")
        answer: concurrent.futures.Future[JsonObject] = concurrent.futures.Future()
        self._loop.call_soon_threadsafe(self._calls.put_nowait, Call(tool, arguments, answer))
        return answer.result()

    def close(self) -> None:
        """End the connection and its thread."""
        if not self._closed:
            self._closed = True
            self._loop.call_soon_threadsafe(self._calls.put_nowait, None)
            self._thread.join(STARTING)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        """Answer calls until `close`, over a new connection after each failure."""
        failures = 0
        while (call := await self._calls.get()) is not None:
            self._waiting = call
            while self._waiting is not None:
                try:
                    await self._talk()
                    return
                except Exception as error:
                    failures = failures + 1 if self._waiting is not None else 0
                    if self._waiting is not None and failures > self._reconnects:
                        sentence = f"{self._waiting.tool} failed {failures} times: {reason(error)}"
                        self._waiting.answer.set_exception(LudusError(sentence))
                        self._waiting, failures = None, 0

    async def _talk(self) -> None:
        """Answer calls over one connection until `close`; an error on the way leaves the call waiting."""
        async with self._connected() as client:
            while self._waiting is not None:
                await self._answer(client, *self._waiting)
                self._waiting = None
                self._waiting = await self._calls.get()

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(STARTING + self._timeout):
                client = await stack.enter_async_context(self._connect())
            yield client

    async def _answer(
        self, client: Client, tool: str, arguments: JsonObject, answer: concurrent.futures.Future[JsonObject]
    ) -> None:
        """Send one call; an error on the way is raised, so that the call is sent again."""
        async with asyncio.timeout(self._timeout):
            result = await client.call_tool(tool, arguments)
        if result.is_error:
            said = " ".join(str(getattr(part, "text", "")) for part in result.content)[:500]
            answer.set_exception(LudusError(f"{tool} was refused: {said}"))
        elif not isinstance(result.structured_content, dict):
            answer.set_exception(Lie(f"{tool} returned no structured content"))
        else:
            answer.set_result(result.structured_content)


def connection(server: str | Sequence[str]) -> AbstractAsyncContextManager[Client]:
    """The official client of a server at an address, or of a new process; raises LudusError without the package."""
    try:
        from mcp import Client, StdioServerParameters, stdio_client
    except ImportError as missing:
        raise LudusError("an MCP client needs the package mcp; install it: pip install 'ludus[mcp]'") from missing
    if isinstance(server, str):
        return Client(server)
    command, *words = server
    return Client(stdio_client(StdioServerParameters(command=command, args=words, env=dict(os.environ))))


def reason(error: BaseException) -> str:
    """The first cause of an error, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return "it took too long" if isinstance(error, TimeoutError) else str(error) or type(error).__name__


__all__ = ["MCPClient", "MCPGame", "RemoteState"]
