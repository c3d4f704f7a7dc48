"""The listeners of a room, and how often they get its state and frames."""

from __future__ import annotations

import threading
import time
from typing import Protocol

from ludus.studio.rooms.stage import Frame
from ludus.types import JsonObject


class Listener(Protocol):
    """A viewer of a room. Both methods are called in the room's thread and must not block."""

    def on_message(self, message: JsonObject) -> None:
        """The state of the room, or an error."""

    def on_frame(self, frame: Frame) -> None:
        """The next frame."""


class Audience:
    """The listeners, and the newest state and frame for listeners that join later. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock, self._listeners = threading.Lock(), list[Listener]()
        self.state: JsonObject = {}
        self.frame: Frame | None = None
        self.unwatched_since = time.monotonic()

    def add(self, listener: Listener) -> None:
        """Send the present state and frame, and everything from now on; a second call sends them again."""
        with self._lock:
            if listener not in self._listeners:
                self._listeners.append(listener)
            listener.on_message(self.state)
            if self.frame:
                listener.on_frame(self.frame)

    def remove(self, listener: Listener) -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)
            self.unwatched_since = time.monotonic()

    @property
    def watched(self) -> bool:
        return bool(self._listeners)

    def send(self, message: JsonObject) -> None:
        """Send a state, which is kept, or an error, which is not."""
        with self._lock:
            if message["kind"] == "room":
                self.state = message
            for listener in self._listeners:
                listener.on_message(message)

    def show(self, frame: Frame) -> None:
        with self._lock:
            self.frame = frame
            for listener in self._listeners:
                listener.on_frame(frame)


class RateLimit:
    """Lets something happen at most once in an interval of seconds, and remembers when it was last held back."""

    def __init__(self, interval: float) -> None:
        self.interval, self._last = interval, 0.0
        self.due: float | None = None
        """when what was held back may happen, by `time.monotonic`"""

    def passes(self, unlimited: bool) -> bool:
        """Whether it may happen now; always if `unlimited`."""
        now = time.monotonic()
        if not unlimited and now < self._last + self.interval:
            self.due = self.due or self._last + self.interval
            return False
        self._last, self.due = now, None
        return True
