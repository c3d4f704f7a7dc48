"""The page's one WebSocket: rooms that it watches, runs that it follows, and the commands it gives.

One task reads and one writes. What waits to be sent is bounded: of each room the newest picture and the newest state,
and a short queue of everything else; so a slow page skips pictures and never slows anybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from ludus.studio.rooms import Room, Rooms
from ludus.studio.rooms.commands import FIELDS
from ludus.studio.rooms.stage import Frame
from ludus.types import LudusError

LONGEST, PER_SECOND = 4096, 200
MOST_SOCKETS, MOST_ROOMS, MOST_RUNS, MOST_WAITING = 200, 16, 64, 256
REFUSED, BUSY = 1008, 1013
GRACE = 2.0
"""seconds for a last word to a page that does not read"""
_open_sockets: set[int] = set()


class Malformed(Exception):  # noqa: N818  (it is the message that is malformed)
    """What no page of ours would send; the socket is closed with this sentence."""


class RunsFeed(Protocol):
    """News of the runs; callbacks are called in the event loop."""

    def follow(self, name: str, callback: Callable[[dict[str, Any]], None]) -> Callable[[], None]: ...
    def changed(self, callback: Callable[[dict[str, Any]], None]) -> Callable[[], None]: ...


class Studio(Protocol):
    """What a socket needs of the studio."""

    boot: str
    version: str

    @property
    def rooms(self) -> Rooms: ...
    @property
    def runs_feed(self) -> RunsFeed: ...


async def serve(websocket: WebSocket, studio: Studio) -> None:
    """Serve one page until it goes."""
    await websocket.accept()
    if len(_open_sockets) >= MOST_SOCKETS:
        await websocket.close(BUSY, "too many pages are open; close one of them")
        return
    page = Page(websocket, studio)
    _open_sockets.add(id(page))
    tasks = [asyncio.create_task(page.write()), asyncio.create_task(page.read()), asyncio.create_task(page.choke())]
    try:
        page.say({"kind": "hello", "boot": studio.boot, "version": studio.version})
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await _close(websocket, done.pop().exception())
    finally:
        _open_sockets.discard(id(page))
        page.leave_all()
        for task in tasks:
            task.add_done_callback(_let_rest)
            task.cancel()
        await asyncio.wait(tasks)


def _let_rest(task: asyncio.Task[None]) -> None:
    """The first end of a page is the one that counts; what its other tasks say then is not logged."""
    if not task.cancelled():
        task.exception()


async def _close(websocket: WebSocket, error: BaseException | None) -> None:
    """Close with the reason, of which the protocol has room for 123 bytes; a page that is gone needs none."""
    if isinstance(error, Malformed):
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            reason = str(error).encode()[:120].decode(errors="ignore")
            await asyncio.wait_for(websocket.close(REFUSED, reason), GRACE)
    elif error is not None and not isinstance(error, WebSocketDisconnect | RuntimeError):
        raise error


class Watcher:
    """One room as a page watches it: of its pictures and its states only the newest wait to be sent."""

    def __init__(self, page: Page, room: Room) -> None:
        self.page, self.room, self.seen = page, room, -1
        self.state: dict[str, Any] | None = None
        self.frame: Frame | None = None
        self._loop = asyncio.get_running_loop()

    def told(self, message: dict[str, Any]) -> None:
        self._hand_over(self._take_state if message["kind"] == "room" else self.page.say, message)

    def shown(self, frame: Frame) -> None:
        self._hand_over(self._take_frame, frame)

    def _hand_over(self, take: Callable[[Any], None], what: Any) -> None:
        # The loop is closed when the server ends while a room is still at its last move.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(take, what)

    def _take_state(self, state: dict[str, Any]) -> None:
        self.state = state
        self.page.wake()

    def _take_frame(self, frame: Frame) -> None:
        self.frame = frame
        self.page.wake()

    async def send(self, websocket: WebSocket) -> None:
        """The state before the picture: it says whose picture it is."""
        state, self.state = self.state, None
        if state:
            await websocket.send_text(_text(state))
        frame, self.frame = self.frame, None
        if frame:
            message, self.seen = frame.after(self.seen), frame.number
            await websocket.send_bytes(message)


class Page:
    """What one socket watches and follows, and what waits to be sent to it."""

    def __init__(self, websocket: WebSocket, studio: Studio) -> None:
        self.websocket, self.studio = websocket, studio
        self.watchers: dict[str, Watcher] = {}
        self.stops: dict[str, Callable[[], None]] = {}
        """of the runs that are followed, by name; "" is the list of runs"""
        self._waiting: deque[dict[str, Any]] = deque()
        self._work = asyncio.Event()
        self._second, self._heard = 0.0, 0
        self._choked = asyncio.Event()

    # Reading.

    async def read(self) -> None:
        """Hear the page until it goes."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._count()
            await self.hear(parsed(message.get("text")))

    def _count(self) -> None:
        now = time.monotonic()
        if now >= self._second + 1:
            self._second, self._heard = now, 0
        self._heard += 1
        if self._heard > PER_SECOND:
            raise Malformed(f"more than {PER_SECOND} messages in a second; send fewer")

    async def hear(self, message: dict[str, Any]) -> None:
        """Do what a message says; what cannot be done is answered with a sentence."""
        do, room, run = message.get("do"), message.get("room"), message.get("run")
        if not isinstance(do, str):
            raise Malformed(f'a message says what to do as "do", not {do!r:.40}')
        try:
            if do in FIELDS or do in ("watch", "leave"):
                await self._in_room(do, _name(room, "room"), message)
            elif do in ("follow", "unfollow"):
                self._follow(_name(run, "run"), do == "follow")
            elif do == "list":
                self._list()
            else:
                raise Malformed(f"nobody understands {do!r:.40}")
        except LudusError as error:
            self.say({"kind": "error", "sentence": str(error)} | ({"room": room} if isinstance(room, str) else {}))

    async def _in_room(self, do: str, name: str, message: dict[str, Any]) -> None:
        if do == "leave":
            self._leave(name)
        elif do == "watch":
            await self._watch(name)
        elif name not in self.watchers:
            raise LudusError("watch the room before you give it commands")
        else:
            watcher = self.watchers[name]
            future = watcher.room.command(message, watcher)
            future.add_done_callback(lambda done: self._answer(watcher, done))

    def _answer(self, watcher: Watcher, done: Future[None]) -> None:
        """Called in the room's thread: a command that could not be done is told to who gave it."""
        error = None if done.cancelled() else done.exception()
        if isinstance(error, LudusError):
            watcher.told({"kind": "error", "sentence": str(error), "room": watcher.room.id})

    async def _watch(self, name: str) -> None:
        """Watch a room; a room that is watched already tells everything once more."""
        if name not in self.watchers and len(self.watchers) >= MOST_ROOMS:
            raise LudusError(f"a page watches at most {MOST_ROOMS} rooms; leave one of them")
        if name not in self.watchers:
            room = await asyncio.to_thread(self.studio.rooms.get, name)
            self.watchers[name] = Watcher(self, room)
        watcher = self.watchers[name]
        watcher.seen = -1
        await asyncio.to_thread(watcher.room.attach, watcher)

    def _leave(self, name: str) -> None:
        watcher = self.watchers.pop(name, None)
        if watcher:
            watcher.room.detach(watcher)

    def _follow(self, name: str, on: bool) -> None:
        stop = self.stops.pop(name, None)
        if stop:
            stop()
        if on:
            if len(self.stops) >= MOST_RUNS:
                raise LudusError(f"a page follows at most {MOST_RUNS} runs; leave one of them")
            self.stops[name] = self.studio.runs_feed.follow(name, self.say)

    def _list(self) -> None:
        if "" not in self.stops:
            self.stops[""] = self.studio.runs_feed.changed(self.say)

    def leave_all(self) -> None:
        """The page is gone."""
        for name in list(self.watchers):
            self._leave(name)
        for stop in self.stops.values():
            stop()
        self.stops.clear()

    # Writing.

    def say(self, message: dict[str, Any]) -> None:
        """Have a message sent; a page that does not read for very long is let go."""
        if message == {"kind": "runs"} and message in self._waiting:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._choked.set()
            return
        self._waiting.append(message)
        self.wake()

    def wake(self) -> None:
        self._work.set()

    async def choke(self) -> None:
        """Wait until too much waits to be sent."""
        await self._choked.wait()
        raise Malformed("this page does not read what it is sent; load it again")

    async def write(self) -> None:
        """Send what waits, for ever."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting:
                await self.websocket.send_text(_text(self._waiting.popleft()))
            for watcher in list(self.watchers.values()):
                await watcher.send(self.websocket)


def parsed(text: str | None) -> dict[str, Any]:
    """A message from a page: a short JSON object."""
    if text is None or len(text.encode()) > LONGEST:
        raise Malformed(f"a message is a JSON object of at most {LONGEST} bytes")
    try:
        message = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise Malformed(f"a message is a JSON object of at most {LONGEST} bytes")
    return message


def _text(message: dict[str, Any]) -> str:
    """JSON in ASCII: a page may have named things by halves of letters, which no UTF-8 can hold."""
    return json.dumps(message, separators=(",", ":"))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise Malformed(f'this message wants the name of a {what} as "{what}"')
    return value
