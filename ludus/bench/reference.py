"""A fixed compiled loop: its speed tells how fast a machine is at the moment, so that results can be compared."""

from __future__ import annotations

import statistics
import time

import numba
import numpy as np

ITERATIONS = 20_000_000
ROUNDS = 5


@numba.njit(nogil=True)
def _walk(iterations: int, table: np.ndarray) -> int:
    """Random reads, branches and writes in a small table, as the rules of games make them."""
    x = np.uint64(88172645463325252)
    changes = 0
    for _ in range(iterations):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        place = x & np.uint64(1023)
        if table[place] == 0:
            table[place] = np.int8(x >> np.uint64(60))
            changes += 1
        else:
            table[place] -= 1
    return changes


def rate() -> float:
    """Iterations per second of the loop on one core; the median of several rounds."""
    table = np.zeros(1024, np.int8)
    _walk(1000, table)
    rates = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        _walk(ITERATIONS // ROUNDS, table)
        rates.append(ITERATIONS / ROUNDS / (time.perf_counter() - start))
    return statistics.median(rates)
