"""Arrays laid out side by side in memory, and memory that processes share.

Shared memory has no name: it is inherited as a file descriptor and freed when the last process that holds it exits,
for whatever reason. The types and shapes of the arrays are sent separately, as JSON (`Layout`).
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from ludus.agents.table import LINE
from ludus.types import Array, LudusError

Layout = list[tuple[str, str, list[int]]]
"""name, type and shape of each array; every array begins at a cache line"""


class Segment:
    """Memory that a child process inherits by its descriptor; it grows when more is written to it."""

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = new_descriptor() if descriptor is None else descriptor
        self.memory = np.zeros(0, np.uint8)

    def put(self, arrays: Mapping[str, Array]) -> Layout:
        """Write all arrays; returns the layout that `get` needs to find them, here or in another process."""
        layout = layout_of(arrays)
        write(self._mapped(size_of(layout)), layout, arrays)
        return layout

    def get(self, layout: Layout) -> dict[str, Array]:
        """Views of the arrays."""
        return views(self._mapped(size_of(layout)), layout)

    def _mapped(self, size: int) -> Array:
        """The mapped memory, at least `size` bytes."""
        held = os.fstat(self.descriptor).st_size
        if held < size:
            self._enlarge(max(size, 2 * held))
        if len(self.memory) < size:
            # Views of the earlier mapping keep it alive for as long as they are used.
            self.memory = np.frombuffer(mmap.mmap(self.descriptor, 0), np.uint8)
        return self.memory

    def _enlarge(self, size: int) -> None:
        try:
            # Reserved now, so that a lack of memory is an error here and not a signal at the first access.
            getattr(os, "posix_fallocate", _truncate)(self.descriptor, 0, size)
        except OSError as error:
            raise LudusError(
                f"cannot share {size / 2**30:.1f} GiB with a worker ({error.strerror}); use fewer workers or threads"
            ) from None

    def close(self) -> None:
        self.memory = np.zeros(0, np.uint8)
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


def new_descriptor() -> int:
    """An unnamed file in memory, or on systems without these, an unlinked temporary file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ludus")
    with tempfile.TemporaryFile(prefix="ludus-") as file:
        return os.dup(file.fileno())


def _truncate(descriptor: int, start: int, size: int) -> None:
    os.ftruncate(descriptor, start + size)


def layout_of(arrays: Mapping[str, Array]) -> Layout:
    return [(name, _type_name(array.dtype), list(array.shape)) for name, array in arrays.items()]


def _type_name(dtype: np.dtype[np.generic]) -> str:
    """The name from which NumPy creates this type again; types of ml_dtypes such as bfloat16 only have `name`."""
    return dtype.name if dtype.kind == "V" else dtype.str


def size_of(layout: Layout) -> int:
    """The size of all arrays in bytes, each rounded up to whole cache lines."""
    return sum(_rounded_size(kind, shape) for _, kind, shape in layout)


def write(memory: Array, layout: Layout, arrays: Mapping[str, Array]) -> None:
    """Write the arrays one after the other."""
    for name, place in views(memory, layout).items():
        place[...] = arrays[name]


def views(memory: Array, layout: Layout) -> dict[str, Array]:
    """Views of the arrays in this memory."""
    found, start = {}, 0
    for name, kind, shape in layout:
        size = np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64))
        found[name] = memory[start : start + size].view(kind).reshape(shape)
        start += _rounded_size(kind, shape)
    return found


def _rounded_size(kind: str, shape: list[int]) -> int:
    return -(-np.dtype(kind).itemsize * int(np.prod(shape, dtype=np.int64)) // LINE) * LINE
