"""Time per position of the perfect Connect Four player at ply 12, where its opening book ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from ludus.agents.players.perfect.connect4 import stones_of
from ludus.agents.players.perfect.connect4_solver import best_moves, forget, solve
from ludus.bench import Result, Tell
from ludus.pool import Pool
from ludus.types import Array

PLY = 12


def suite(rounds: int, tell: Tell) -> Iterator[Result]:
    """A hundred random positions per round, each solved with an empty transposition table."""
    positions = random_positions(100 * rounds)
    solvers: dict[str, Callable[[int, int], object]] = {"solve": solve, "best_moves": best_moves}
    for done, (name, answer) in enumerate(solvers.items()):
        tell(f"perfect/connect4/{name}/ply={PLY}, {len(positions)} positions", done, 2)
        answer(*positions[0])
        seconds = np.array([_seconds(answer, *position) for position in positions])
        for what, value in (
            ("median", np.median(seconds)),
            ("p99", np.quantile(seconds, 0.99)),
            ("max", seconds.max()),
        ):
            yield Result(f"perfect/connect4/{name}/ply={PLY}/{what}", float(value), "s")


def random_positions(count: int) -> list[tuple[int, int]]:
    """Positions after twelve random moves, none of which won."""
    found: list[tuple[int, int]] = []
    for seed in range(1000):
        pool = Pool("connect4", 1024, seed, threads=1)
        running: Array = np.ones(1024, bool)
        for move in range(PLY):
            pool.advance(pool.random_actions(1000 * seed + move))
            running &= pool.status == 0
        found.extend(stones_of(board) for board in pool.step.observation["board"][running])
        if len(found) >= count:
            break
    return found[:count]


def _seconds(answer: Callable[[int, int], object], mine: int, theirs: int) -> float:
    forget()
    start = time.perf_counter()
    answer(mine, theirs)
    return time.perf_counter() - start
