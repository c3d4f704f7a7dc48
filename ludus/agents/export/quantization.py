"""Parameters in fewer bits: float16, or int8 with a scale for each column. Computation stays in float32."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.export.metadata import Quantization
from ludus.types import Array, PyTree

SMALLEST = 256
"""arrays with fewer numbers stay as they are"""
NUMBERS, SCALE = "int8", "scale"


def is_large(array: Any) -> bool:
    """Whether an array of parameters is worth quantizing: a matrix or more of floats."""
    return array.dtype == np.float32 and array.ndim >= 2 and array.size >= SMALLEST


def as_int8(array: Array) -> tuple[Array, Array]:
    """Whole numbers from -127 to 127, and the scale of each element of the last axis: [..., C] to [..., C] and [C]."""
    largest = np.abs(array).max(axis=tuple(range(array.ndim - 1)))
    scale = np.where(largest > 0, largest / 127.0, 1.0).astype(np.float32)
    return np.clip(np.rint(array / scale), -127, 127).astype(np.int8), scale


def compressed(params: PyTree, kind: Quantization | None) -> PyTree:
    """Parameters with large arrays quantized."""
    if kind is None:
        return jax.tree.map(np.asarray, params)

    def compress(array: Any) -> Any:
        array = np.asarray(array)
        if not is_large(array):
            return array
        return (
            array.astype(np.float16) if kind == "float16" else dict(zip((NUMBERS, SCALE), as_int8(array), strict=True))
        )

    return jax.tree.map(compress, params)


def restored(params: PyTree) -> PyTree:
    """Float32 parameters from compressed ones, as part of a compiled function."""

    def restore(leaf: Any) -> Any:
        if _is_int8(leaf):
            return leaf[NUMBERS].astype(jnp.float32) * leaf[SCALE]
        return leaf.astype(jnp.float32) if leaf.dtype == jnp.float16 else leaf

    return jax.tree.map(restore, params, is_leaf=_is_int8)


def _is_int8(leaf: Any) -> bool:
    return isinstance(leaf, dict) and leaf.keys() == {NUMBERS, SCALE}
