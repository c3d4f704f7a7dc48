"""Where compiled code is kept: LUDUS_CACHE, or the user's cache folder."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import numba

_config: Any = numba.config  # its names come into being when Numba reads the environment


def cache_root() -> pathlib.Path:
    """The folder of all compiled code."""
    if "LUDUS_CACHE" in os.environ:
        return pathlib.Path(os.environ["LUDUS_CACHE"])
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "ludus"


def compiler() -> tuple[Any, ...]:
    """What decides how the same source is compiled; Numba's own cache does not ask about bounds checks."""
    return numba.__version__, _config.BOUNDSCHECK, _config.OPT


def plain_python() -> bool:
    """Whether nothing is to be compiled, for debugging: NUMBA_DISABLE_JIT=1."""
    return bool(_config.DISABLE_JIT)


@functools.cache
def loops_folder() -> pathlib.Path:
    """For loops outside of a game: named by the compiler and by all our sources, any of which such loops may call."""
    total = hashlib.sha256(repr(compiler()).encode())
    for source in sorted(pathlib.Path(__file__).parent.parent.rglob("*.py")):
        total.update(source.read_bytes())
    return cache_root() / f"loops-{total.hexdigest()[:16]}"


@contextlib.contextmanager
def caching_in(folder: pathlib.Path) -> Iterator[None]:
    """What is decorated meanwhile keeps its compiled form in this folder."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before


def folder_now() -> pathlib.Path:
    """Where what is decorated now keeps its compiled form."""
    return pathlib.Path(_config.CACHE_DIR or cache_root())


@contextlib.contextmanager
def held(lock: pathlib.Path) -> Iterator[None]:
    """While nobody else holds this lock; where no file can be made, nobody waits."""
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
    """Whether `caching_in` is at work, or the user set a folder by NUMBA_CACHE_DIR."""
    return bool(_config.CACHE_DIR)


@contextlib.contextmanager
def telling_first_time(what: str, marker: pathlib.Path) -> Iterator[None]:
    """Tell of the compiling that goes on meanwhile, unless an earlier process did it and left its marker."""
    if marker.exists():
        yield
        return
    start = time.perf_counter()
    print(f"ludus: compiling {what} for the first time …", end="", file=sys.stderr, flush=True)
    yield
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    print(f" {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
