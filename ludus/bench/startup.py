"""Start-up time: the import, and the first step of a game, with and without the compile cache."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from ludus import games
from ludus.bench import Result, Tell, median_rate

FIRST_STEP = "from ludus.pool import Pool; pool = Pool({name!r}, 16); pool.advance(pool.random_actions(0))"


def suite(name: str | None, rounds: int, tell: Tell) -> Iterator[Result]:
    scripts = {"startup/python": "pass", "startup/import": "import ludus"}
    for game in [name] if name else games.bundled():
        scripts[f"startup/first_step/{game}"] = FIRST_STEP.format(name=game)
    with tempfile.TemporaryDirectory(prefix="ludus-bench-") as cache:
        for done, (what, script) in enumerate(scripts.items()):
            tell(what, done, len(scripts))
            cold = seconds(script, cache)  # fills the caches
            if what.startswith("startup/first_step/"):
                yield Result(what.replace("first_step", "compile"), cold, "s")
            yield Result(what, median_rate(functools.partial(seconds, script, cache), rounds), "s")


def seconds(code: str, cache: str) -> float:
    """Duration of a Python process with its own compile cache."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "LUDUS_CACHE": cache})
    return time.perf_counter() - start
