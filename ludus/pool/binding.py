"""Bind the kernels to a game, with a compile cache that belongs to exactly these sources.

Numba's disk cache misses closures and ignores changes in callees. So every game gets its own copy of the kernel module
(top-level functions: the cache holds), and the cache folder is named by a hash of everything that was compiled in.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ludus.words.cache import cache_root, caching_in, compiler

KERNEL = pathlib.Path(__file__).with_name("kernel.py")
KEPT = 4
"""how many cache folders of one game are kept: a few versions of the sources may be in use side by side"""
NOT_FOR_FILES = r"\W+"
_NOT_OURS = frozenset(sys.stdlib_module_names) | {"numpy", "numba", "llvmlite"}
_lock = threading.RLock()
_bound: dict[ModuleType, ModuleType] = {}


def bind(name: str, rules: ModuleType) -> ModuleType:
    """The kernel module of a game, one per process."""
    with _lock:
        if rules not in _bound:
            # A foreign name may hold what a file name may not.
            _bound[rules] = instantiate(KERNEL, f"ludus_kernel_{re.sub(NOT_FOR_FILES, '_', name)[:80]}", rules=rules)
        return _bound[rules]


def instantiate(template: pathlib.Path, module_name: str, **bound: ModuleType) -> ModuleType:
    """Run a template with modules bound to names; all that it compiles is cached under the hash of all sources."""
    spec = importlib.util.spec_from_file_location(module_name, template)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bound)
    module.__dict__["CACHE"] = cache_folder(module_name.removeprefix("ludus_"), digest(template, *bound.values()))
    sys.modules[module_name] = module
    with caching_in(module.__dict__["CACHE"]):
        spec.loader.exec_module(module)
    return module


def digest(template: pathlib.Path, *bound: ModuleType) -> str:
    """A hash of the template, what is bound to it, all they import, the tables they hold, and what compiles them."""
    total = hashlib.sha256(template.read_bytes())
    settings = (*compiler(), np.__version__, sys.version_info[:2])
    total.update(repr(settings).encode())
    contents: dict[int, bytes] = {}
    for module in _closure(bound, ast.parse(template.read_text())):
        total.update(pathlib.Path(module.__file__ or "").read_bytes())
        for name, value in sorted(module.__dict__.items()):
            # Tables and constants may come from data files, which the sources do not show. All else has no content: a
            # package also holds whatever part of it this process has happened to import.
            content = _content(value, contents)
            if content and not name.startswith("__"):
                total.update(name.encode() + content)
    for source in _sources_beside(bound):
        total.update(source.read_bytes())
    return total.hexdigest()[:16]


def cache_folder(name: str, hash_of_sources: str) -> pathlib.Path:
    """The folder of this game and these sources; folders of older sources are cleared away."""
    folder = cache_root() / f"{name}-{hash_of_sources}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError as error:
        private = pathlib.Path(tempfile.mkdtemp(prefix="ludus-cache-"))
        print(f"ludus: cannot write {folder} ({error.strerror}), so compiled games are kept in {private} for now; "
              "set LUDUS_CACHE to a folder of yours to keep them", file=sys.stderr)  # fmt: skip
        return private
    versions = [path for path in folder.parent.glob(f"{name}-*") if path.name.rpartition("-")[0] == name]
    for old in sorted(versions, key=_age)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _age(path: pathlib.Path) -> float:
    with contextlib.suppress(OSError):
        return -path.stat().st_mtime
    return 0.0


def _content(value: Any, known: dict[int, bytes]) -> bytes:
    """The bytes of a table, a number, a text, or a tuple of them; nothing for all else, which may name an address.

    A big table is imported by many modules: what was read once is `known` by the identity of its tuple.
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.shape} {value.dtype}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, tuple):
        if id(value) not in known:
            known[id(value)] = b"(" + b",".join([_content(part, known) for part in value]) + b")"
        return known[id(value)]
    return repr(value).encode() if isinstance(value, int | float | str | bytes | np.generic) else b""


def _closure(bound: tuple[ModuleType, ...], template: ast.AST) -> list[ModuleType]:
    """What is bound, and every module of ours or the author's that it or the template imports."""
    found = {module.__name__: module for module in bound}
    waiting = [*_imported(template, ""), *(name for part in bound for name in _imports_of(part))]
    for name in _imported(template, ""):  # it will do so in a moment; what nobody has imported yet would be overlooked
        with contextlib.suppress(ModuleNotFoundError):  # a name inside of a module is none
            importlib.import_module(name)
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if name in found or name.partition(".")[0] in _NOT_OURS or not getattr(module, "__file__", None):
            continue
        assert module is not None
        found[name] = module
        waiting.extend(_imports_of(module))
    return [found[name] for name in sorted(found)]


def _sources_beside(bound: tuple[ModuleType, ...]) -> list[pathlib.Path]:
    """All sources of packages, which may import their parts in ways that no statement shows."""
    homes = [pathlib.Path(module.__file__ or "") for module in bound]
    return sorted(path for home in homes if home.name == "__init__.py" for path in home.parent.rglob("*.py"))


def _imports_of(module: ModuleType) -> list[str]:
    path = pathlib.Path(module.__file__ or "")
    if path.suffix != ".py":
        return []
    package = module.__name__ if path.name == "__init__.py" else module.__name__.rpartition(".")[0]
    # What a function of ours imports it does without until it is called: no loop holds it, and whether this process has
    # called it must not matter.
    ours = module.__name__.partition(".")[0] == "ludus"
    return _imported(ast.parse(path.read_text()), package, in_functions=not ours)


def _imported(tree: ast.AST, package: str, in_functions: bool = True) -> list[str]:
    names: list[str] = []
    for node in _statements(tree, in_functions):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = package.rsplit(".", node.level - 1)[0] if node.level else ""
            home = ".".join(filter(None, (parent, node.module)))
            names.extend([home, *(f"{home}.{alias.name}" for alias in node.names)])
    return names


def _statements(tree: ast.AST, in_functions: bool) -> Iterator[ast.AST]:
    """All statements, wherever they stand: most of a tree is expressions, in which nothing is imported."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not in_functions:
            continue
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, part, ()))


Bound = Any
"""A kernel module with a game bound; its names come into being when it runs."""
