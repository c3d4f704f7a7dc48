"""Ctrl-C and SIGTERM end a run cleanly: it stops after the current update and saves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """The first Ctrl-C or SIGTERM sets the event, for a clean end; the second one interrupts at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread may handle signals
        yield stop
        return

    def request_stop(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        # os.write instead of print, because the signal may interrupt a print.
        os.write(2, b"\nludus: stopping after this chunk and saving; press Ctrl-C again to stop at once\n")

    before = {number: signal.signal(number, request_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
