"""Ludus: train, watch, play against and evaluate game-playing agents.

The names below are imported when they are first used, so `import ludus` takes milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.bridges import open_pool
    from ludus.games import Game, load
    from ludus.pool import Pool
    from ludus.types import Continuous, Decision, Discrete, LudusError, Rollout, Spec, Step

__version__ = "0.1.0"

__all__ = [
    "Continuous", "Decision", "Discrete", "Game", "LudusError", "Pool", "Rollout", "Spec", "Step", "load", "open_pool",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "open_pool":
        from ludus import bridges

        return bridges.open_pool
    if name == "Pool":
        from ludus import pool

        return pool.Pool
    if name in ("Game", "load"):
        from ludus import games

        return getattr(games, name)
    if name in __all__:
        from ludus import types

        return getattr(types, name)
    raise AttributeError(f"module 'ludus' has no attribute {name!r}")
