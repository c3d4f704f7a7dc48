"""Errors at a line of a source file: place, reason, the line itself, and a hint."""

from __future__ import annotations

import ast
import importlib
import linecache
import os
import pathlib
import traceback
from collections.abc import Collection
from typing import NamedTuple

from ludus.types import LudusError


class Place(NamedTuple):
    """A line of a source file."""

    file: str
    line: int


def explain(place: Place, reason: str, hint: str = "") -> LudusError:
    """The error for a mistake at a source line."""
    linecache.checkcache(place.file)
    source = linecache.getline(place.file, place.line).strip()
    lines = [f"{short_path(place.file)}:{place.line}: {reason}", f"    {source}" if source else "", hint]
    return LudusError("\n".join(filter(None, lines)))


def short_path(path: str) -> str:
    """The path relative to the current folder if it is inside, else the absolute path."""
    full, here = os.path.abspath(path), os.getcwd()
    return os.path.relpath(full, here) if full.startswith(here + os.sep) else full


def python_error(error: BaseException, homes: Collection[str]) -> LudusError | None:
    """The error for an exception, at its last traceback line within `homes` (files, folders); None if there is none."""
    # Cached code names the file that it was compiled from, which may have been in another folder.
    moved = {os.path.basename(home): home for home in homes}
    places = [place._replace(file=moved.get(os.path.basename(place.file), place.file)) for place in _places(error)]
    places = [place for place in places if any(lies_in(place.file, home) for home in homes)]
    if not places:
        return None
    return explain(places[-1], _described(error))


def import_error(name: str, error: BaseException, importer: str) -> LudusError:
    """The error for an exception that occurred while the file `importer` imported a game."""
    if isinstance(error, SyntaxError) and error.filename:
        return explain(Place(error.filename, error.lineno or 1), f"{type(error).__name__}: {error.msg}")
    machinery = (importer, "<frozen ", os.path.dirname(importlib.__file__))
    authors = [place.file for place in _places(error) if not place.file.startswith(machinery)]
    found = python_error(error, [home_of(file) for file in authors[:1]])
    return found or LudusError(f"{name} cannot be imported: {_described(error)}")


def _described(error: BaseException) -> str:
    if isinstance(error, LudusError):
        return str(error)
    return ": ".join(filter(None, (type(error).__name__, str(error))))


def home_of(file: str) -> str:
    """The file of a module, or the folder of a package."""
    return os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file


def _places(error: BaseException) -> list[Place]:
    """The source lines of a traceback; the line that raised comes last."""
    return [Place(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]


def lies_in(file: str, home: str) -> bool:
    """Whether a file is this file or in this folder."""
    return file == home or file.startswith(home + os.sep)


def line_of(file: str, name: str) -> Place:
    """Where a module assigns or defines a name; its first line if it does not."""
    for node in ast.parse(pathlib.Path(file).read_bytes()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if getattr(node, "name", "") == name or any(getattr(target, "id", "") == name for target in targets):
            return Place(file, getattr(node, "lineno", 1))
    return Place(file, 1)
