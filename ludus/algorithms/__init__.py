"""How agents learn: one file a method, each with its equation."""

from __future__ import annotations

import difflib
from typing import Any

from ludus.types import LudusError

PLANNING = ("policy_iteration", "value_iteration")


def names() -> list[str]:
    """Every algorithm that `ludus train` knows."""
    from ludus.algorithms import tabular

    return sorted([*tabular.names("method"), *PLANNING])


def settings_kind(name: str) -> Any:
    """The dataclass with the settings of an algorithm."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise LudusError(f'unknown algorithm "{name}"; {hint}known are {", ".join(names())}')
    if name in PLANNING:
        from ludus.algorithms.planning.settings import Planning

        return Planning
    from ludus.algorithms.tabular import Tabular

    return Tabular
