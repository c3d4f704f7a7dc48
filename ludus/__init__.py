"""Ludus: train, watch, play against, battle and serve game-playing agents.

Nothing heavy is imported here: names are fetched when they are first used, so `import ludus` costs milliseconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ludus.bridges import open_pool
    from ludus.games import Game, load
    from ludus.pool import Pool
    from ludus.types import Continuous, Decision, Discrete, LudusError, Rollout, Spec, Step

__version__ = "0.1.0"

_HOMES = {
    "ludus.bridges": ("open_pool",),
    "ludus.games": ("Game", "load"),
    "ludus.pool": ("Pool",),
    "ludus.types": ("Continuous", "Decision", "Discrete", "LudusError", "Rollout", "Spec", "Step"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Continuous", "Decision", "Discrete", "Game", "LudusError", "Pool", "Rollout", "Spec", "Step", "load", "open_pool",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
