"""Compile a game with its players and pictures: in this process with progress reports, or in a process of its own.

While another process compiles, this one can play with interpreted rules (`ludus.dsl.cache.interpreted`).
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, NoReturn

from ludus import agents, games
from ludus.agents.search.mcts import MCTS
from ludus.dsl.cache import interpreted, plain_python, quiet
from ludus.dsl.compiler import Rule
from ludus.pool import Pool, available_cores, binding, compiled_before, note_compiled
from ludus.types import Continuous, LudusError

EVERYTHING = "everything"
"""the marker of a game whose parts are all compiled"""
SECONDS_PER_RULE = 0.03
"""for the first estimate; later ones follow from the time that was needed so far"""
REPORT_INTERVAL = 0.2
OPENING = 20
PR_SET_PDEATHSIG = 1
"""option of Linux's prctl: the signal that a process receives when its parent ends"""


class Progress(NamedTuple):
    """How much of a game is compiled."""

    part: str
    done: float
    """fraction of the work, 0 to 1"""
    seconds_left: float


class Part(NamedTuple):
    """One part of a game: its name, its cost relative to that of the rules, and the function that compiles it."""

    name: str
    cost: float
    compile: Callable[[Pool], object]


Report = Callable[[Progress], None]


def is_prepared(game: games.Game) -> bool:
    """Whether nothing of this game has to be compiled before it is played."""
    return plain_python() or compiled_before(game, EVERYTHING)


def compile_game(name: str, report: Report) -> None:
    """Compile all parts of a game into the cache; after the rules, a second process compiles half of the parts."""
    game = games.load(name)
    parts = parts_of(game)
    clock = _Clock(parts, count_rules(game), report)
    with quiet(), clock.reporting(parts[0]):
        pool = Pool(game, 1, threads=1)
    with _divided(parts[1:], pool, clock) as mine:
        for part in mine:
            with quiet(), clock.reporting(part):
                _compile_part(part, pool)
    pool.close()
    note_compiled(game, EVERYTHING)
    report(Progress("ready", 1.0, 0.0))


def _compile_part(part: Part, pool: Pool) -> None:
    part.compile(pool)
    pool.reset()


@contextmanager
def _divided(parts: list[Part], pool: Pool, clock: _Clock) -> Iterator[Iterator[Part]]:
    """The parts that this process compiles; a copy of it, which need not translate the rules again, takes the others.

    A copy has no threads of its parent, so there is none if JAX is in use.
    """
    if sys.platform != "linux" or available_cores() < 2 or "jax" in sys.modules:
        yield iter(parts)
        return
    (left, add), (ready, tell) = os.pipe(), os.pipe()
    os.write(add, bytes(range(len(parts))))
    os.close(add)
    os.set_blocking(ready, False)
    copy = os.fork()
    if copy == 0:
        _compile_as_copy(parts, pool, left, tell)
    os.close(tell)
    clock.copy = _Copy(parts, ready)
    try:
        yield (parts[place] for place in _taken(left))
        _, status = os.waitpid(copy, 0)
        clock.note_copy()
    finally:
        os.close(left)
        os.close(ready)
    if status != 0:  # compile all parts here, which raises the error that ended the copy
        for part in parts:
            _compile_part(part, pool)


def _taken(left: int) -> Iterator[int]:
    """The numbers of the parts that no other process has read from the pipe."""
    while place := os.read(left, 1):
        yield place[0]


def _compile_as_copy(parts: list[Part], pool: Pool, left: int, tell: int) -> NoReturn:
    """Compile parts in the copy of a process, which is killed when that process ends."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        with quiet():
            for place in _taken(left):
                _compile_part(parts[place], pool)
                os.write(tell, bytes([place]))
        status = 0
    finally:
        os._exit(status)


class _Copy(NamedTuple):
    """The process that compiles some of the parts."""

    parts: list[Part]
    ready: int
    """a pipe with the numbers of the parts that are ready"""

    def finished(self) -> list[Part]:
        """The parts that have become ready since the last call."""
        with suppress(BlockingIOError):
            return [self.parts[place] for place in os.read(self.ready, len(self.parts))]
        return []


def parts_of(game: games.Game) -> list[Part]:
    """The rules first, then everything that uses them."""
    parts = [Part("rules", 1.0, lambda pool: None), Part("random play", 0.15, lambda pool: pool.play_randomly(1))]
    if hasattr(game.rules, "scene"):
        parts.append(Part("pictures", 0.3, lambda pool: pool.scene()))
    for kind in agents.kinds_for(game.name):
        parts.append(Part(kind, 0.1, functools.partial(_play, agents.load(kind, game.name))))
    if agents.shipped(game.name) and importlib.util.find_spec("jax"):  # its network may read features made by a kernel
        parts.append(Part("trained", 0.2, lambda pool: _play(agents.load("trained", game.name), pool, moves=1)))
    if not isinstance(game.spec.actions, Continuous):
        parts.append(Part("search", 0.2, functools.partial(_play, MCTS(simulations=2, depth=2))))
    return parts


def count_rules(game: games.Game) -> int:
    """The number of rules in all modules of a game."""
    modules = binding.imported_modules(game.rules)
    return len({id(value) for module in modules for value in vars(module).values() if isinstance(value, Rule)})


def _play(agent: agents.Agent, pool: Pool, moves: int = OPENING) -> None:
    """Let an agent play, by default enough moves to leave its opening book if it has one."""
    player = agents.seated(agent, pool)
    params, memory = player.init(pool.spec, 0), player.memory(1)
    for move in range(moves):
        pool.advance(player.act(params, memory, pool.step, move)[0].action)


class _Clock:
    """Measures the progress of a compilation: parts by their cost, and the rules by their number."""

    def __init__(self, parts: list[Part], rules: int, report: Report) -> None:
        self._total, self._rules, self._report = sum(part.cost for part in parts), max(rules, 1), report
        self._start, self._before = time.monotonic(), 0.0
        self.copy: _Copy | None = None

    @contextmanager
    def reporting(self, part: Part) -> Iterator[None]:
        """Report the progress of one part regularly, from another thread."""
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(part, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
        self._before += part.cost

    def _watch(self, part: Part, ended: threading.Event) -> None:
        first = Rule.translated
        while True:
            self.note_copy()
            share = min(0.9, (Rule.translated - first) / (self._rules * part.cost))
            self._report(self._progress(part.name, (self._before + share * part.cost) / self._total))
            if ended.wait(REPORT_INTERVAL):
                return

    def note_copy(self) -> None:
        """Report the parts that the copy of this process has compiled."""
        for part in self.copy.finished() if self.copy else ():
            self._before += part.cost
            self._report(self._progress(part.name, self._before / self._total))

    def _progress(self, part: str, done: float) -> Progress:
        elapsed, guess = time.monotonic() - self._start, self._rules * SECONDS_PER_RULE * self._total
        left = elapsed * (1 - done) / done if done > 0.05 else max(guess - elapsed, 1.0)
        return Progress(part, done, left)


class Preparation:
    """A process that compiles one game into the cache, and the number of those who need it."""

    def __init__(self, game: games.Game, nice: int = 0) -> None:
        self.game, self.users, self.progress = game, 0, Progress("start", 0.0, count_rules(game) * SECONDS_PER_RULE)
        self._ended = threading.Event()
        command = [*(["nice", f"-n{nice}"] if nice else []), sys.executable, "-m", "ludus.cli", "warmup", game.name]
        self._process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._reader = threading.Thread(target=self._read, name=f"prepare-{game.name}", daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the process has ended and this process has loaded the rules."""
        self._ended.wait(seconds)

    def stop(self) -> None:
        """End the process; the next preparation compiles what is missing."""
        self._process.terminate()

    def _read(self) -> None:
        with self._process as process:
            for line in process.stdout or ():
                with suppress(ValueError, KeyError):
                    message = json.loads(line)
                    self.progress = Progress(message["part"], message["done"], message["seconds_left"])
        try:
            if process.returncode == 0:
                _load(self.game)
        finally:
            with _lock:
                if _running.get(self.game.name) is self:
                    del _running[self.game.name]
            self._ended.set()


_running: dict[str, Preparation] = {}
_lock = threading.Lock()


def prepare(game: games.Game, nice: int = 0) -> Preparation | None:
    """Start to compile a game unless that is done or under way; None if it is done. Call `release` afterwards."""
    if is_prepared(game):
        return None
    with _lock:
        if game.name not in _running:
            _running[game.name] = Preparation(game, nice)
        _running[game.name].users += 1
        return _running[game.name]


def release(preparation: Preparation) -> None:
    """The caller no longer needs this preparation; if nobody does, its process ends."""
    with _lock:
        preparation.users -= 1
        if preparation.users == 0 and preparation.running:
            _running.pop(preparation.game.name, None)  # a later caller must not wait for a process that is ending
            preparation.stop()


def prepare_all() -> threading.Thread:
    """Compile all games in the background with low priority."""

    def work() -> None:
        for name in games.names():
            with suppress(LudusError):  # the error is shown where the game is opened
                if preparation := prepare(games.load(name), nice=15):
                    preparation.wait()
                    release(preparation)

    thread = threading.Thread(target=work, name="warmup", daemon=True)
    thread.start()
    return thread


def stop_all() -> None:
    """End all compiling processes."""
    with _lock:
        running = list(_running.values())
    for preparation in running:
        preparation.stop()


@contextmanager
def interpreted_until_compiled(game: str) -> Iterator[Callable[[agents.Agent, Callable[[str], None]], None]]:
    """Compile a game in another process, and interpret its rules in this thread until that is done.

    The function given waits for the compiler if an agent needs it, after a message. Games of other libraries are not
    interpreted.
    """
    preparation = None if foreign(game) else prepare(games.load(game))
    if preparation is None:
        yield lambda agent, tell: None
        return

    def wait(agent: agents.Agent, tell: Callable[[str], None]) -> None:
        if agents.simulates(agent) and preparation.running:
            tell(f"{game} is being compiled for this agent, once; about {preparation.progress.seconds_left:.0f} s …")
            preparation.wait()

    try:
        with interpreted(lambda: preparation.running):
            yield wait
    finally:
        release(preparation)


def foreign(game: str) -> bool:
    """Whether this is the name of a game of another library or another engine."""
    name = game.partition("(")[0]
    return ":" in name or "@" in name


def _load(game: games.Game) -> None:
    """Load the compiled rules from the cache into this process, so that no player waits for it."""
    with interpreted(False), suppress(LudusError):
        pool = Pool(game, 1, threads=1)
        if pool.can_draw:
            pool.scene()
        pool.close()


__all__ = ["Preparation", "Progress", "compile_game", "interpreted_until_compiled", "is_prepared", "prepare",
           "prepare_all", "release", "stop_all"]  # fmt: skip
