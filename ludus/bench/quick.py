"""A short selection for every change: random play and stepping of the small games, and the import."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator

from ludus.bench import Result, Tell, median_rate, pool, startup

GAMES = ("tictactoe", "connect4", "cartpole", "car")
ROWS = 2048


def suite(rounds: int, tell: Tell) -> Iterator[Result]:
    for done, game in enumerate(GAMES):
        tell(f"quick/{game}", done, len(GAMES) + 1)
        yield from pool.measure(game, ROWS, rounds)
    tell("quick/import", len(GAMES), len(GAMES) + 1)
    with tempfile.TemporaryDirectory(prefix="ludus-bench-") as cache:
        yield Result("startup/import", median_rate(functools.partial(startup.seconds, "import ludus", cache), 5), "s")
