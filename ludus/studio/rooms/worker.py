"""The thread of a room: executes requested calls, and calls its worker when something is due."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeVar

Result = TypeVar("Result")


class Worker(Protocol):
    """What the thread calls; both methods are called in that thread only."""

    def due(self) -> float | None:
        """When `turn` is to be called, by `time.monotonic`; None if not before the next requested call."""

    def turn(self) -> None:
        """Do what is due."""

    def mode(self) -> AbstractContextManager[None]:
        """The context in which the thread makes all calls."""


class Call(NamedTuple):
    """A requested call: `execute` makes it, `cancel` drops it."""

    execute: Callable[[], None]
    cancel: Callable[[], object]


class RoomThread:
    """The thread of one room."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker = worker
        self._inbox: deque[Call] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Call a function in the thread; its result or exception is in the future."""
        future: Future[Result] = Future()
        with self._changed:
            if self._closed:
                future.cancel()
            else:
                self._inbox.append(Call(lambda: _execute(work, future), future.cancel))
                self._changed.notify()
        return future

    def waiting(self) -> int:
        """The number of waiting calls."""
        return len(self._inbox)

    def wake(self) -> None:
        """Make the thread ask its worker again when it is due."""
        self.submit(lambda: None)

    def close(self) -> None:
        """End the thread after the present call."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def join(self, seconds: float = 10.0) -> None:
        """Wait for the end of the thread, but at most `seconds`: an agent may think for long."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while (calls := self._next_calls()) is not None:
            for call in calls:
                with self._worker.mode():
                    call.execute()
            due = self._worker.due()
            if due is not None and due <= time.monotonic():
                with self._worker.mode():
                    self._worker.turn()

    def _next_calls(self) -> list[Call] | None:
        """The calls requested until something is due; None once the thread is closed."""
        due = self._worker.due()
        with self._changed:
            if not self._inbox and not self._closed:
                self._changed.wait(None if due is None else max(0.0, due - time.monotonic()))
            calls = list(self._inbox)
            self._inbox.clear()
            if not self._closed:
                return calls
        for call in calls:
            call.cancel()
        return None


def _execute(work: Callable[[], Result], future: Future[Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)
