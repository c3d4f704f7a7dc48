"""The table of all settings at the end of the page of an algorithm, from its dataclass."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator

from tables import table

from ludus import algorithms
from ludus.agents.search.lookahead import Lookahead
from ludus.agents.search.mcts import MCTS
from ludus.studio.forms import help_of

SEARCH = {"mcts": MCTS, "lookahead": Lookahead}


def appendix(path: str) -> str:
    """The generated end of the page of an algorithm; empty for other pages."""
    name = pathlib.PurePath(path).stem
    if path != f"algorithms/{name}.md" or name not in {*SEARCH, *algorithms.names()}:
        return ""
    kind = SEARCH.get(name) or algorithms.settings_kind(name)
    intro = "The defaults are those of the class; presets of games and `algorithms.defaults` replace some of them."
    rows = list(_rows(kind, ""))
    return f"\n\n## All settings\n\n{intro}\n\n" + table(("setting", "default", "meaning"), rows)


def _rows(kind: type, prefix: str) -> Iterator[tuple[str, str, str]]:
    """A row for each setting; nested dataclasses have a dot in the names of their settings."""
    helps = help_of(kind)
    for field in dataclasses.fields(kind):
        default = _default(field)
        if dataclasses.is_dataclass(default):
            yield from _rows(type(default), f"{prefix}{field.name}.")
        elif default is not dataclasses.MISSING and field.name != "method":
            yield f"`{prefix}{field.name}`", f"`{default!r}`", helps.get(field.name, "")


def _default(field: dataclasses.Field) -> object:
    """The default of a field; MISSING for the players of a lookahead, which are no settings."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
