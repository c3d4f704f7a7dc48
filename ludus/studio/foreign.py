"""Descriptions of games of other libraries, such as `gymnasium:Pendulum-v1`, for the studio."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import NamedTuple

from ludus import games
from ludus.bridges import identity_of
from ludus.evaluation import show
from ludus.types import DType, LudusError, Spec

NO_RULES = ModuleType("no_rules")


class ForeignGame(NamedTuple):
    """The part of `games.Game` that a room needs."""

    name: str
    spec: Spec
    observation: DType
    title: str
    fingerprint: str
    settings: dict[str, str]
    rules: ModuleType = NO_RULES
    """a module without declarations"""


AnyGame = games.Game | ForeignGame


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
