"""What a second thread gains in steps that take less than a tenth of a millisecond.

python benchmarks/short_steps.py [--json]

First `Pool.advance` on one thread, and on two with an executor. Then a loop of fixed length, half of which is handed
to a thread that waits in one of three ways: in an executor, in a semaphore in compiled code (without the GIL), or by
reading a semaphore again and again for a fifth of a millisecond before it waits. Decision 17 discusses the figures.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from ludus.bench import Result, as_json
from ludus.pool import Pool

ROWS, ROUNDS, STEPS = 2048, 15, 100
GAP = 150e-6
"""seconds between two steps, in which an agent would act"""
LOOPS = (40e-6, 140e-6)
"""seconds of work, about those of a step of tic-tac-toe and of Connect Four"""
SPIN = 200e-6
C = ctypes.CDLL(None)


def _imported(name: str) -> Callable[[int], int]:
    function = getattr(C, name)
    function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
    return function


sem_wait, sem_post, sem_trywait = (_imported(name) for name in ("sem_wait", "sem_post", "sem_trywait"))


@numba.njit(nogil=True)
def work(count):  # type: ignore[no-untyped-def]
    """Dependent operations, which cannot be reordered."""
    x = 1.0
    for _ in range(count):
        x = x * 0.999 + 1.0
    return x


@numba.njit(nogil=True)
def acquire(semaphore, spins):  # type: ignore[no-untyped-def]
    for _ in range(spins):
        if sem_trywait(semaphore) == 0:
            return
    sem_wait(semaphore)


@numba.njit(nogil=True)
def serve(task, done, spins, counts):  # type: ignore[no-untyped-def]
    """A thread that does half of each loop until counts[1] is set."""
    total = 0.0
    while True:
        acquire(task, spins)
        if counts[1]:
            return total
        total += work(counts[0])  # a result that nobody used would not be computed
        sem_post(done)


@numba.njit(nogil=True)
def shared(task, done, counts):  # type: ignore[no-untyped-def]
    """Both halves; the other thread's too if it has not begun when ours is done."""
    sem_post(task)
    total = work(counts[0])
    if sem_trywait(task) == 0:
        return total + work(counts[0])
    acquire(done, 1 << 30)
    return total


@numba.njit(nogil=True)
def release(semaphore):  # type: ignore[no-untyped-def]
    sem_post(semaphore)


def median_seconds(*steps: Callable[[], object]) -> list[float]:
    """Median duration of each step, measured in turn with a pause before each."""
    found: list[list[float]] = [[] for _ in steps]
    for _ in range(ROUNDS * STEPS):
        for step, seconds in zip(steps, found, strict=True):
            pause_until = time.perf_counter() + GAP
            while time.perf_counter() < pause_until:
                pass
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in found]


def pools(game: str) -> Iterator[Result]:
    """`Pool.advance` on one thread, and on two that share every step."""
    seconds = []
    for threads in (1, 2):
        pool = Pool(game, ROWS, 1, threads)
        pool.worth_a_thread = 1e-9  # share every step, however short
        spent = []
        for seed in range(ROUNDS * STEPS):
            actions = pool.random_actions(seed)
            start = time.perf_counter()
            pool.advance(actions)
            spent.append(time.perf_counter() - start)
        seconds.append(statistics.median(spent))
        pool.close()
    yield Result(f"short_steps/{game}/one_thread", seconds[0] * 1e6, "us")
    yield Result(f"short_steps/{game}/executor", seconds[0] / seconds[1], "x")


def loops(seconds: float) -> Iterator[Result]:
    """A loop on one thread, and shared with a thread that waits in each of three ways."""
    count = int(seconds / 2 * _rate())
    name = f"short_steps/loop_{seconds * 1e6:.0f}_us"
    with ThreadPoolExecutor(1) as executor:

        def with_executor() -> None:
            other = executor.submit(work, count)
            work(count)
            other.result()

        alone, together = median_seconds(lambda: work(2 * count), with_executor)
    yield Result(f"{name}/executor", alone / together, "x")
    for kind, spins in (("semaphore", 0), ("spinning", int(SPIN / 5e-9))):
        with _Helper(count, spins) as helper:
            alone, together = median_seconds(lambda: work(2 * count), helper.step)
        yield Result(f"{name}/{kind}", alone / together, "x")


class _Helper:
    """A thread in `serve`, and the two semaphores that it shares with `step`."""

    def __init__(self, count: int, spins: int) -> None:
        self.memory, self.counts = np.zeros(16, np.int64), np.array([count, 0])
        self.task, self.done = self.memory.ctypes.data, self.memory.ctypes.data + 64
        for semaphore in (self.task, self.done):
            C.sem_init(ctypes.c_void_p(semaphore), 0, 0)
        self.thread = threading.Thread(target=serve, args=(self.task, self.done, spins, self.counts))

    def step(self) -> None:
        shared(self.task, self.done, self.counts)

    def __enter__(self) -> _Helper:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.counts[1] = 1
        release(self.task)
        self.thread.join()


def _rate() -> float:
    """Operations of `work` per second."""
    work(1)
    best = min(_timed(100_000) for _ in range(20))
    return 100_000 / best


def _timed(count: int) -> float:
    start = time.perf_counter()
    work(count)
    return time.perf_counter() - start


def suite() -> Iterator[Result]:
    for game in ("tictactoe", "connect4"):
        yield from pools(game)
    for seconds in LOOPS:
        yield from loops(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    found = list(suite()) if parser.parse_args().json else suite()
    if isinstance(found, list):
        print(json.dumps(as_json(found), indent=1))
        return
    for result in found:
        print(f"{result.name:<44} {result.value:>8.2f} {result.unit}", flush=True)


if __name__ == "__main__":
    main()
