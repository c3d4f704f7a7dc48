"""The kernels of a game with accessible arrays, and recorded random play, for the checks.

The same functions drive the compiled kernels and, in plain_python.py, the uncompiled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ludus import games
from ludus.dsl import OVER, random
from ludus.dsl.rows import new_rows
from ludus.pool import Pool, binding
from ludus.pool.output import NO_FIELDS
from ludus.types import Array, DType

ROWS, STEPS = 16, 400
MOST_BYTES = 2**27
"""maximum bytes of a recording; games with large records are recorded for fewer steps"""


class Arena(NamedTuple):
    """The arrays that the kernels read and write, one record per game or view."""

    kernel: ModuleType
    states: Array
    blank: Array
    actions: Array
    rows: Array
    observations: Array


class Play(NamedTuple):
    """Recorded play: T actions [T, N] between T+1 positions [T+1, N or N * views]."""

    states: Array
    rows: Array
    observations: Array
    actions: Array


def _as_is(array: Array) -> Array:
    return array


def build(game: games.Game, keys: Array, prepare: Callable[[Array], Array] = _as_is) -> Arena:
    """One finished game per key; the first `advance` opens new ones. `prepare` may change the type of the arrays."""
    kernel = binding.bind(game.name, game.rules)
    states = new_rows(len(keys), game.rules.STATE)
    states["key"] = keys
    states["status"] = OVER
    views = len(keys) * game.spec.views
    actions, rows = new_rows(len(keys), kernel.ACTION), new_rows(views, kernel.ROW)
    observations = new_rows(views, game.rules.OBSERVATION)
    return Arena(kernel, *(prepare(array) for array in (states, game.blank(), actions, rows, observations)))


def advance(arena: Arena, low: int = 0, high: int | None = None) -> None:
    """One step of games low .. high-1, all by default."""
    last = len(arena.states) if high is None else high
    arena.kernel.advance(
        arena.states, arena.blank, arena.actions, arena.rows, arena.observations, low, last, NO_FIELDS, 0
    )


def choose(arena: Arena, generator: np.random.Generator) -> None:
    """Write a random legal action for every view."""
    actions, kernel = arena.actions["action"], arena.kernel
    if kernel.CONTINUOUS:
        actions[:] = generator.uniform(kernel.LOW, kernel.HIGH, actions.shape)
    else:
        chances = generator.random(arena.rows["mask"].shape, np.float32) * arena.rows["mask"]
        actions[:] = chances.argmax(axis=1).reshape(actions.shape)


def record(arena: Arena, steps: int, seed: int) -> Play:
    """Open the games and play them at random."""
    generator = np.random.default_rng(seed)
    advance(arena)
    moments, actions = [_moment(arena)], []
    for _ in range(steps):
        choose(arena, generator)
        actions.append(arena.actions.copy())
        advance(arena)
        moments.append(_moment(arena))
    return _stack(moments, np.stack(actions))


def replay(arena: Arena, actions: Array) -> Play:
    """Open the games and play the recorded actions [T, N]."""
    advance(arena)
    moments = [_moment(arena)]
    for action in actions:
        arena.actions[:] = action
        advance(arena)
        moments.append(_moment(arena))
    return _stack(moments, actions)


def _stack(moments: list[tuple[Array, Array, Array]], actions: Array) -> Play:
    states, rows, observations = (np.stack(arrays) for arrays in zip(*moments, strict=True))
    return Play(states, rows, observations, actions)


def _moment(arena: Arena) -> tuple[Array, Array, Array]:
    return arena.states.copy(), arena.rows.copy(), arena.observations.copy()


class Trial:
    """A game under test, with the random play that most checks look at."""

    def __init__(self, name: str) -> None:
        self.game = games.load(name)
        Pool(self.game, 1).close()  # compiles the kernels, with a message if that takes long
        self.kernel = binding.bind(self.game.name, self.game.rules)

    @cached_property
    def keys(self) -> Array:
        return random.keys(20, ROWS)

    @cached_property
    def play(self) -> Play:
        arena = build(self.game, self.keys)
        size = sum(array.nbytes for array in arena[1:])
        return record(arena, min(STEPS, max(24, MOST_BYTES // size)), seed=20)

    def sample(self, count: int, status: int | None = None) -> Array:
        """Evenly spaced recorded states, optionally only those with the given status."""
        states = self.play.states.ravel()
        if status is not None:
            states = states[states["status"] == status]
        return states[np.linspace(0, len(states) - 1, min(count, len(states))).astype(int)].copy()

    def seen(self, states: Array, dirt: int = 0) -> tuple[Array, Array]:
        """Rows and observations of these states, written over memory filled with the byte `dirt`."""
        views = len(states) * self.game.spec.views
        rows, observations = filled(views, self.kernel.ROW, dirt), filled(views, self.game.rules.OBSERVATION, dirt)
        self.kernel.see(states, rows, observations, 0, len(states))
        return rows, observations


def filled(count: int, dtype: DType, byte: int) -> Array:
    """`count` records of one repeated byte."""
    rows = new_rows(count, dtype)
    rows.view(np.uint8)[:] = byte
    return rows


def same(left: Array, right: Array) -> bool:
    """Whether two arrays of records agree in every bit of every field; padding between fields is ignored."""
    return different_field(left, right) == ""


def different_field(left: Array, right: Array) -> str:
    """The name of the first field in which two arrays of records differ, or an empty text."""
    return next((name for name, one, other in pairs_of_fields(left, right) if one.tobytes() != other.tobytes()), "")


def pairs_of_fields(left: Array, right: Array, prefix: str = "") -> Iterator[tuple[str, Array, Array]]:
    """(name, left field, right field) for every field of two arrays of records, including nested records."""
    for name in left.dtype.names or ():
        if left[name].dtype.names:
            yield from pairs_of_fields(left[name], right[name], f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", left[name], right[name]
