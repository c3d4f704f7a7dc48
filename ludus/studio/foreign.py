"""Descriptions of games of other libraries, such as `gymnasium:Pendulum-v1`, for the studio."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ludus.bridges import identity_of
from ludus.evaluation import show
from ludus.types import LudusError, Spec


class ForeignGame(NamedTuple):
    """The part of `games.Game` that a room needs."""

    name: str
    spec: Spec
    observation: np.dtype[Any]
    title: str
    fingerprint: str
    settings: dict[str, str]
    rules: Any = None


def is_foreign(name: str) -> bool:
    return ":" in name.partition("(")[0]


@functools.lru_cache(64)
def describe(name: str) -> ForeignGame:
    """The game of this name; it is opened once to read its spec."""
    rest = name.partition(":")[2]
    # Gymnasium imports the part before a second colon as a module.
    if ":" in rest:
        raise LudusError(f'"{name}" names a module, which rooms do not import; use a registered environment')
    pool = show.open_drawable(name, 0)
    try:
        fingerprint = identity_of(pool).fingerprint
        return ForeignGame(name.partition("(")[0], pool.spec, pool.observation, rest, fingerprint, {})
    finally:
        pool.close()
