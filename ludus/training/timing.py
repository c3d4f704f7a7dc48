"""Seconds and steps per second of a run."""

from __future__ import annotations

import collections
import time


class Stopwatch:
    """Seconds of training, without evaluations and checkpoints."""

    def __init__(self, before: float) -> None:
        self.total, self.since = before, time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.total + (time.perf_counter() - self.since if self.since else 0.0)

    def pause(self) -> None:
        self.total, self.since = self.seconds, 0.0

    def go_on(self) -> None:
        self.since = time.perf_counter()


class Speed:
    """Steps per second over the last few seconds."""

    def __init__(self, window: float = 3.0) -> None:
        self.window, self.marks = window, collections.deque[tuple[float, int]]()

    def rate(self, steps: int, now: float) -> float:
        self.marks.append((now, steps))
        while len(self.marks) > 2 and now - self.marks[1][0] >= self.window:
            self.marks.popleft()
        (then, before), (now, steps) = self.marks[0], self.marks[-1]
        return (steps - before) / (now - then) if now > then else 0.0
