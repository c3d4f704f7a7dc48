"""Compile games in separate processes, because the compiler's lock would block all rooms of the studio."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import suppress

from ludus import games
from ludus.dsl.cache import plain_python
from ludus.pool import compiled_before
from ludus.types import LudusError

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_running: set[subprocess.Popen[bytes]] = set()


def prepare(game: games.Game, nice: int = 0) -> None:
    """Wait until a game and its players are compiled into the cache; errors appear when the game is opened."""
    with _locks[game.name]:
        if plain_python() or compiled_before(game, "everything"):
            return
        command = [*(["nice", f"-n{nice}"] if nice else []), sys.executable, "-m", "ludus.cli", "warmup", game.name]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _running.add(process)
            process.wait()
        _running.discard(process)


def prepare_all() -> threading.Thread:
    """Compile all games in the background with low priority."""

    def work() -> None:
        for name in games.names():
            with suppress(LudusError):  # the error is shown where the game is opened
                prepare(games.load(name), nice=15)

    thread = threading.Thread(target=work, name="warmup", daemon=True)
    thread.start()
    return thread


def stop() -> None:
    """Stop compiling; the next start of the studio compiles what is missing."""
    for process in list(_running):
        process.terminate()
