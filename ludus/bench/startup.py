"""How long a person waits: the import, and the first step of a game whose compiled form is in the cache."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from ludus import games
from ludus.bench import Result, median_rate

FIRST_STEP = "from ludus.pool import Pool; pool = Pool({name!r}, 16); pool.advance(pool.random_actions(0))"


def suite(name: str | None, rounds: int, tell: Callable[[str], None]) -> Iterator[Result]:
    tell("startup/python")
    yield Result("startup/python", median_rate(lambda: seconds("pass"), rounds), "s")
    tell("startup/import")
    yield Result("startup/import", median_rate(lambda: seconds("import ludus"), rounds), "s")
    for game in [name] if name else games.names():
        tell(f"startup/first_step/{game}")
        code = FIRST_STEP.format(name=game)
        seconds(code)  # fills the cache
        yield Result(f"startup/first_step/{game}", median_rate(lambda code=code: seconds(code), rounds), "s")  # type: ignore[misc]


def seconds(code: str) -> float:
    """From the start of a Python process to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start
