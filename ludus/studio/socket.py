"""The WebSocket of a page: the rooms that it watches, the runs that it follows, and its commands.

One task reads and one writes. Of each room only the newest picture and state wait to be sent, other messages wait in a
short queue; so a slow page skips pictures and does not slow down others.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from starlette.websockets import WebSocket, WebSocketDisconnect

from ludus.studio.rooms import Room, Rooms
from ludus.studio.rooms.schema import FIELDS
from ludus.studio.rooms.stage import Frame
from ludus.types import JsonObject, LudusError

LONGEST, PER_SECOND = 4096, 200
MOST_SOCKETS, MOST_ROOMS, MOST_RUNS, MOST_WAITING = 200, 16, 64, 256
REFUSED, BUSY = 1008, 1013
GRACE = 2.0
"""seconds to wait for the close message to be sent to a page that does not read"""
Item = TypeVar("Item")
_open_sockets: set[int] = set()


class Malformed(Exception):  # noqa: N818  (it is the message that is malformed)
    """A message that the studio's page never sends; the socket is closed with this reason."""


class RunsFeed(Protocol):
    """Sends changes of runs; callbacks are called in the event loop."""

    def follow(self, name: str, callback: Callable[[JsonObject], None]) -> Callable[[], None]: ...
    def changed(self, callback: Callable[[JsonObject], None]) -> Callable[[], None]: ...


class Studio(Protocol):
    """The parts of the studio that a socket needs."""

    boot: str
    version: str

    @property
    def rooms(self) -> Rooms: ...
    @property
    def runs_feed(self) -> RunsFeed: ...


async def serve(websocket: WebSocket, studio: Studio) -> None:
    """Serve one page until it disconnects."""
    await websocket.accept()
    if len(_open_sockets) >= MOST_SOCKETS:
        await websocket.close(BUSY, "too many pages are open; close one of them")
        return
    page = Page(websocket, studio)
    _open_sockets.add(id(page))
    tasks = [asyncio.create_task(work()) for work in (page.write, page.read, page.wait_for_overflow)]
    try:
        page.enqueue({"kind": "hello", "boot": studio.boot, "version": studio.version})
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await _close(websocket, done.pop().exception())
    finally:
        _open_sockets.discard(id(page))
        page.leave_all()
        for task in tasks:
            task.add_done_callback(_ignore_exception)
            task.cancel()
        await asyncio.wait(tasks)


def _ignore_exception(task: asyncio.Task[None]) -> None:
    """Retrieve the exception of a cancelled task, so that asyncio does not log it; only the first one matters."""
    if not task.cancelled():
        task.exception()


async def _close(websocket: WebSocket, error: BaseException | None) -> None:
    """Close with the reason, which the protocol limits to 123 bytes; do nothing if the page has disconnected."""
    if isinstance(error, Malformed):
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            reason = str(error).encode()[:120].decode(errors="ignore")
            await asyncio.wait_for(websocket.close(REFUSED, reason), GRACE)
    elif error is not None and not isinstance(error, WebSocketDisconnect | RuntimeError):
        raise error


class Watcher:
    """One room that a page watches; only its newest picture and state wait to be sent."""

    def __init__(self, page: Page, room: Room) -> None:
        self.page, self.room, self.seen = page, room, -1
        self.state: JsonObject | None = None
        self.frame: Frame | None = None
        self._loop = asyncio.get_running_loop()

    def on_message(self, message: JsonObject) -> None:
        self._call_in_loop(self._take_state if message["kind"] == "room" else self.page.enqueue, message)

    def on_frame(self, frame: Frame) -> None:
        self._call_in_loop(self._take_frame, frame)

    def _call_in_loop(self, take: Callable[[Item], None], what: Item) -> None:
        # The loop may already be closed if the server ends while a room is making a move.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(take, what)

    def _take_state(self, state: JsonObject) -> None:
        self.state = state
        self.page.wake()

    def _take_frame(self, frame: Frame) -> None:
        self.frame = frame
        self.page.wake()

    async def send(self, websocket: WebSocket) -> None:
        """Send the state, then the picture, because the page needs the state to draw it."""
        state, self.state = self.state, None
        if state:
            await websocket.send_text(_text(state))
        frame, self.frame = self.frame, None
        if frame:
            message, self.seen = frame.after(self.seen), frame.number
            await websocket.send_bytes(message)


class Page:
    """The rooms and runs of one socket, and the messages that wait to be sent to it."""

    def __init__(self, websocket: WebSocket, studio: Studio) -> None:
        self.websocket, self.studio = websocket, studio
        self.watchers: dict[str, Watcher] = {}
        self.stops: dict[str, Callable[[], None]] = {}
        """functions that end the subscription of a run, by its name; "" is the list of runs"""
        self._waiting: deque[JsonObject] = deque()
        self._work = asyncio.Event()
        self._second, self._received = 0.0, 0
        self._overflow = asyncio.Event()

    # Reading.

    async def read(self) -> None:
        """Handle messages of the page until it disconnects."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._count()
            await self.handle(parsed(message.get("text")))

    def _count(self) -> None:
        now = time.monotonic()
        if now >= self._second + 1:
            self._second, self._received = now, 0
        self._received += 1
        if self._received > PER_SECOND:
            raise Malformed(f"more than {PER_SECOND} messages in one second; send fewer")

    async def handle(self, message: JsonObject) -> None:
        """Execute a message; a LudusError is sent back as an error message."""
        do, room, run = message.get("do"), message.get("room"), message.get("run")
        if not isinstance(do, str):
            raise Malformed(f'the field "do" of a message must be a string, not {do!r:.40}')
        try:
            if do in FIELDS or do in ("watch", "leave"):
                await self._in_room(do, _name(room, "room"), message)
            elif do in ("follow", "unfollow"):
                self._follow(_name(run, "run"), do == "follow")
            elif do == "list":
                self._list()
            else:
                raise Malformed(f"unknown command {do!r:.40}")
        except LudusError as error:
            self.enqueue({"kind": "error", "sentence": str(error)} | ({"room": room} if isinstance(room, str) else {}))

    async def _in_room(self, do: str, name: str, message: JsonObject) -> None:
        if do == "leave":
            self._leave(name)
        elif do == "watch":
            await self._watch(name)
        elif name not in self.watchers:
            raise LudusError("the page does not watch this room; watch it before sending commands")
        else:
            watcher = self.watchers[name]
            future = watcher.room.command(message, watcher)
            future.add_done_callback(lambda done: self._answer(watcher, done))

    def _answer(self, watcher: Watcher, done: Future[None]) -> None:
        """Send the error of a failed command to the page that gave it; called in the room's thread."""
        error = None if done.cancelled() else done.exception()
        if isinstance(error, LudusError):
            watcher.on_message({"kind": "error", "sentence": str(error), "room": watcher.room.id})

    async def _watch(self, name: str) -> None:
        """Watch a room; if it is watched already, its state and picture are sent again."""
        if name not in self.watchers and len(self.watchers) >= MOST_ROOMS:
            raise LudusError(f"a page can watch at most {MOST_ROOMS} rooms; leave one of them")
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
                raise LudusError(f"a page can follow at most {MOST_RUNS} runs; unfollow one of them")
            self.stops[name] = self.studio.runs_feed.follow(name, self.enqueue)

    def _list(self) -> None:
        if "" not in self.stops:
            self.stops[""] = self.studio.runs_feed.changed(self.enqueue)

    def leave_all(self) -> None:
        """End all subscriptions after the page has disconnected."""
        for name in list(self.watchers):
            self._leave(name)
        for stop in self.stops.values():
            stop()
        self.stops.clear()

    # Writing.

    def enqueue(self, message: JsonObject) -> None:
        """Queue a message; if too many wait because the page does not read, the socket is closed."""
        if message == {"kind": "runs"} and message in self._waiting:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._overflow.set()
            return
        self._waiting.append(message)
        self.wake()

    def wake(self) -> None:
        self._work.set()

    async def wait_for_overflow(self) -> None:
        """Raise Malformed when too many messages wait to be sent."""
        await self._overflow.wait()
        raise Malformed("this page does not read its messages; reload it")

    async def write(self) -> None:
        """Send waiting messages until the task is cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting:
                await self.websocket.send_text(_text(self._waiting.popleft()))
            for watcher in list(self.watchers.values()):
                await watcher.send(self.websocket)


def parsed(text: str | None) -> JsonObject:
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


def _text(message: JsonObject) -> str:
    """JSON in ASCII, because text from a page may contain lone surrogates, which UTF-8 cannot encode."""
    return json.dumps(message, separators=(",", ":"))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _name(value: object, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise Malformed(f'the field "{what}" of this message must be the name of a {what}')
    return value
