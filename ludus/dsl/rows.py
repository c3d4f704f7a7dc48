"""Arrays of records for states and observations, in compiled code or, for debugging, in plain Python."""

from __future__ import annotations

import difflib
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

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


class PlainRow(np.void):  # type: ignore[misc]  # NumPy's stubs call it final; NumPy does not
    """A record whose fields are attributes, for plain Python; they hide NumPy's own attributes: `state.round`."""

    def __getattr__(self, name: str) -> object:
        names = self.dtype.names or ()
        close = difflib.get_close_matches(name, names, 1)
        hint = f"; did you mean {close[0]}?" if close else f"; its fields are {', '.join(names)}"
        raise AttributeError(f"the record has no field {name}{hint}")


def as_plain(rows: Array) -> Array:
    """The same memory, as records whose fields plain Python can read and write as attributes."""
    return rows.view(plain_dtype(rows.dtype))


@functools.cache
def plain_dtype(dtype: DType) -> DType:
    """The same layout, with a class of its own whose properties read and write the fields."""
    fields = {name: _property(name, dtype[name]) for name in dtype.names or ()}
    return np.dtype((type("PlainRow", (PlainRow,), fields), bare(dtype)))


def _property(name: str, field: DType) -> property:
    def write(row: np.void, value: Any) -> None:
        row[name] = value

    read: Callable[[np.void], Any] = operator.itemgetter(name)
    if field.base.names is None:
        return property(read, write)
    inner = plain_dtype(field.base)
    return property(lambda row: read(row).view(inner), write)


def plain_argument(value: object) -> object:
    """An argument of a rule or kernel as plain Python reads it: arrays and records become plain, the rest stays."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.names is None else as_plain(value)
    if isinstance(value, np.void) and not isinstance(value, PlainRow):
        return as_plain(np.array([value], value.dtype))[0]
    return value
