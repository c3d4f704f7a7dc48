"""How agents learn: one file a method, each with its equation.

An algorithm is a dataclass of settings. Its `CRAFT` is the module that a run asks about it: `agent_for`, `begin`,
`groups`, `resumed` and a few more, alike for all.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

from ludus.types import LudusError

PLANNING = ("policy_iteration", "value_iteration")
DEEP = {"ppo": ("ludus.algorithms.ppo", "PPO"), "world_model": ("ludus.algorithms.world_model", "WorldModelSettings")}
"""where the settings of what learns with networks are found"""


def names() -> list[str]:
    """Every algorithm that `ludus train` knows."""
    from ludus.algorithms import tabular

    return sorted([*tabular.names("method"), *PLANNING, *DEEP])


def settings_kind(name: str) -> Any:
    """The dataclass with the settings of an algorithm."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise LudusError(f'unknown algorithm "{name}"; {hint}known are {", ".join(names())}')
    if name in DEEP:
        module, kind = DEEP[name]
        return getattr(importlib.import_module(module), kind)
    if name in PLANNING:
        from ludus.algorithms.planning.settings import Planning

        return Planning
    from ludus.algorithms.tabular import Tabular

    return Tabular


def craft_of(settings: Any) -> Any:
    """The module that knows how runs of this algorithm are begun, kept and resumed."""
    if settings.DEEP:
        from ludus import devices

        devices.start()
    return importlib.import_module(settings.CRAFT)
