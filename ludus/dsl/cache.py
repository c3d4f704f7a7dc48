"""The cache of compiled code: the folder LUDUS_CACHE, or the user's cache folder."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import pathlib
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO

import numba

_config: Any = numba.config  # Numba sets its attributes at run time, from the environment
_local = threading.local()
QUIET = "LUDUS_QUIET"
"""environment variable: do not report compilation"""
FOLDERS, LOCKS = re.compile(r".+-[0-9a-f]{16}"), re.compile(r"(compiling|ludus.+)\.lock")
"""names of what Ludus makes in the cache: folders of games and loops by their hash, and locks"""
JAX = re.compile(r".+-(cache|atime)|xla_.+|\.lockfile")
"""names of what JAX makes in its folder"""


def cache_root() -> pathlib.Path:
    """The folder of all compiled code."""
    if "LUDUS_CACHE" in os.environ:
        return pathlib.Path(os.environ["LUDUS_CACHE"])
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "ludus"


class Entry(NamedTuple):
    """A file or folder in the cache."""

    path: pathlib.Path
    size: int
    """bytes, of all files in it"""


def entries() -> list[Entry]:
    """What Ludus has made in the cache, the largest first; files of others and links are left out."""
    root = cache_root()
    found = [Entry(path, _size(path)) for path in root.iterdir() if _is_ours(path)] if root.is_dir() else []
    return sorted(found, key=lambda entry: (-entry.size, entry.path))


def _is_ours(path: pathlib.Path) -> bool:
    """Whether Ludus made this entry of the cache: LUDUS_CACHE may be a folder with other things in it."""
    if path.is_symlink() or not path.is_dir():
        return not path.is_symlink() and LOCKS.fullmatch(path.name) is not None
    if path.name == "jax":
        return all(JAX.fullmatch(part.name) for part in path.iterdir())
    return FOLDERS.fullmatch(path.name) is not None


def clear() -> list[Entry]:
    """Delete what Ludus has made in the cache; return what was deleted."""
    found = entries()
    for entry in found:
        if entry.path.is_dir():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                entry.path.unlink()
    return [entry for entry in found if not entry.path.exists()]


def _size(path: pathlib.Path) -> int:
    """Bytes of a file, or of all files in a folder; files that disappear meanwhile count as 0."""
    total = 0
    for part in path.rglob("*") if path.is_dir() else (path,):
        with contextlib.suppress(OSError):
            total += part.lstat().st_size if not part.is_dir() else 0
    return total


def compiler() -> tuple[object, ...]:
    """Compiler settings that belong in a cache key; Numba's own cache ignores the setting of bounds checks."""
    return numba.__version__, _config.BOUNDSCHECK, _config.OPT


def plain_python() -> bool:
    """Whether compilation is switched off for debugging (NUMBA_DISABLE_JIT=1)."""
    return bool(_config.DISABLE_JIT)


def interpreting() -> bool:
    """Whether this thread runs compiled functions as plain Python for now; see `interpreted`."""
    modes = _modes()
    if not modes:
        return False
    active = modes[-1].active
    return active if isinstance(active, bool) else active()


class _Mode:
    """One use of `interpreted`."""

    def __init__(self, active: bool | Callable[[], bool]) -> None:
        self.active = active


def _modes() -> list[_Mode]:
    """The modes that this thread has entered and not left."""
    try:
        modes: list[_Mode] = _local.modes
    except AttributeError:
        modes = _local.modes = []
    return modes


@contextlib.contextmanager
def interpreted(active: bool | Callable[[], bool] = True) -> Iterator[None]:
    """In this thread, call rules and kernels as plain Python, so that nothing waits for the compiler.

    States have the same bytes in both modes, so a game may change from one to the other between two steps. A function
    is asked before each call of a kernel. Contexts may be left in any order, as those of coroutines and generators are.
    """
    modes, mode = _modes(), _Mode(active)
    modes.append(mode)
    try:
        yield
    finally:
        modes.remove(mode)


@functools.cache
def loops_folder() -> pathlib.Path:
    """Cache folder for loops that belong to no game; its name is a hash of the compiler and all sources of Ludus."""
    total = hashlib.sha256(repr(compiler()).encode())
    for source in sorted(pathlib.Path(__file__).parent.parent.rglob("*.py")):
        total.update(source.read_bytes())
    return cache_root() / f"loops-{total.hexdigest()[:16]}"


@contextlib.contextmanager
def caching_in(folder: pathlib.Path) -> Iterator[None]:
    """Functions decorated inside this context are cached in this folder."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


def folder_now() -> pathlib.Path:
    """The folder in which a function decorated now would be cached."""
    return pathlib.Path(_config.CACHE_DIR or cache_root())


@contextlib.contextmanager
def held(lock: pathlib.Path) -> Iterator[None]:
    """Hold a lock between processes; do not lock if its file cannot be created."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def inside_folder() -> bool:
    """Whether `caching_in` is active or the user set NUMBA_CACHE_DIR."""
    return bool(_config.CACHE_DIR)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Do not report compilation on stderr, because the caller shows its progress."""
    before = os.environ.get(QUIET)
    os.environ[QUIET] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[QUIET]


@contextlib.contextmanager
def telling_first_time(what: str, marker: pathlib.Path) -> Iterator[None]:
    """Report on stderr that `what` is being compiled; silent if the marker of an earlier compilation exists."""
    if marker.exists() or interpreting():
        yield
        return
    start, stream = time.perf_counter(), None if QUIET in os.environ else sys.stderr
    _tell(f"ludus: compiling {what} for the first time …", stream)
    try:
        yield
    except BaseException:
        _tell(" failed\n", stream)
        raise
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    _tell(f" {time.perf_counter() - start:.1f} s\n", stream)


def _tell(text: str, stream: TextIO | None) -> None:
    if stream is not None:
        print(text, end="", file=stream, flush=True)
