"""Arrays of records for states and observations, in compiled code or, for debugging, in plain Python."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from ludus.types import Array


def compiling() -> bool:
    """Whether rules are compiled; NUMBA_DISABLE_JIT=1 makes them plain Python."""
    config: Any = numba.config
    return not config.DISABLE_JIT


def new_rows(count: int, dtype: np.dtype[Any]) -> Array:
    """`count` records of zeros, without the declared ranges, which data do not need."""
    rows = np.zeros(count, bare(dtype))
    return rows if compiling() else as_plain(rows)


def table(rows: list[tuple[Any, ...]], **fields: Any) -> Array:
    """A table of constants that rules read row by row: `table([(1, 2.5), …], kind=i8, number=f64)`."""
    made = np.array(rows, list(fields.items()))
    return made if compiling() else as_plain(made)


def bare(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same layout without ranges."""
    if dtype.names is None:
        return np.dtype((np.dtype(dtype.base.str) if dtype.base.names is None else bare(dtype.base), dtype.shape))
    fields: Any = dtype.fields or {}
    formats, offsets = [bare(fields[name][0]) for name in dtype.names], [fields[name][1] for name in dtype.names]
    return np.dtype(
        {"names": list(dtype.names), "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize},
        align=dtype.isalignedstruct,
    )


class PlainRow(np.record):  # type: ignore[misc]  # NumPy's stubs call it final; NumPy does not
    """A record whose fields come before NumPy's own attributes: `state.round` is the field, not the method."""

    def __getattribute__(self, name: str) -> Any:
        fields: Any = np.void.__getattribute__(self, "dtype").fields or {}
        if name not in fields:
            return np.void.__getattribute__(self, name)
        value = self.getfield(*fields[name][:2])
        return as_plain(value) if getattr(value, "dtype", np.dtype(int)).names else value


def as_plain(rows: Array) -> Array:
    """The same memory, as records whose fields plain Python can read and write as attributes."""
    return rows.view(np.dtype((PlainRow, rows.dtype)))
