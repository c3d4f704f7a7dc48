"""Finds games, algorithms, networks and runtimes by name, so that no list has to be extended to add one.

The members of a group such as `ludus.games` are modules from three places. Where two share a name, the first wins:

1. the modules and packages inside one package of Ludus;
2. the user's own folder: `ludus_games` in the current folder, or the folder that LUDUS_GAMES names;
3. installed packages with an entry point in the group `ludus.games` that refers to a module.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import importlib.util
import os
import pathlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from ludus.files.source_errors import import_error
from ludus.types import LudusError


class Found(NamedTuple):
    """All members of a group: the modules by name, and for those that cannot be imported the reason by name."""

    modules: dict[str, ModuleType]
    errors: dict[str, str]


def names(group: str, package: str | None) -> list[str]:
    """The names in a group, sorted; nothing is imported, so a module that fails to import is listed too.

    Without a package, only the modules of users and of installed packages are listed.
    """
    return sorted({*bundled(package), *_local_files(group), *_entry_points(group)})


def bundled(package: str | None) -> list[str]:
    """The modules and packages inside a package, without those whose names begin with an underscore."""
    if package is None:
        return []
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [module.name for module in found if not module.name.startswith("_")]


def load_bundled(package: str, *names: str) -> ModuleType:
    """A module inside a package of Ludus, by the names on the way to it."""
    return importlib.import_module(".".join((package, *names)))


def load(group: str, package: str | None, name: str) -> ModuleType:
    """Import one member of a group; a `LudusError` gives the reason if there is none or its import fails."""
    importer = _importer(group, package, name)
    if importer is None:
        raise LudusError(_unknown(group, name, names(group, package)))
    try:
        module = importer()
    except (Exception, SystemExit) as error:  # the module of another author may fail in any way
        raise import_error(name, error, __file__) from error
    if not isinstance(module, ModuleType):
        raise LudusError(f'the entry point "{name}" of {group} is {module!r}; let it refer to a module, like hex.rules')
    return module


def load_all(group: str, package: str | None) -> Found:
    """Import every member of a group; one that fails does not hide the others."""
    found = Found({}, {})
    for name in names(group, package):
        try:
            found.modules[name] = load(group, package, name)
        except LudusError as error:
            found.errors[name] = str(error)
    return found


def local_folder(group: str) -> pathlib.Path:
    """The user's folder: for the group `ludus.games`, the value of LUDUS_GAMES, or `ludus_games`."""
    default = group.replace(".", "_")
    return pathlib.Path(os.environ.get(default.upper(), default))


def kind_of(group: str) -> str:
    """The word for one member in messages: `game` for `ludus.games`."""
    return group.rpartition(".")[2].removesuffix("s")


def _unknown(group: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    hint = f'did you mean "{close[0]}"? ' if close else ""
    return f'unknown {kind_of(group)} "{name}"; {hint}known are {", ".join(known) or "none"}'


def _importer(group: str, package: str | None, name: str) -> Callable[[], object] | None:
    """The function that imports a member, or None if unknown; entry points come last because reading them is slow."""
    if name in bundled(package):
        return functools.partial(importlib.import_module, f"{package}.{name}")
    if name in (files := _local_files(group)):
        return functools.partial(_import_file, group, name, files[name])
    point = _entry_points(group).get(name)
    return point.load if point else None


def _entry_points(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=group)}


def _local_files(group: str) -> dict[str, pathlib.Path]:
    """The source of each member in the user's folder; that of a package is its `__init__.py`."""
    folder = local_folder(group)
    packages = {path.parent.name: path for path in sorted(folder.glob("[!_]*/__init__.py"))}
    return packages | {path.stem: path for path in sorted(folder.glob("[!_]*.py"))}


def _import_file(group: str, name: str, path: pathlib.Path) -> ModuleType:
    module_name = f"{group.replace('.', '_')}_{name}"
    loaded = sys.modules.get(module_name)
    if loaded is not None and loaded.__file__ == str(path.resolve()):
        return loaded
    inside = [str(path.resolve().parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(module_name, path.resolve(), submodule_search_locations=inside)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
