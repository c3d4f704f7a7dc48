"""Atomic file writes: readers never see a partly written file, even after a crash."""

from __future__ import annotations

import contextlib
import contextvars
import os
import pathlib
from collections.abc import Iterator

from ludus.types import NO_FILES, LudusError

_trusted = contextvars.ContextVar("trusted", default=False)


def names_may_be_files() -> bool:
    """Whether parameters in names of games may be paths: not in a server, where names come from requests."""
    return _trusted.get() or not os.environ.get(NO_FILES)


@contextlib.contextmanager
def trusted_names() -> Iterator[None]:
    """Within this block names come from the operator of a server, who may use files."""
    token = _trusted.set(True)
    try:
        yield
    finally:
        _trusted.reset(token)


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Write to a temporary file beside `path`, then rename it; concurrent writers use different temporary files."""
    if not path.parent.is_dir():
        raise LudusError(f'the folder "{path.parent}" does not exist; create it first')
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise LudusError(f'cannot write "{path}": {error.strerror}') from None
