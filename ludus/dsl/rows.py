"""Arrays of records for states and observations, in compiled code or, for debugging, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from ludus.dsl.cache import interpreting, plain_python
from ludus.types import Array, DType


def compiling() -> bool:
    """Whether rules called now are compiled; NUMBA_DISABLE_JIT=1 and `interpreted` make them plain Python."""
    return not (plain_python() or interpreting())


def new_rows(count: int, dtype: DType) -> Array:
    """`count` records of zeros; their type has no declared ranges."""
    rows = np.zeros(count, bare(dtype))
    return rows if compiling() else as_plain(rows)


def table(rows: Sequence[tuple[float, ...]], **fields: DTypeLike) -> Array:
    """A table of constants that rules read row by row: `table([(1, 2.5), …], kind=i8, number=f64)`."""
    return as_plain(np.array(rows, list(fields.items())))


def bare(dtype: DType) -> DType:
    """The same layout without ranges."""
    fields = dtype.fields
    if dtype.names is None or fields is None:
        return np.dtype((np.dtype(dtype.base.str) if dtype.base.names is None else bare(dtype.base), dtype.shape))
    formats, offsets = [bare(fields[name][0]) for name in dtype.names], [fields[name][1] for name in dtype.names]
    return np.dtype(
        {"names": list(dtype.names), "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize},
        align=dtype.isalignedstruct,
    )


class PlainRow(np.record):  # type: ignore[misc]  # NumPy's stubs call it final; NumPy does not
    """A record whose fields hide NumPy's own attributes: `state.round` is the field, not the method."""

    def __getattribute__(self, name: str) -> object:
        fields = np.void.__getattribute__(self, "dtype").fields or {}
        if name not in fields:
            return np.void.__getattribute__(self, name)
        value = self.getfield(*fields[name][:2])
        return as_plain(value) if getattr(value, "dtype", np.dtype(int)).names else value


def as_plain(rows: Array) -> Array:
    """The same memory, as records whose fields plain Python can read and write as attributes."""
    return rows.view(np.dtype((PlainRow, rows.dtype)))


def plain_argument(value: object) -> object:
    """An argument of a rule or kernel as plain Python reads it: arrays and records become plain, the rest stays."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.names is None else as_plain(value)
    if isinstance(value, np.void) and not isinstance(value, PlainRow):
        return as_plain(np.array([value], value.dtype))[0]
    return value
