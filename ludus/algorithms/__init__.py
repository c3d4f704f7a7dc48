"""How agents learn. An algorithm is a frozen dataclass of settings with the methods of `protocol.Algorithm`.

It is found by name. `ALGORITHM` is the class in a package of this folder (`ppo`), and in a family of methods
(`tabular`, `planning`) the class for all modules of its folder `methods`. Others add a module or a package in the
folder `ludus_algorithms`, or through the entry-point group `ludus.algorithms`: with an `ALGORITHM` of its own, or
without one a tabular method.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import pathlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ludus.files import discovery
from ludus.types import LudusError

GROUP = "ludus.algorithms"
HERE = pathlib.Path(__file__).parent
TABULAR = "tabular"
"""the family of methods of other authors that bring no class of their own"""


def names() -> list[str]:
    """The names of all algorithms."""
    return sorted({*_homes(), *discovery.names(GROUP, None)})


def settings_kind(name: str) -> Any:
    """The class of an algorithm, whose fields are its settings."""
    home = _homes().get(name)
    if home is None and name in discovery.names(GROUP, None):
        home = TABULAR
        if hasattr(module := discovery.load(GROUP, None, name), "ALGORITHM"):
            return checked_kind(module)
        if not hasattr(module, "backup"):
            raise LudusError(f"{module.__file__} has neither ALGORITHM nor, for a tabular method, a function backup")
    if home is None:
        close = difflib.get_close_matches(name, names(), 1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise LudusError(f'unknown algorithm "{name}"; {hint}known are {", ".join(names())}')
    return discovery.load_bundled(__name__, home).ALGORITHM


def checked_kind(module: ModuleType) -> Any:
    """The ALGORITHM of another author's module; raises LudusError if it is not a class of settings."""
    kind = module.ALGORITHM
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    if not isinstance(kind, type) or "method" not in fields:
        raise LudusError(
            f"{module.__file__}: ALGORITHM must be a frozen dataclass with the field `method` that implements "
            f"ludus.algorithms.protocol.Algorithm, not {kind!r}"
        )
    return kind


def methods(family: str) -> list[str]:
    """The names of the bundled methods of a family."""
    return [name for name, home in _homes().items() if home == family and home != name]


def method_module(name: str) -> ModuleType:
    """The module of one method of a family."""
    home = _homes().get(name)
    if home is None:
        return discovery.load(GROUP, None, name)
    return discovery.load_bundled(__name__, home, "methods", name)


def from_dict(values: Mapping[str, Any], where: str) -> Any:
    """An algorithm from its settings as plain data: {"method": "ppo", "gamma": 0.99, …}."""
    from ludus.algorithms.settings import nested

    return nested(settings_kind(values["method"]), values, where)


def family(name: str) -> str:
    """The package that an algorithm is in: `tabular` of sarsa and of other authors' methods, `ppo` of ppo."""
    if name in _homes():
        return _homes()[name]
    try:
        return name if hasattr(discovery.load(GROUP, None, name), "ALGORITHM") else TABULAR
    except LudusError:  # unknown or broken: `settings_kind` gives the reason
        return name


def families() -> set[str]:
    """The packages that algorithms are in."""
    return set(_homes().values())


@functools.cache
def _homes() -> dict[str, str]:
    """The package of each algorithm by the algorithm's name."""
    homes: dict[str, str] = {}
    for package in pkgutil.iter_modules([str(HERE)]):
        methods = HERE / package.name / "methods"
        if methods.is_dir():
            homes |= {method.name: package.name for method in pkgutil.iter_modules([str(methods)])}
        elif package.ispkg:
            homes[package.name] = package.name
    return homes
