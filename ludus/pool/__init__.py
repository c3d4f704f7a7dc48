"""The pool: thousands of copies of one game, stepped in compiled code without the GIL.

Every array it returns is new and never written again; finished games restart automatically.
"""

from __future__ import annotations

import itertools
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ludus import games
from ludus.dsl import CUT, OVER, random
from ludus.dsl.cache import telling_first_time
from ludus.dsl.draw import new_canvas
from ludus.dsl.rows import as_plain, compiling, new_rows
from ludus.files.source_errors import explain, line_of
from ludus.pool import binding
from ludus.pool.actions import illegal, random_actions, read_actions
from ludus.pool.output import NO_FIELDS, Output
from ludus.pool.protocol import AnyPool, Snapshot
from ludus.types import Array, DType, LudusError, Step

Result = TypeVar("Result")

FORKED = 0x666F726B
"""XORed into the seed of a fork, so that its random numbers differ from those of a pool with the same seed"""


class Pool:
    """`rows` copies of one game; `step` is what their players see now.

    `seed` is one number (rows are unrelated) or one per row (row i plays like a pool of one row with that seed).

    >>> import ludus
    >>> pool = ludus.Pool("connect4", rows=64, seed=1)
    >>> step = pool.advance(pool.random_actions(0))
    >>> step.observation["board"].shape, step.mask.shape
    ((64, 6, 7), (64, 7))
    """

    can_fork = can_save = True
    worth_a_thread = 250e-6
    """seconds of work below which an additional thread costs more than it saves"""

    def __init__(
        self, game: str | games.Game, rows: int = 1, seed: int | Sequence[int] = 0, threads: int | None = None
    ) -> None:
        self._allocate(game if isinstance(game, games.Game) else games.load(game), rows, threads or available_cores())
        self.reset(seed)

    def _allocate(self, game: games.Game, rows: int, threads: int) -> None:
        if rows < 1 or threads < 1:
            raise LudusError(f"a pool needs at least one row and one thread, not {rows} and {threads}")
        self.game, self.rows, self.threads, self.spec = game, rows, threads, game.spec
        self.kernel = binding.bind(game.name, game.rules)
        views = rows * game.spec.views
        self.states = new_rows(rows, game.rules.STATE)
        self._blank = game.blank()
        self._rows = new_rows(views, self.kernel.ROW)
        self._observations = new_rows(views, game.rules.OBSERVATION)
        self._output = Output(self._rows, self._observations)
        self._step: Step | None = None
        self._played = 0
        self._seconds = 1.0
        self._executor: ThreadPoolExecutor | None = None
        warm_up(self)

    def __repr__(self) -> str:
        return f"<ludus pool: {self.rows:,} rows of {self.name}>"

    @property
    def name(self) -> str:
        return self.game.full_name

    @property
    def fingerprint(self) -> str:
        return self.game.fingerprint

    @property
    def compiled(self) -> Pool:
        return self

    @property
    def can_draw(self) -> bool:
        return hasattr(self.game.rules, "scene")

    @property
    def names_moves(self) -> bool:
        return hasattr(self.game.rules, "move_name")

    @property
    def observation(self) -> DType:
        """The record type of observations, with the ranges of its fields."""
        dtype: DType = self.game.rules.OBSERVATION
        return dtype

    @property
    def status(self) -> Array:
        """[rows] PLAYING, OVER or CUT."""
        status: Array = self.states["status"].copy()
        return status

    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step:
        """Start new games in all rows, or in those marked by the booleans `rows`; with new random keys if seeded."""
        chosen = self._chosen(rows)
        if seed is not None:
            self.states["key"][chosen] = self._keys(seed)[chosen]
        self.states["status"][chosen] = OVER
        self._advance_some(self._no_actions(), chosen)
        self._step = None
        return self.step

    @property
    def step(self) -> Step:
        """What the players see now, in arrays that the pool never writes again."""
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

    def advance(self, actions: ArrayLike, rows: Array | None = None) -> Step:
        """Play one action in every game; finished games restart and ignore their action.

        With `rows` [N] booleans, only the marked games move. The actions of the others must be legal too.
        """
        return self.advance_checked(self.check(actions), rows)

    def advance_checked(self, checked: Array, rows: Array | None = None) -> Step:
        """Like `advance`, with actions returned by `check`."""
        self._step = None
        if rows is not None:
            self._advance_some(checked, self._chosen(rows))
        elif compiling():
            buffer = self._output.buffer()
            fields, address = self._output.fields, buffer.ctypes.data
            self._share(lambda low, high: self._advance(checked, low, high, fields, address))
            self._step = self._output.step(buffer)
        else:
            self._share(lambda low, high: self._advance(checked, low, high))
        return self.step

    def check(self, actions: ArrayLike) -> Array:
        """The actions as the kernels read them; raises LudusError if one is illegal, and then no game has moved."""
        given = self._read(actions)
        packed = self.pack(given)
        self._refuse(self.first_illegal(packed), given)
        return packed

    def _read(self, actions: ArrayLike) -> Array:
        return read_actions(self.game.name, self.spec, actions, len(self._rows))

    def _refuse(self, bad: int, given: Array) -> None:
        if bad >= 0:
            raise LudusError(self.why_illegal(bad, given[bad]))

    def pack(self, actions: Array) -> Array:
        """Actions from `read_actions` as the kernels read them: one record per game."""
        packed = actions.view(self.kernel.ACTION).reshape(self.rows)
        return packed if compiling() else as_plain(packed)

    def first_illegal(self, packed: Array) -> int:
        """The first row of `step` whose action is illegal, or -1."""
        return int(self.kernel.first_illegal(self.states, packed, self._rows))

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
        """A random legal action for every row, for use with `advance`."""
        return random_actions(np.random.default_rng(seed), self.spec, self._rows["mask"])

    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> Pool:
        """A new pool with copies of these rows and new random keys, so that it cannot foresee their future.

        With a seat, information hidden from that seat is resampled (if the game has `redeal`), so search cannot cheat.
        `seed` is one number or one per copy; copies of one row with the same number are dealt the same.
        """
        if not -1 <= seat < self.spec.seats:
            raise LudusError(f"{self.game.name} has the seats 0 to {self.spec.seats - 1}; there is no seat {seat}")
        sources = np.asarray(rows, np.int64)
        if sources.size == 0 or sources.min() < 0 or sources.max() >= self.rows:
            raise LudusError(f"fork expects rows from 0 to {self.rows - 1}, not {list(rows)[:5]}")
        twin = Pool.__new__(Pool)
        twin._allocate(self.game, len(sources), self.threads)
        # A pool with the same seed started from its keys; a fork must not reuse them.
        other = int(seed) ^ FORKED if isinstance(seed, int | np.integer) else [int(one) ^ FORKED for one in seed]
        keys = twin._keys(other)
        self.kernel.fork(self.states, sources, keys, twin.states, seat)
        views = np.arange(self.spec.views)
        twin._rows[:] = self._rows[(sources[:, None] * self.spec.views + views).ravel()]
        self.kernel.see(twin.states, twin._rows, twin._observations, 0, twin.rows)
        return twin

    def look(self, row: int, seat: int) -> dict[str, Array]:
        """The observation of any seat, also if it is not to act: [...] arrays by field name."""
        self._check_place(row, seat)
        seen = new_rows(1, self.observation)
        self.kernel.look(self.states, row, seat, seen)
        return {name: seen[name][0] for name in self._observations.dtype.names or ()}

    def save(self) -> Snapshot:
        """The complete content of the pool."""
        # View as bytes before copying: copying records would not copy the padding between their fields.
        arrays = (self.states, self._rows, self._observations)
        return Snapshot(self.game.fingerprint, self._played, *(array.view(np.uint8).copy() for array in arrays))

    def restore(self, snapshot: Snapshot) -> Step:
        """Continue exactly where `save` was called."""
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
        """Continue from other states of this game, one per row."""
        if states.dtype != self.states.dtype or states.shape != self.states.shape:
            raise LudusError(
                f"{self.game.name} expects {self.rows} of its own records, not {states.shape} {states.dtype}"
            )
        self.states[:] = states
        self.kernel.see(self.states, self._rows, self._observations, 0, self.rows)
        self._step = None
        return self.step

    def measure(self, rows: Array) -> dict[str, Array]:
        """What the functions in the game's MEASURES make of the state records of the marked rows."""
        measures: dict[str, Callable[[Array], Array]] = getattr(self.game.rules, "MEASURES", {})
        return {name: count(self.states[rows]) for name, count in measures.items()}

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """The shapes of one game as a seat sees it (the seat to act if none is given)."""
        if not self.can_draw:
            raise LudusError(f"{self.game.name} draws nothing: its module has no scene")
        self._check_place(row, max(seat, 0))
        warm_up(self, "pictures")
        canvas = new_canvas()
        self.kernel.draw_scene(self.states, row, int(self.states["seat"][row]) if seat < 0 else seat, canvas)
        shapes: Array = canvas[0]["shapes"][: canvas[0]["count"]]
        return shapes

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game as text, from its `text` function if it has one; with a seat, as that seat sees it."""
        state = self.states[row]
        if seat >= 0 and hasattr(self.game.rules, "text_for"):
            return self._text("text_for", state, seat)
        if hasattr(self.game.rules, "text"):
            return self._text("text", state)
        return "\n".join(f"{field}: {np.asarray(state[field]).tolist()}" for field in self.states.dtype.names or ())

    def action_name(self, action: int | Array, row: int = 0, seat: int = -1) -> str:
        """The name of an action; if its meaning depends on the position, what it does in this one.

        With a seat, the name reveals nothing that is hidden from that seat.
        """
        if self.names_moves:
            return self._text("move_name", self.states[row], int(action), seat)
        return self._text("action_name", action)

    def _text(self, name: str, *arguments: object) -> str:
        """The result of a function of the game, checked to be a str."""
        text = getattr(self.game.rules, name)(*arguments)
        if isinstance(text, str):
            return text
        reason = f"{name} returns {text!r} of type {type(text).__name__}; it must return a str"
        raise explain(line_of(str(self.game.rules.__file__), name), reason)

    def close(self) -> None:
        """Stop the threads."""
        if self._executor:
            self._executor.shutdown()
            self._executor = None

    def _advance(self, actions: Array, low: int, high: int, fields: Array = NO_FIELDS, output: int = 0) -> None:
        self.kernel.advance(
            self.states, self._blank, actions, self._rows, self._observations, low, high, fields, output
        )

    def _advance_some(self, actions: Array, chosen: Array) -> None:
        """One step of the chosen games, one call per range of adjacent rows."""
        edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
        for low, high in edges.reshape(-1, 2).tolist():
            self._advance(actions, low, high)

    def _chosen(self, rows: ArrayLike | None) -> Array:
        """[rows] booleans: the given ones, or all True."""
        chosen = np.ones(self.rows, bool) if rows is None else np.asarray(rows, bool)
        if chosen.shape != (self.rows,):
            raise LudusError(f"rows must be {self.rows} booleans, not an array of shape {chosen.shape}")
        return chosen

    def _no_actions(self) -> Array:
        return new_rows(self.rows, self.kernel.ACTION)

    def _keys(self, seed: int | Sequence[int]) -> Array:
        if isinstance(seed, int | np.integer):
            return random.keys(int(seed), self.rows)
        if isinstance(seed, float | str | bytes) or not all(isinstance(one, int | np.integer) for one in seed):
            raise LudusError(f"a seed is a whole number, or one for each row, not {seed!r}")
        if len(seed) != self.rows:
            raise LudusError(f"{len(seed)} seeds were given for {self.rows} rows; give one number, or one per row")
        return random.seeded(seed)

    def _check_place(self, row: int, seat: int) -> None:
        """Check indices here, because compiled code does not."""
        if not (0 <= row < self.rows and 0 <= seat < self.spec.seats):
            rows, seats = self.rows - 1, self.spec.seats - 1
            raise LudusError(f"there is no row {row} with a seat {seat}; rows are 0 to {rows}, seats 0 to {seats}")

    def _share(self, work: Callable[[int, int], Result], steps: int = 1) -> list[Result]:
        """Divide the rows among threads; the number of threads follows from the time of the previous call.

        The parts are independent, so the result does not depend on their number.
        """
        parts = max(1, min(self.threads, self.rows, int(self._seconds * steps / self.worth_a_thread)))
        start = time.perf_counter()
        results = self.in_threads(work, parts)
        self._seconds = (time.perf_counter() - start) * parts / max(steps, 1)
        return results

    def in_threads(self, work: Callable[[int, int], Result], parts: int) -> list[Result]:
        """Call `work(low, high)` for `parts` ranges of rows in parallel; returns their results."""
        if parts == 1:
            return [work(0, self.rows)]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="ludus-pool")
        bounds = [self.rows * part // parts for part in range(parts + 1)]
        others = [self._executor.submit(work, low, high) for low, high in itertools.pairwise(bounds[1:])]
        return [work(bounds[0], bounds[1]), *(other.result() for other in others)]

    def why_illegal(self, row: int, action: int | Array) -> str:
        """The error message for an action that is not legal in a row of `step`."""
        choices, game = np.flatnonzero(self._rows["mask"][row])[:13], row // self.spec.views
        legal = [self.action_name(int(choice), game) for choice in choices]
        return illegal(self.game.name, self.spec, row, int(self._rows["seat"][row]), action, legal)


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm_up(pool: Pool, what: str = "rules") -> None:
    """Compile the kernels that step a game ("rules"), play it randomly or draw it, or load them from the cache.

    Reports compilation on stderr. Smaller kernels are compiled when they are first called.
    """
    warm: set[str] = pool.kernel.__dict__.setdefault("WARM", set())
    if what in warm or not compiling():
        return
    named = pool.game.name if what == "rules" else f"{what} of {pool.game.name}"
    with telling_first_time(named, _marker(pool.kernel, what)):
        _TOUCH[what](pool)
    warm.add(what)


def compiled_before(game: games.Game, what: str = "rules") -> bool:
    """Whether the cache holds the rules of a game, or the part that `note_compiled` recorded."""
    return _marker(binding.bind(game.name, game.rules), what).exists()


def note_compiled(game: games.Game, what: str) -> None:
    """Record for later processes that this part was compiled."""
    _marker(binding.bind(game.name, game.rules), what).touch()


def _marker(kernel: ModuleType, what: str) -> pathlib.Path:
    """The marker file of a compiled part of a game."""
    cache: pathlib.Path = kernel.CACHE
    return cache / what.replace(" ", "_")


def _touch_rules(pool: Pool) -> None:
    """Call kernels on an empty range, which is enough to compile them."""
    kernel, states, blank = pool.kernel, pool.states[:0], pool._blank
    rows, observations, actions = pool._rows[:0], pool._observations[:0], pool._no_actions()[:0]
    kernel.advance(states, blank, actions, rows, observations, 0, 0, NO_FIELDS, 0)
    kernel.first_illegal(states, actions, rows)


def _touch_random_play(pool: Pool) -> None:
    rows, observations, actions = pool._rows[:0], pool._observations[:0], pool._no_actions()[:0]
    pool.kernel.play_randomly(pool.states[:0], pool._blank, actions, rows, observations, 0, 0, 0, np.uint64(0), 0)


def _touch_pictures(pool: Pool) -> None:
    state = pool._blank.copy()
    pool.kernel.open_game(state, pool._blank, 0)
    pool.kernel.draw_scene(state, 0, 0, new_canvas())


_TOUCH = {"rules": _touch_rules, "random play": _touch_random_play, "pictures": _touch_pictures}


__all__ = [
    "CUT", "OVER", "AnyPool", "Pool", "Snapshot", "available_cores", "compiled_before", "note_compiled", "warm_up",
]  # fmt: skip
