"""The thread of a room: executes requested calls, and calls its worker when something is due."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol


class Worker(Protocol):
    """What the thread calls; both methods are called in that thread only."""

    def due(self) -> float | None:
        """When `turn` is to be called, by `time.monotonic`; None if not before the next requested call."""

    def turn(self) -> None:
        """Do what is due."""


class RoomThread:
    """The thread of one room."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker = worker
        self._inbox: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask(self, work: Callable[[], Any]) -> Future[Any]:
        """Call a function in the thread; its result or exception is in the future."""
        future: Future[Any] = Future()
        with self._changed:
            if self._closed:
                future.cancel()
            else:
                self._inbox.append((work, future))
                self._changed.notify()
        return future

    def waiting(self) -> int:
        """The number of waiting calls."""
        return len(self._inbox)

    def wake(self) -> None:
        """Make the thread ask its worker again when it is due."""
        self.ask(lambda: None)

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
        while (jobs := self._next_jobs()) is not None:
            for work, future in jobs:
                self._do(work, future)
            due = self._worker.due()
            if due is not None and due <= time.monotonic():
                self._worker.turn()

    def _next_jobs(self) -> list[tuple[Callable[[], Any], Future[Any]]] | None:
        """The calls requested until something is due; None once the thread is closed."""
        due = self._worker.due()
        with self._changed:
            if not self._inbox and not self._closed:
                self._changed.wait(None if due is None else max(0.0, due - time.monotonic()))
            jobs = list(self._inbox)
            self._inbox.clear()
            if not self._closed:
                return jobs
        for _, future in jobs:
            future.cancel()
        return None

    def _do(self, work: Callable[[], Any], future: Future[Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
