"""Orthogonal initial weights, computed with matrix products only.

Flax's initializer uses a QR decomposition, which takes two seconds to compile and loads a linear algebra library.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

Array = jax.Array

GROWING, SETTLING = 10, 6
"""iterations that increase the smallest singular values, and iterations that make all of them converge to 1"""


def orthogonal(scale: float = 1.0) -> Callable[..., Array]:
    """An initialiser: a random matrix with orthonormal rows or columns, whichever are fewer, times `scale`.

    The polar factor X (XᵀX)^-½ of a Gaussian X is uniformly distributed; iterating a X + b X XᵀX + c X (XᵀX)² finds it.
    """

    def initial(key: Array, shape: tuple[int, ...], dtype: DTypeLike = jnp.float32) -> Array:
        rows, columns = shape[0], shape[-1]
        given = jax.random.normal(key, (max(rows, columns), min(rows, columns)), jnp.float32)
        found = polar(given)
        return (scale * (found if rows >= columns else found.T)).reshape(shape).astype(dtype)

    return initial


def polar(tall: Array) -> Array:
    """The nearest matrix with orthonormal columns, [m, n] with m ≥ n."""
    numbers = jnp.array([(3.4445, -4.7750, 2.0315)] * GROWING + [(1.875, -1.25, 0.375)] * SETTLING)

    def step(x: Array, abc: Array) -> tuple[Array, None]:
        square = x.T @ x
        return abc[0] * x + x @ (abc[1] * square + abc[2] * (square @ square)), None

    return jax.lax.scan(step, tall / (jnp.linalg.norm(tall) + 1e-7), numbers)[0]
