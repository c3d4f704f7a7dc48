"""How long a person waits: the import, and the first step of a game whose compiled form is in the cache."""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from collections.abc import Iterator

from ludus import games
from ludus.bench import Result, Tell, median_rate

FIRST_STEP = "from ludus.pool import Pool; pool = Pool({name!r}, 16); pool.advance(pool.random_actions(0))"


def suite(name: str | None, rounds: int, tell: Tell) -> Iterator[Result]:
    scripts = {"startup/python": "pass", "startup/import": "import ludus"}
    for game in [name] if name else games.names():
        scripts[f"startup/first_step/{game}"] = FIRST_STEP.format(name=game)
    for done, (what, script) in enumerate(scripts.items()):
        tell(what, done, len(scripts))
        seconds(script)  # fills the caches
        yield Result(what, median_rate(functools.partial(seconds, script), rounds), "s")


def seconds(code: str) -> float:
    """From the start of a Python process to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start
