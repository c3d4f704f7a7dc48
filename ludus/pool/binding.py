"""Bind the kernels to a game, with a compile cache keyed by the sources.

Numba's disk cache does not support closures and ignores changes in callees. So every game gets its own copy of the
kernel module (whose top-level functions can be cached), and the cache folder is named by a hash of all sources used.
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

import numpy as np

from ludus.dsl.cache import cache_root, caching_in, compiler

_PARSING = threading.Lock()
KERNEL = pathlib.Path(__file__).with_name("kernel.py")
KEPT = 4
"""number of cache folders kept per game: several versions of the sources may be in use at the same time"""
NOT_FOR_FILES = r"\W+"
_NOT_OURS = frozenset(sys.stdlib_module_names) | {"numpy", "numba", "llvmlite"}
_lock = threading.RLock()
_bound: dict[ModuleType, ModuleType] = {}


def bind(name: str, rules: ModuleType) -> ModuleType:
    """The kernel module of a game, one per process."""
    with _lock:
        if rules not in _bound:
            # The name of a foreign game may contain characters that are not allowed in file names.
            _bound[rules] = instantiate(KERNEL, f"ludus_kernel_{re.sub(NOT_FOR_FILES, '_', name)[:80]}", rules=rules)
        return _bound[rules]


def instantiate(template: pathlib.Path, module_name: str, **bound: ModuleType) -> ModuleType:
    """Run a template with modules bound to names; its compiled functions are cached under the hash of all sources."""
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
    """A hash of the template, the bound modules, all their imports and tables, and the settings of the compiler."""
    total = hashlib.sha256(template.read_bytes())
    settings = (*compiler(), np.__version__, sys.version_info[:2])
    total.update(repr(settings).encode())
    contents: dict[int, bytes] = {}
    for module in _closure(bound, _parsed(template)):
        total.update(pathlib.Path(module.__file__ or "").read_bytes())
        for name, value in sorted(module.__dict__.items()):
            # Tables and constants may come from data files, so the sources alone are not enough. Other values are
            # skipped; for example, a package also has the submodules that this process happens to have imported.
            content = _content(value, contents)
            if content and not name.startswith("__"):
                total.update(name.encode() + content)
    for source in _sources_beside(bound):
        total.update(source.read_bytes())
    return total.hexdigest()[:16]


def imported_modules(rules: ModuleType) -> list[ModuleType]:
    """The module of a game and every module of Ludus or the author that it imports."""
    return _closure((rules,), ast.Module([], []))


def cache_folder(name: str, hash_of_sources: str) -> pathlib.Path:
    """The cache folder of this game and these sources; the oldest folders of other sources are deleted."""
    folder = cache_root() / f"{name}-{hash_of_sources}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError as error:
        private = pathlib.Path(tempfile.mkdtemp(prefix="ludus-cache-"))
        print(f"ludus: cannot write {folder} ({error.strerror}); compiled games go to {private} for now; "
              "set LUDUS_CACHE to a writable folder to keep them", file=sys.stderr)  # fmt: skip
        return private
    versions = [path for path in folder.parent.glob(f"{name}-*") if path.name.rpartition("-")[0] == name]
    for old in sorted(versions, key=_age)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _age(path: pathlib.Path) -> float:
    with contextlib.suppress(OSError):
        return -path.stat().st_mtime
    return 0.0


def _content(value: object, known: dict[int, bytes]) -> bytes:
    """The bytes of a table, a number, a str, or a tuple of them; empty for other types, whose repr may hold an address.

    `known` holds the results for tuples by identity, since many modules import the same large table.
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.shape} {value.dtype}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, tuple):
        if id(value) not in known:
            known[id(value)] = b"(" + b",".join([_content(part, known) for part in value]) + b")"
        return known[id(value)]
    return repr(value).encode() if isinstance(value, int | float | str | bytes | np.generic) else b""


def _closure(bound: tuple[ModuleType, ...], template: ast.AST) -> list[ModuleType]:
    """The bound modules, and every module of Ludus or the author that they or the template import."""
    found = {module.__name__: module for module in bound}
    waiting = [*_imported(template, ""), *(name for part in bound for name in _imports_of(part))]
    for name in _imported(template, ""):  # import them now, since only imported modules are found below
        with contextlib.suppress(ModuleNotFoundError):  # the name may be an attribute of a module
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
    """All sources of packages, which may import submodules dynamically."""
    homes = [pathlib.Path(module.__file__ or "") for module in bound]
    return sorted(path for home in homes if home.name == "__init__.py" for path in home.parent.rglob("*.py"))


def _parsed(path: pathlib.Path) -> ast.Module:
    # The parser of CPython 3.11 counts its recursion for all threads together, and two at once raise SystemError.
    with _PARSING:
        return ast.parse(path.read_text())


def _imports_of(module: ModuleType) -> list[str]:
    path = pathlib.Path(module.__file__ or "")
    if path.suffix != ".py":
        return []
    package = module.__name__ if path.name == "__init__.py" else module.__name__.rpartition(".")[0]
    # Imports inside functions of Ludus are skipped: compiled loops do not use them, and the hash must not depend on
    # whether this process has called the function.
    ours = module.__name__.partition(".")[0] == "ludus"
    return _imported(_parsed(path), package, in_functions=not ours)


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
    """All statements, at any depth; expressions, most of the tree, are skipped because they contain no imports."""
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


Bound = ModuleType
"""a kernel module with a game bound; its attributes are defined at run time"""
