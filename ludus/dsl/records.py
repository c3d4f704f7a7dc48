"""Records: the flat layout of a state or an observation, with optional ranges of fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ludus.types import Array, DType, LudusError

i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
f32, f64 = np.float32, np.float64
End = float | Sequence[float] | Array
"""one end of a range: a number, or one number per component"""


class Within(NamedTuple):
    """A field with the range of its values."""

    low: End
    high: End
    type: object
    shape: tuple[int, ...]


def within(low: End, high: End, type: object, *shape: int) -> Within:
    """A field of numbers between `low` and `high` (scalars, or one bound per component)."""
    return Within(low, high, type, shape)


def record(**fields: object) -> DType:
    """A flat record: `record(board=(i8, 9), moves=i8, sensors=within(0, 1, f32, 6))`."""
    return np.dtype([_layout(name, field) for name, field in fields.items()], align=True)


def _layout(name: str, field: object) -> tuple[str, DType, tuple[int, ...]]:
    given, shape, ends = _parts(field)
    kind = _number_type(name, given, shape)
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in shape):
        raise LudusError(f"the field {name} has the shape {shape}; give whole numbers, like (i8, 9) or (i8, (3, 3))")
    if ends is None:
        return name, kind, shape
    _check_ends(name, kind, shape, *ends)
    # The range is stored in the dtype's metadata, so a record is still a plain NumPy dtype.
    return name, np.dtype(kind, metadata={"low": ends[0], "high": ends[1]}), shape


def _parts(field: object) -> tuple[object, tuple[int, ...], tuple[End, End] | None]:
    """Type, shape and range. These are the same: within(0, 7, i8, 3), (within(0, 7, i8), 3), within(0, 7, (i8, 3))."""
    if isinstance(field, Within):
        given, shape, _ = _parts(field.type)
        return given, (*field.shape, *shape), (field.low, field.high)
    if isinstance(field, tuple) and len(field) == 2:
        given, shape, ends = _parts(field[0])
        return given, (*(field[1] if isinstance(field[1], tuple | list) else (field[1],)), *shape), ends
    if isinstance(field, np.dtype) and field.subdtype:
        return field.base, field.shape, None
    return field, (), None


def _number_type(name: str, given: object, shape: tuple[int, ...]) -> DType:
    """The NumPy type of a field, if compiled rules can read it."""
    wanted = "give a type like i8 or f32, or (i8, 9) for nine of them, or within(0, 7, i8) for a range"
    try:
        kind = np.dtype(given) if isinstance(given, type | np.dtype) else None
    except TypeError:
        kind = None
    if kind is None or not (kind.kind in "iub" or kind in (f32, f64) or kind.names):
        raise LudusError(f"the field {name} is {given!r}, which is not a number type; {wanted}")
    if kind.kind == "b" and shape:
        raise LudusError(
            f"the field {name} is an array of bool, which compiled rules cannot read; write u8 instead of bool"
        )
    return kind


def _check_ends(name: str, kind: DType, shape: tuple[int, ...], low: End, high: End) -> None:
    """Check that low <= high, that the type can hold both, and that there is one bound or one for each component."""
    text = f"the field {name} has the range {low} to {high}"
    try:
        ends = np.broadcast_to(np.asarray(low, float), shape), np.broadcast_to(np.asarray(high, float), shape)
    except (ValueError, TypeError):
        raise LudusError(f"{text}; give two numbers, or arrays of the shape {shape}") from None
    if not (ends[0] <= ends[1]).all():
        raise LudusError(f"{text}; the first must not be above the second")
    if kind.kind in "iu" and (ends[0].min() < np.iinfo(kind).min or ends[1].max() > np.iinfo(kind).max):
        raise LudusError(
            f"{text}, which {kind.name} cannot hold; it holds {np.iinfo(kind).min} to {np.iinfo(kind).max}"
        )


def bounds(dtype: DType, name: str) -> tuple[Array, Array]:
    """The declared range of a field, broadcast to its shape; the whole range of its type if none is declared."""
    field = dtype.fields[name][0]  # type: ignore[index]
    base, shape = field.base, field.shape
    if base.metadata and "low" in base.metadata:
        low, high = base.metadata["low"], base.metadata["high"]
    elif base.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(base).min, np.iinfo(base).max
    plain = np.dtype(base.str)
    return np.broadcast_to(np.asarray(low, plain), shape), np.broadcast_to(np.asarray(high, plain), shape)
