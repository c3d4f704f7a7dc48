"""Convert named arrays to the bytes of a safetensors file and back, with validation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypedDict

import numpy as np
import safetensors
import safetensors.numpy

from ludus.agents.checkpoint.manifest import ADVICE
from ludus.agents.checkpoint.trees import as_array
from ludus.types import Array, DType, LudusError

TYPES = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8", "U16": "uint16",
    "U32": "uint32", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64",
}  # fmt: skip
MORE_TYPES = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
"""types that NumPy gets from ml_dtypes"""


class StoredArray(TypedDict):
    """An array as safetensors returns it."""

    shape: list[int]
    dtype: str
    data: bytes


_deserialize: Callable[[bytes], list[tuple[str, StoredArray]]] = safetensors.deserialize


def storable(place: str, array: object) -> Array:
    """The array in a storable form; raises LudusError if there is none. `place` is its group and name."""
    name = place.partition("/")[2]
    if name == "__metadata__" or not name.isprintable():
        raise LudusError(f"{place!r} is not a valid name for an array; use letters, digits, _ and /")
    # safetensors reads raw memory and would store a transposed array wrongly.
    plain = np.asarray(as_array(place, array), order="C")
    if plain.dtype.str.startswith(">"):
        raise LudusError(f'"{place}" is big-endian ({plain.dtype.str}); convert it with astype("{plain.dtype.name}")')
    if plain.dtype.name not in {*TYPES.values(), *MORE_TYPES.values()}:
        raise LudusError(f'"{place}" has the type {plain.dtype}, which cannot be stored; store numbers or booleans')
    return plain


def serialize(arrays: dict[str, Array]) -> bytes:
    """Arrays that are `storable` as the bytes of one file."""
    return safetensors.numpy.save(arrays)


def parse(data: bytes, place: str) -> dict[str, Array]:
    """The arrays in these bytes, new and writable; raises LudusError, naming `place`, if they are invalid."""
    try:
        # Sorted, because safetensors returns them in a random order.
        arrays = {name: _array(facts, place) for name, facts in sorted(_deserialize(data), key=operator.itemgetter(0))}
    except LudusError:
        raise
    except (safetensors.SafetensorError, ValueError) as error:
        raise LudusError(f"{place} does not contain arrays ({error}); {ADVICE}") from None
    for name in arrays:
        if not name.isprintable():
            raise LudusError(f"{place} has an array with the name {name!r}; {ADVICE}")
    return arrays


def _array(facts: StoredArray, place: str) -> Array:
    return np.frombuffer(facts["data"], _type(facts["dtype"], place)).reshape(facts["shape"])


def _type(code: str, place: str) -> DType:
    if code in TYPES:
        return np.dtype(TYPES[code])
    if code not in MORE_TYPES:
        raise LudusError(f"{place} has arrays of the type {code}, which ludus does not support; {ADVICE}")
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, MORE_TYPES[code]))
    except ImportError:
        raise LudusError(
            f"{place} has {MORE_TYPES[code]} arrays, which need ml_dtypes: pip install ml_dtypes"
        ) from None
