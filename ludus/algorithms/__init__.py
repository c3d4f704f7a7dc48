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


def names() -> list[str]:
    """Every algorithm that `ludus train` knows."""
    from ludus.algorithms import tabular

    return sorted([*tabular.names("method"), *PLANNING, "ppo"])


def settings_kind(name: str) -> Any:
    """The dataclass with the settings of an algorithm."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise LudusError(f'unknown algorithm "{name}"; {hint}known are {", ".join(names())}')
    if name == "ppo":
        from ludus.algorithms.ppo import PPO

        return PPO
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
