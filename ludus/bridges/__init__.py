"""The one place that knows other people's interfaces, and the one door to every pool, ours or theirs.

`gymnasium:FrozenLake-v1` or `pettingzoo:classic/tictactoe-v3` opens wherever the name of a game is accepted;
so does one of our games in somebody else's engine, `duel@ygopro`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ludus.pool import Pool, Snapshot
from ludus.types import Array, LudusError, Spec, Step

PREFIXES = {
    "gymnasium": "ludus.bridges.gymnasium_pool",
    "pettingzoo": "ludus.bridges.pettingzoo_pool",
    "discretize": "ludus.bridges.discretize",
}
ENGINES = {"duel@ygopro": "ludus.bridges.ygopro.pool"}


class AnyPool(Protocol):
    """What every pool offers, whoever wrote the game."""

    rows: int

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def observation(self) -> np.dtype[Any]: ...
    @property
    def status(self) -> Array: ...
    @property
    def step(self) -> Step: ...
    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step: ...
    def advance(self, actions: Any) -> Step: ...
    def action_name(self, action: Any) -> str: ...
    def describe(self, row: int = 0) -> str: ...
    def scene(self, row: int = 0, seat: int = -1) -> Array: ...
    def close(self) -> None: ...


def overheard(pool: AnyPool, action: int, seat: int) -> str:
    """What a seat is told of an action that is about to be played; where nothing is hidden, its name."""
    return pool.action_name(action, seat=seat) if isinstance(pool, Pool) else pool.action_name(action)


def seen(pool: AnyPool, seat: int) -> str:
    """The position in the words of a seat."""
    return pool.describe(seat=seat) if isinstance(pool, Pool) else pool.describe()


class Identity(NamedTuple):
    """What a checkpoint remembers a game by."""

    full_name: str
    fingerprint: str


def identity_of(pool: AnyPool) -> Identity:
    """The full name and the fingerprint of a pool's game, whoever wrote it."""
    game: Any = pool.game if isinstance(pool, Pool) else pool
    return Identity(game.full_name, game.fingerprint)


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> AnyPool:
    """A pool of the game with this name; a prefix like `gymnasium:` says whose game it is."""
    if "@" in name.partition("(")[0]:
        return _open_engine(name, rows, seed, threads)
    prefix, colon, rest = name.partition(":")
    if not colon:
        return Pool(name, rows, seed, threads)
    if prefix not in PREFIXES:
        raise LudusError(f'unknown prefix "{prefix}:" in "{name}"; known are {", ".join(PREFIXES)}')
    pool: AnyPool = importlib.import_module(PREFIXES[prefix]).open_pool(rest, rows, seed, threads)
    return pool


def _open_engine(name: str, rows: int, seed: int | Sequence[int], threads: int | None) -> AnyPool:
    """A pool of our game in another engine."""
    game, bracket, settings = name.strip().partition("(")
    if game.strip() not in ENGINES:
        raise LudusError(f'"{game}" names an engine that is not known; known are {", ".join(ENGINES)}')
    module = importlib.import_module(ENGINES[game.strip()])
    pool: AnyPool = module.open_pool(bracket + settings, rows, seed, threads)
    return pool


def pool_state(pool: AnyPool) -> dict[str, Array]:
    """The games of a pool as arrays for a checkpoint; none where they are somebody else's."""
    if not isinstance(pool, Pool):
        return {}
    played, states, views, observations = pool.save()[1:]
    return {"played": np.array([played]), "states": states, "views": views, "observations": observations}


def restore_pool(pool: Pool, state: Mapping[str, Array]) -> None:
    """Let the games go on where `pool_state` was taken."""
    parts = (state[name] for name in ("states", "views", "observations"))
    pool.restore(Snapshot(pool.game.fingerprint, int(state["played"][0]), *parts))
