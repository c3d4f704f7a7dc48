"""The one place that knows other people's interfaces, and the one door to every pool, ours or theirs.

`gymnasium:FrozenLake-v1` or `pettingzoo:classic/tictactoe-v3` opens wherever the name of a game is accepted;
so does one of our games in somebody else's engine, `duel@ygopro`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ludus.pool import AnyPool, Pool, Snapshot
from ludus.types import Array, LudusError

PREFIXES = ("gymnasium", "pettingzoo", "discretize")
ENGINES = ("duel@ygopro",)
Opener = Callable[[str, int, int | Sequence[int], int | None], AnyPool]
"""(name, rows, seed, threads) to a pool"""


class Identity(NamedTuple):
    """What a checkpoint remembers a game by."""

    full_name: str
    fingerprint: str


def identity_of(pool: AnyPool) -> Identity:
    """The full name and the fingerprint of a pool's game, whoever wrote it."""
    return Identity(pool.name, pool.fingerprint)


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> AnyPool:
    """A pool of the game with this name; a prefix like `gymnasium:` says whose game it is."""
    if "@" in name.partition("(")[0]:
        return _open_engine(name, rows, seed, threads)
    prefix, colon, rest = name.partition(":")
    if not colon:
        return Pool(name, rows, seed, threads)
    if prefix not in PREFIXES:
        raise LudusError(f'unknown prefix "{prefix}:" in "{name}"; known are {", ".join(PREFIXES)}')
    return _opener(prefix)(rest, rows, seed, threads)


def _open_engine(name: str, rows: int, seed: int | Sequence[int], threads: int | None) -> AnyPool:
    """A pool of our game in another engine."""
    game, bracket, settings = name.strip().partition("(")
    if game.strip() not in ENGINES:
        raise LudusError(f'"{game}" names an engine that is not known; known are {", ".join(ENGINES)}')
    return _opener(game.strip())(bracket + settings, rows, seed, threads)


def _opener(bridge: str) -> Opener:
    """What opens pools of a prefix or an engine; imported on demand, because most bridges need an extra."""
    match bridge:
        case "gymnasium":
            from ludus.bridges.gymnasium_pool import open_pool as open_gymnasium

            return open_gymnasium
        case "pettingzoo":
            from ludus.bridges.pettingzoo_pool import open_pool as open_pettingzoo

            return open_pettingzoo
        case "discretize":
            from ludus.bridges.discretize import open_pool as open_discretized

            return open_discretized
        case _:
            from ludus.bridges.ygopro.pool import open_pool as open_ygopro

            return open_ygopro


def pool_state(pool: AnyPool) -> dict[str, Array]:
    """The games of a pool as arrays for a checkpoint; none where they are somebody else's."""
    if not pool.can_save:
        return {}
    played, states, views, observations = pool.save()[1:]
    return {"played": np.array([played]), "states": states, "views": views, "observations": observations}


def restore_pool(pool: AnyPool, state: Mapping[str, Array]) -> None:
    """Let the games go on where `pool_state` was taken."""
    parts = (state[name] for name in ("states", "views", "observations"))
    pool.restore(Snapshot(pool.fingerprint, int(state["played"][0]), *parts))


__all__ = ["AnyPool", "Identity", "identity_of", "open_pool", "pool_state", "restore_pool"]
