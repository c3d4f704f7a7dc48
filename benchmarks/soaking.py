"""Common code of the soak tests of large games: random play with bounds checks that stops at the first error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ["NUMBA_BOUNDSCHECK"] = "1"  # before anything is compiled

from ludus.dsl import PLAYING
from ludus.pool import Pool

Watch = Callable[[Pool], str]
"""checks a pool; returns an error message or an empty string"""


def play(name: str, decisions: int, seed: int, watch: Watch, rows: int, chunk: int) -> int:
    """Play at least `decisions` decisions, with a check after every chunk of steps; returns the number played."""
    done = 0
    pool = Pool(name, rows, seed=seed)
    while done < decisions:
        done += pool.play_randomly(chunk)
        playing = pool.status == PLAYING
        if not pool.step.mask[playing].any(axis=1).all():
            sys.exit(f"{name}: a mask is empty")
        if wrong := watch(pool):
            sys.exit(f"{name}: {wrong}")
    pool.close()
    return done


class Progress:
    """Prints a line after every part."""

    def __init__(self, parts: int, quiet: bool = False) -> None:
        self.parts, self.done, self.decisions, self.started = parts, 0, 0, time.perf_counter()
        self._stream = sys.stderr if quiet else sys.stdout

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def tell(self, part: str, decisions: int) -> None:
        self.done, self.decisions = self.done + 1, self.decisions + decisions
        made = f"{self.decisions:,} decisions in {self.seconds:.0f} s"
        print(f"{self.done} of {self.parts}: {part}; {made}", file=self._stream, flush=True)
