"""The pool: thousands of copies of one game, stepped in compiled code without the interpreter's lock.

Every array it hands over is fresh and never written again; finished games open anew by themselves.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ludus import games
from ludus.pool import binding
from ludus.pool.actions import as_array, illegal, random_actions
from ludus.types import Array, LudusError, Step
from ludus.words import CUT, OVER, random
from ludus.words.cache import telling_first_time
from ludus.words.draw import new_canvas
from ludus.words.rows import as_plain, compiling, new_rows

FORKED = 0x666F726B
"""tells the dice of forks from those of openings with the same seed"""


class Snapshot(NamedTuple):
    """A pool's whole content as bytes; restoring it continues exactly."""

    fingerprint: str
    played: int
    """how many steps of random play were made, so that more of them go on with the same dice"""
    states: Array
    rows: Array
    observations: Array


class Pool:
    """`rows` games of one kind, with `step` the newest of what their players see.

    `seed` is one number (rows are unrelated) or one number a row (row i is what a pool of one with that seed plays).
    """

    worth_a_thread = 250e-6
    """seconds of work below which waking another thread costs more than it saves"""

    def __init__(
        self, game: str | games.Game, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None
    ) -> None:
        self._allocate(games.load(game) if isinstance(game, str) else game, rows, threads or available_cores())
        self.reset(seed)

    def _allocate(self, game: games.Game, rows: int, threads: int) -> None:
        if rows < 1 or threads < 1:
            raise LudusError(f"a pool needs at least one row and one thread, not {rows} and {threads}")
        self.game, self.rows, self.threads, self.spec = game, rows, threads, game.spec
        self.kernel: Any = binding.bind(game.name, game.rules)
        views = rows * game.spec.views
        self.states = new_rows(rows, game.rules.STATE)
        self._blank = game.blank()
        self._rows = new_rows(views, self.kernel.ROW)
        self._observations = new_rows(views, game.rules.OBSERVATION)
        self._step: Step | None = None
        self._shape = (views, len(self.kernel.LOW)) if self.kernel.CONTINUOUS else (views,)
        self._played = 0
        self._seconds = 1.0
        self._executor: ThreadPoolExecutor | None = None
        warm_up(self)

    @property
    def name(self) -> str:
        return self.game.full_name

    @property
    def observation(self) -> np.dtype[Any]:
        """The record that observations follow, with the ranges of its fields."""
        dtype: np.dtype[Any] = self.game.rules.OBSERVATION
        return dtype

    @property
    def status(self) -> Array:
        """[rows] PLAYING, OVER or CUT."""
        status: Array = self.states["status"].copy()
        return status

    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step:
        """Open new games in all rows, or in those that the booleans `rows` mark; with new randomness if seeded."""
        chosen = np.ones(self.rows, bool) if rows is None else np.asarray(rows, bool)
        if chosen.shape != (self.rows,):
            raise LudusError(f"rows must be {self.rows} booleans, not an array of shape {chosen.shape}")
        if seed is not None:
            self.states["key"][chosen] = self._keys(seed)[chosen]
        self.states["status"][chosen] = OVER
        if chosen.all():
            self._advance(self._no_actions(), 0, self.rows)
        else:
            self.kernel.reopen(self.states, self._blank, chosen, self._no_actions(), self._rows, self._observations)
        self._step = None
        return self.step

    @property
    def step(self) -> Step:
        """What the players see now, in arrays that the pool never touches again."""
        if self._step is None:
            rows, observations = self._rows, self._observations
            self._step = Step(
                observation={name: observations[name].copy() for name in observations.dtype.names or ()},
                mask=rows["mask"].copy().view(bool),
                seat=rows["seat"].copy(),
                reward=rows["reward"].copy(),
                discount=rows["discount"].copy(),
                first=rows["first"].copy().view(bool),
            )
        return self._step

    def advance(self, actions: Any) -> Step:
        """Play one action in every game; games that had ended open anew and ignore theirs."""
        checked = self.check(actions)
        self._share(lambda low, high: self._advance(checked, low, high))
        self._step = None
        return self.step

    def check(self, actions: Any) -> Array:
        """The actions as the kernels read them; a sentence, and no game moved, if one of them will not do."""
        given = as_array(actions)
        wanted = np.dtype(np.float64 if self.kernel.CONTINUOUS else np.int64)
        if given.shape != self._shape:
            raise LudusError(f"{self.game.name} wants actions of shape {self._shape}, not {given.shape}")
        if given.dtype.kind not in ("iufb" if self.kernel.CONTINUOUS else "iub"):
            raise LudusError(f"{self.game.name} wants {wanted.name} actions, not {given.dtype.name}")
        packed = np.array(given, wanted, order="C").view(self.kernel.ACTION).reshape(self.rows)
        packed = packed if compiling() else as_plain(packed)
        bad = self.kernel.first_illegal(self.states, packed, self._rows)
        if bad >= 0:
            raise LudusError(self._illegal(bad, given[bad]))
        return packed

    def play_randomly(self, steps: int, seed: int = 0) -> int:
        """`steps` steps of random legal play inside the compiled loop; returns the number of decisions made."""
        warm_up(self, "random play")
        actions = self._no_actions()
        dice, start = random.keys(seed, 1)[0], self._played
        self._played += steps
        counts = self._share(
            lambda low, high: self.kernel.play_randomly(
                self.states, self._blank, actions, self._rows, self._observations, low, high, steps, dice, start
            ),
            steps,
        )
        self._step = None
        return int(sum(counts))

    def random_actions(self, seed: int) -> Array:
        """A random legal action for every row, for callers that step by hand."""
        return random_actions(np.random.default_rng(seed), self.spec, self._rows["mask"])

    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> Pool:
        """A new pool of copies of these rows that cannot see their future dice.

        With a seat, what that seat does not know is dealt anew (where the game has `redeal`), so that search is honest.
        `seed` is one number, or one a copy: copies of one row with the same number are dealt the same.
        """
        if not -1 <= seat < self.spec.seats:
            raise LudusError(f"{self.game.name} has the seats 0 to {self.spec.seats - 1}; there is no seat {seat}")
        sources = np.asarray(rows, np.int64)
        if sources.size == 0 or sources.min() < 0 or sources.max() >= self.rows:
            raise LudusError(f"fork wants rows from 0 to {self.rows - 1}, not {list(rows)[:5]}")
        twin = Pool.__new__(Pool)
        twin._allocate(self.game, len(sources), self.threads)
        # A pool of the same seed opened with its keys: a fork must not be dealt those again.
        other = int(seed) ^ FORKED if isinstance(seed, int | np.integer) else [int(one) ^ FORKED for one in seed]
        keys = twin._keys(other)
        self.kernel.fork(self.states, sources, keys, twin.states, seat)
        views = np.arange(self.spec.views)
        twin._rows[:] = self._rows[(sources[:, None] * self.spec.views + views).ravel()]
        self.kernel.see(twin.states, twin._rows, twin._observations, 0, twin.rows)
        return twin

    def look(self, row: int, seat: int) -> dict[str, Array]:
        """What any seat may know of a game, also while it waits: [...] arrays by field name."""
        self._check_place(row, seat)
        seen = new_rows(1, self.observation)
        self.kernel.look(self.states, row, seat, seen)
        return {name: seen[name][0] for name in self._observations.dtype.names or ()}

    def save(self) -> Snapshot:
        """Everything, as bytes."""
        # As bytes first: a copy of records leaves the gaps between their fields unwritten.
        arrays = (self.states, self._rows, self._observations)
        return Snapshot(self.game.fingerprint, self._played, *(array.view(np.uint8).copy() for array in arrays))

    def restore(self, snapshot: Snapshot) -> Step:
        """Go on exactly where `save` was called."""
        if snapshot.fingerprint != self.game.fingerprint:
            raise LudusError(f"this snapshot is of another game or another version of {self.game.name}")
        arrays = (self.states, self._rows, self._observations)
        for array, saved in zip(arrays, snapshot[2:], strict=True):
            if saved.nbytes != array.nbytes:
                rows = len(snapshot.states) // self.states.dtype.itemsize
                raise LudusError(f"this snapshot has {rows} rows and the pool has {self.rows}")
        for array, saved in zip(arrays, snapshot[2:], strict=True):
            array.view(np.uint8)[:] = saved
        self._played = snapshot.played
        self._step = None
        return self.step

    def put(self, states: Array) -> Step:
        """Go on from other states of this game, one a row: a situation made up, or one that was kept."""
        if states.dtype != self.states.dtype or states.shape != self.states.shape:
            raise LudusError(
                f"{self.game.name} wants {self.rows} of its own records, not {states.shape} {states.dtype}"
            )
        self.states[:] = states
        self.kernel.see(self.states, self._rows, self._observations, 0, self.rows)
        self._step = None
        return self.step

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """The shapes of one game as a seat sees it (the seat to act if none is given)."""
        if not hasattr(self.game.rules, "scene"):
            raise LudusError(f"{self.game.name} draws nothing: its module has no scene")
        self._check_place(row, max(seat, 0))
        warm_up(self, "pictures")
        canvas = new_canvas()
        self.kernel.draw_scene(self.states, row, int(self.states["seat"][row]) if seat < 0 else seat, canvas)
        shapes: Array = canvas[0]["shapes"][: canvas[0]["count"]]
        return shapes

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game in words or letters, by its own `text` where it has one; as a seat sees it, if cards are hidden."""
        state = self.states[row]
        if seat >= 0 and hasattr(self.game.rules, "text_for"):
            seen: str = self.game.rules.text_for(state, seat)
            return seen
        if hasattr(self.game.rules, "text"):
            words: str = self.game.rules.text(state)
            return words
        return "\n".join(f"{field}: {np.asarray(state[field]).tolist()}" for field in self.states.dtype.names or ())

    def action_name(self, action: Any, row: int = 0, seat: int = -1) -> str:
        """What people call an action; where it means something else in every position, what it does in this one.

        With a seat, in words which that seat may hear while the other acts.
        """
        if hasattr(self.game.rules, "move_name"):
            move: str = self.game.rules.move_name(self.states[row], int(action), seat)
            return move
        name: str = self.game.rules.action_name(action)
        return name

    def close(self) -> None:
        """Let the threads go."""
        if self._executor:
            self._executor.shutdown()
            self._executor = None

    def _advance(self, actions: Array, low: int, high: int) -> None:
        self.kernel.advance(self.states, self._blank, actions, self._rows, self._observations, low, high)

    def _no_actions(self) -> Array:
        return new_rows(self.rows, self.kernel.ACTION)

    def _keys(self, seed: int | Sequence[int]) -> Array:
        if isinstance(seed, int | np.integer):
            return random.keys(int(seed), self.rows)
        if isinstance(seed, float | str | bytes) or not all(isinstance(one, int | np.integer) for one in seed):
            raise LudusError(f"a seed is a whole number, or one for each row, not {seed!r}")
        if len(seed) != self.rows:
            raise LudusError(f"{len(seed)} seeds were given for {self.rows} rows; give one number, or one a row")
        return random.seeded(seed)

    def _check_place(self, row: int, seat: int) -> None:
        """Compiled code trusts its indices, so they are looked at before."""
        if not (0 <= row < self.rows and 0 <= seat < self.spec.seats):
            rows, seats = self.rows - 1, self.spec.seats - 1
            raise LudusError(f"there is no row {row} with a seat {seat}; rows are 0 to {rows}, seats 0 to {seats}")

    def _share(self, work: Callable[[int, int], Any], steps: int = 1) -> list[Any]:
        """Let each thread do its part of the rows, as many threads as the work is worth by what the last one took.

        The parts never meet, so the result does not depend on how many there are.
        """
        parts = max(1, min(self.threads, self.rows, int(self._seconds * steps / self.worth_a_thread)))
        start = time.perf_counter()
        results = self.in_threads(work, parts)
        self._seconds = (time.perf_counter() - start) * parts / max(steps, 1)
        return results

    def in_threads(self, work: Callable[[int, int], Any], parts: int) -> list[Any]:
        """Do `work(low, high)` for that many parts of the rows at the same time; what each gave."""
        if parts == 1:
            return [work(0, self.rows)]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="ludus-pool")
        bounds = [self.rows * part // parts for part in range(parts + 1)]
        others = [self._executor.submit(work, low, high) for low, high in itertools.pairwise(bounds[1:])]
        return [work(bounds[0], bounds[1]), *(other.result() for other in others)]

    def _illegal(self, row: int, action: Any) -> str:
        choices, game = np.flatnonzero(self._rows["mask"][row])[:13], row // self.spec.views
        legal = [self.action_name(int(choice), game) for choice in choices]
        return illegal(self.game.name, self.spec, row, int(self._rows["seat"][row]), action, legal)


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm_up(pool: Pool, what: str = "rules") -> None:
    """Compile, or load from the cache, what a game is stepped by, or played or drawn by; a line tells of it.

    The smaller kernels are compiled by whoever calls them first.
    """
    warm: set[str] = pool.kernel.__dict__.setdefault("WARM", set())
    if what in warm or not compiling():
        return
    named = pool.game.name if what == "rules" else f"{what} of {pool.game.name}"
    with telling_first_time(named, _marker(pool.kernel, what)):
        _TOUCH[what](pool)
    warm.add(what)


def compiled_before(game: games.Game, what: str = "rules") -> bool:
    """Whether the rules of a game, or all that was noted by `note_compiled`, lie in the cache."""
    return _marker(binding.bind(game.name, game.rules), what).exists()


def note_compiled(game: games.Game, what: str) -> None:
    """Let later processes know that this was compiled."""
    _marker(binding.bind(game.name, game.rules), what).touch()


def _marker(kernel: binding.Bound, what: str) -> pathlib.Path:
    """The file that says that a part of a game has been compiled into its cache."""
    cache: pathlib.Path = kernel.CACHE
    return cache / what.replace(" ", "_")


def _touch_rules(pool: Pool) -> None:
    """Call kernels on an empty range, which is enough to have them compiled."""
    kernel, states, blank = pool.kernel, pool.states[:0], pool._blank
    rows, observations, actions = pool._rows[:0], pool._observations[:0], pool._no_actions()[:0]
    kernel.advance(states, blank, actions, rows, observations, 0, 0)
    kernel.first_illegal(states, actions, rows)


def _touch_random_play(pool: Pool) -> None:
    rows, observations, actions = pool._rows[:0], pool._observations[:0], pool._no_actions()[:0]
    pool.kernel.play_randomly(pool.states[:0], pool._blank, actions, rows, observations, 0, 0, 0, np.uint64(0), 0)


def _touch_pictures(pool: Pool) -> None:
    state = pool._blank.copy()
    pool.kernel.open_game(state, pool._blank, 0)
    pool.kernel.draw_scene(state, 0, 0, new_canvas())


_TOUCH = {"rules": _touch_rules, "random play": _touch_random_play, "pictures": _touch_pictures}


__all__ = ["CUT", "OVER", "Pool", "Snapshot", "available_cores", "compiled_before", "note_compiled", "warm_up"]
