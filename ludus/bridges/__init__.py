"""Adapters to other libraries (Gymnasium, PettingZoo, YGOPro), and `open_pool`, which opens every kind of pool by name.

`gymnasium:FrozenLake-v1` and `pettingzoo:classic/tictactoe-v3` are accepted wherever the name of a game is, and so is
`duel@ygopro`, a game of Ludus played by another engine.
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
    """The name and the fingerprint by which a checkpoint identifies its game."""

    full_name: str
    fingerprint: str


def identity_of(pool: AnyPool) -> Identity:
    """The identity of a pool's game, native or foreign."""
    return Identity(pool.name, pool.fingerprint)


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> AnyPool:
    """A pool of the game with this name; a prefix like `gymnasium:` selects the library that provides it.

    >>> import ludus
    >>> pool = ludus.open_pool("gymnasium:FrozenLake-v1(map_name=8x8)", rows=32)
    >>> pool.advance(pool.random_actions(0)).reward.shape
    (32, 1)
    """
    if "@" in name.partition("(")[0]:
        return _open_engine(name, rows, seed, threads)
    prefix, colon, rest = name.partition(":")
    if not colon:
        return Pool(name, rows, seed, threads)
    if prefix not in PREFIXES:
        raise LudusError(f'unknown prefix "{prefix}:" in "{name}"; the prefixes are {", ".join(PREFIXES)}')
    return _opener(prefix)(rest, rows, seed, threads)


def _open_engine(name: str, rows: int, seed: int | Sequence[int], threads: int | None) -> AnyPool:
    """A pool of a Ludus game that another engine plays."""
    game, bracket, settings = name.strip().partition("(")
    if game.strip() not in ENGINES:
        raise LudusError(f'"{game}" names an unknown engine; the available names are {", ".join(ENGINES)}')
    return _opener(game.strip())(bracket + settings, rows, seed, threads)


def _opener(bridge: str) -> Opener:
    """The `open_pool` of a prefix or an engine; imported on demand, because most bridges need an extra."""
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
    """The games of a pool as arrays for a checkpoint; {} if the pool cannot save them."""
    if not pool.can_save:
        return {}
    played, states, views, observations = pool.save()[1:]
    return {"played": np.array([played]), "states": states, "views": views, "observations": observations}


def restore_pool(pool: AnyPool, state: Mapping[str, Array]) -> None:
    """Continue the games from the state that `pool_state` returned."""
    parts = (state[name] for name in ("states", "views", "observations"))
    pool.restore(Snapshot(pool.fingerprint, int(state["played"][0]), *parts))


__all__ = ["AnyPool", "Identity", "identity_of", "open_pool", "pool_state", "restore_pool"]
