"""Atomic file writes: readers never see a partly written file, even after a crash."""

from __future__ import annotations

import os
import pathlib

from ludus.types import LudusError


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
