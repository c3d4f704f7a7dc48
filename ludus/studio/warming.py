"""Games are compiled in processes of their own: in the studio's, the compiler's lock would hold up every other room."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import suppress

from ludus import games
from ludus.pool import compiled_before
from ludus.types import LudusError
from ludus.words.cache import plain_python

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_running: set[subprocess.Popen[bytes]] = set()


def prepare(game: games.Game, nice: int = 0) -> None:
    """Wait until a game and its players lie in the cache. Where that fails, whoever opens the game is told why."""
    with _locks[game.name]:
        if plain_python() or compiled_before(game, "everything"):
            return
        command = [*(["nice", f"-n{nice}"] if nice else []), sys.executable, "-m", "ludus.cli", "warmup", game.name]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _running.add(process)
            process.wait()
        _running.discard(process)


def prepare_all() -> threading.Thread:
    """Every game in the background, behind all that is more urgent, so that a newcomer need not wait."""

    def work() -> None:
        for name in games.names():
            with suppress(LudusError):  # a game that does not load says so where it is asked for
                prepare(games.load(name), nice=15)

    thread = threading.Thread(target=work, name="warming", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """End what is being compiled; the next studio begins it anew."""
    for process in list(_running):
        process.terminate()
