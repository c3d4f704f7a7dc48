"""Parts of evaluations and battles in several workers, each of which plays one part after the other.

A runtime provides lanes to its workers. If a worker dies, a new one plays its part again, with the same games.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from ludus.agents.bound import is_own_environment
from ludus.agents.players import person
from ludus.evaluation.parts import Part, Result, Spread, divided, joined
from ludus.evaluation.play import Tell
from ludus.runtimes.transport.replaced import MAX_DEATHS, WorkerDied
from ludus.types import LudusError


class Lane(Protocol):
    """The connection to one worker, wherever it runs."""

    def play(self, part: Part) -> Result:
        """The games of a part; raises WorkerDied if the worker has died or is closed."""
        ...

    def close(self) -> None:
        """End the worker, also while it plays; may be called twice, and from any thread."""
        ...


def spread_over(workers: int, open_lane: Callable[[int], Lane]) -> Spread:
    """Plays matches in so many workers; `open_lane` starts the worker with this number."""

    def spread(matches: Sequence[Part], tell: Tell | None = None) -> list[Result]:
        for match in matches:
            check_shared(match)
        return Spreading(matches, workers, open_lane, tell).results()

    return spread


def check_shared(match: Part) -> None:
    """Raise LudusError for what exists only in this process."""
    if person.NAME in match.agents:
        raise LudusError("a person cannot play in the workers of a runtime; leave out --runtime")
    if is_own_environment(match.game):
        raise LudusError("an environment of your own exists only in this process; use the runtime local")


class Spreading:
    """Matches that are being played."""

    def __init__(
        self, matches: Sequence[Part], workers: int, open_lane: Callable[[int], Lane], tell: Tell | None
    ) -> None:
        self.open_lane, self.tell, self.lock = open_lane, tell, threading.Lock()
        self.pieces = [divided(match, workers) for match in matches]
        self.found: list[list[Result | None]] = [[None] * len(pieces) for pieces in self.pieces]
        self.waiting = [(match, piece) for match, pieces in enumerate(self.pieces) for piece in range(len(pieces))]
        self.waiting.reverse()
        self.workers = max(1, min(workers, len(self.waiting)))
        self.total, self.done = sum(match.count for match in matches), 0
        self.lanes: dict[int, Lane] = {}
        self.ending = False

    def results(self) -> list[Result]:
        """Play everything; an error ends all workers. The time is shared out among the matches by their games."""
        start = time.perf_counter()
        with ThreadPoolExecutor(self.workers, thread_name_prefix="ludus-games") as executor:
            try:
                for ended in [executor.submit(self._serve, number) for number in range(self.workers)]:
                    ended.result()
            finally:
                self._end()
        whole = [joined([one for one in results if one is not None]) for results in self.found]
        share = (time.perf_counter() - start) / max(self.total, 1)
        return [match._replace(seconds=share * len(match.played.cut)) for match in whole]

    def _serve(self, number: int) -> None:
        """Give one worker parts until none is left."""
        try:
            while (place := self._next()) is not None:
                match, piece = place
                part = self.pieces[match][piece]
                result = self._play(number, part)
                if result is None:
                    return
                self.found[match][piece] = result
                self._count(part)
        except BaseException:
            self._end()
            raise
        finally:
            self._close(number)

    def _next(self) -> tuple[int, int] | None:
        with self.lock:
            return self.waiting.pop() if self.waiting and not self.ending else None

    def _play(self, number: int, part: Part) -> Result | None:
        """The games of a part, in a new worker if the present one dies; None if everything ends."""
        for deaths in range(1, MAX_DEATHS + 1):
            try:
                return self._lane(number).play(part)
            except WorkerDied as death:
                self._close(number)
                if self.ending:
                    return None
                reason = f"worker {number} {death.reason}"
            if deaths < MAX_DEATHS:
                print(f"ludus: {reason}; a new worker plays its {part.count} games again", file=sys.stderr)
        raise LudusError(f"{reason}, {MAX_DEATHS} times in a row; what it printed is above")

    def _lane(self, number: int) -> Lane:
        if number not in self.lanes:
            lane = self.open_lane(number)
            with self.lock:
                self.lanes[number] = lane
                ending = self.ending
            if ending:
                lane.close()
        return self.lanes[number]

    def _count(self, part: Part) -> None:
        with self.lock:
            self.done += part.count
            if self.tell:
                self.tell(part.game, self.done, self.total)

    def _close(self, number: int) -> None:
        with self.lock:
            lane = self.lanes.pop(number, None)
        if lane is not None:
            lane.close()

    def _end(self) -> None:
        """End all workers, also those that play."""
        with self.lock:
            self.ending, lanes = True, list(self.lanes.values())
        for lane in lanes:
            lane.close()


__all__ = ["Lane", "spread_over"]
