"""Arrays side by side in memory, and memory that processes share.

Shared memory has no name: it is inherited as a file descriptor and freed with the last process that holds it, however
that process ends. The types and shapes of the arrays are sent separately, as JSON (`Facts`).
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from ludus.agents.table import LINE
from ludus.types import Array, LudusError

Facts = list[tuple[str, str, list[int]]]
"""name, type and shape of each array; every array begins at a cache line"""


class Segment:
    """Memory that a child process inherits by its descriptor; it grows when more is written to it."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = new_descriptor() if descriptor is None else descriptor
        self.memory = np.zeros(0, np.uint8)

    def put(self, arrays: Mapping[str, Array]) -> Facts:
        """Write all arrays; returns the facts that `get` needs to find them, here or in another process."""
        facts = facts_of(arrays)
        lay(self._reach(size_of(facts)), facts, arrays)
        return facts

    def get(self, facts: Facts) -> dict[str, Array]:
        """Views of the arrays."""
        return find(self._reach(size_of(facts)), facts)

    def _reach(self, size: int) -> Array:
        held = os.fstat(self.descriptor).st_size
        if held < size:
            self._enlarge(max(size, 2 * held))
        if len(self.memory) < size:
            # Views of the earlier mapping keep it alive for as long as they are used.
            self.memory = np.frombuffer(mmap.mmap(self.descriptor, 0), np.uint8)
        return self.memory

    def _enlarge(self, size: int) -> None:
        try:
            # Reserved now, so that a lack of memory is an error here and not a signal at the first touch.
            getattr(os, "posix_fallocate", _stretch)(self.descriptor, 0, size)
        except OSError as error:
            raise LudusError(
                f"no {size / 2**30:.1f} GiB to share with a worker ({error.strerror}); use fewer workers or threads"
            ) from None

    def close(self) -> None:
        self.memory = np.zeros(0, np.uint8)
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


def new_descriptor() -> int:
    """A file in memory without a name, or, where the system has none, one on disk whose name is gone at once."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ludus")
    with tempfile.TemporaryFile(prefix="ludus-") as file:
        return os.dup(file.fileno())


def _stretch(descriptor: int, start: int, size: int) -> None:
    os.ftruncate(descriptor, start + size)


def facts_of(arrays: Mapping[str, Array]) -> Facts:
    return [(name, _kind(array.dtype), list(array.shape)) for name, array in arrays.items()]


def _kind(dtype: np.dtype[np.generic]) -> str:
    """The name that gives this type again; types of ml_dtypes such as bfloat16 have no other."""
    return dtype.name if dtype.kind == "V" else dtype.str


def size_of(facts: Facts) -> int:
    """Bytes that these arrays take."""
    return sum(_lines(kind, shape) for _, kind, shape in facts)


def lay(memory: Array, facts: Facts, arrays: Mapping[str, Array]) -> None:
    """Write the arrays one after the other."""
    for name, place in find(memory, facts).items():
        place[...] = arrays[name]


def find(memory: Array, facts: Facts) -> dict[str, Array]:
    """Views of the arrays that were laid into this memory."""
    found, start = {}, 0
    for name, kind, shape in facts:
        size = np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64))
        found[name] = memory[start : start + size].view(kind).reshape(shape)
        start += _lines(kind, shape)
    return found


def _lines(kind: str, shape: list[int]) -> int:
    return -(-np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64)) // LINE) * LINE
