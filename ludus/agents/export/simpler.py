"""A program in simpler operations with equal results, for TFLite.

TFLite multiplies matrices of floats only; of the operations on bits it has exclusive or and the shift to the right; and
it cannot write an array into another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BODIES = {"custom_jvp_call": "call_jaxpr"} | dict.fromkeys(("jit", "pjit", "remat", "remat2", "checkpoint"), "jaxpr")
"""primitives that only call another program, and the parameter that holds it"""
LONGEST_SCAN = 64
"""maximum length of a loop that is unrolled"""


def simplified(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """The same function of arrays in simpler operations; its results are a tuple."""

    def rewritten(*arrays: Any) -> tuple[Any, ...]:
        closed = jax.make_jaxpr(function)(*arrays)
        return tuple(_evaluated(closed.jaxpr, closed.consts, arrays))

    return rewritten


def _evaluated(jaxpr: Any, consts: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *arrays], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        results = _carried_out(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _carried_out(equation: Any, operands: list[Any]) -> list[Any]:
    primitive, params = equation.primitive, equation.params
    if primitive.name in BODIES:
        body = params[BODIES[primitive.name]]
        return _evaluated(getattr(body, "jaxpr", body), getattr(body, "consts", ()), operands)
    if primitive.name == "scan" and params["length"] <= LONGEST_SCAN:
        return _unrolled(params, operands)
    if not any(isinstance(operand, jax.core.Tracer) for operand in operands):
        with jax.ensure_compile_time_eval():
            return _bound(primitive, operands, params)
    simple = _simpler(equation, operands)
    return _bound(primitive, operands, params) if simple is None else [simple]


def _unrolled(params: Any, operands: list[Any]) -> list[Any]:
    """A loop of known length, one step after the other; the converter cannot express a loop that reads outer arrays."""
    fixed, carried, body = params["num_consts"], params["num_carry"], params["jaxpr"]
    consts, carry, rows = operands[:fixed], operands[fixed : fixed + carried], operands[fixed + carried :]
    outputs: list[list[Any]] = [[] for _ in body.jaxpr.outvars[carried:]]
    order = slice(None, None, -1 if params["reverse"] else 1)
    for step in range(params["length"])[order]:
        results = _evaluated(body.jaxpr, body.consts, [*consts, *carry, *(row[step] for row in rows)])
        carry = results[:carried]
        for column, result in zip(outputs, results[carried:], strict=True):
            column.append(result)
    return [*carry, *(jnp.stack(column[order]) for column in outputs)]


def _bound(primitive: Any, operands: list[Any], params: Any) -> list[Any]:
    results = primitive.bind(*operands, **params)
    return list(results) if primitive.multiple_results else [results]


def _simpler(equation: Any, operands: list[Any]) -> Any:
    """The result of an operation by simpler ones, or None if it is simple."""
    name, params = equation.primitive.name, equation.params
    if name in ("scatter", "scatter-add") and not isinstance(operands[1], jax.core.Tracer):
        x, indices, update = operands
        return _written(params["dimension_numbers"], x, indices, update, name != "scatter")
    if not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.integer):
        return None
    if name in SIMPLER:
        return SIMPLER[name](*map(jnp.asarray, operands))
    if name == "dot_general":
        (over, rows) = params["dimension_numbers"]
        simple = not rows[0] and len(over[0]) == 1
        return _product(operands[0], operands[1], over[0][0], over[1][0]) if simple else None
    return None


def _written(numbers: Any, x: Any, indices: Any, update: Any, adds: bool) -> Any:
    """An array written to, or added at, a constant place of another one; None for several places."""
    starts, inserted = np.asarray(indices), set(map(int, numbers.inserted_window_dims))
    if starts.ndim != 1 or len(numbers.update_window_dims) != update.ndim:
        return None
    places = dict(zip(map(int, numbers.scatter_dims_to_operand_dims), starts.tolist(), strict=True))
    update = jnp.expand_dims(update, tuple(inserted))
    widths = [
        (places.get(axis, 0), size - places.get(axis, 0) - update.shape[axis]) for axis, size in enumerate(x.shape)
    ]
    padded = jnp.pad(update, widths)
    if adds:
        return x + padded
    there = np.pad(np.ones(update.shape, bool), widths)
    return jnp.where(there, padded, x)


def _product(x: Any, y: Any, of_x: int, of_y: int) -> Any:
    x, y = jnp.moveaxis(x, of_x, -1), jnp.moveaxis(y, of_y, -1)
    return (x.reshape(*x.shape[:-1], *[1] * (y.ndim - 1), x.shape[-1]) * y).sum(axis=-1)


def _and(x: Any, y: Any) -> Any:
    """From x + y = 2 (x & y) + (x ^ y), in halves of 16 bits, so that nothing overflows."""
    high_x, high_y = x >> HALF, y >> HALF
    low_x, low_y = x - high_x * 2**HALF, y - high_y * 2**HALF
    high, low = (one + other - (one ^ other) for one, other in ((high_x, high_y), (low_x, low_y)))
    return (high >> 1) * 2**HALF + (low >> 1)


def _or(x: Any, y: Any) -> Any:
    return x + y - _and(x, y)


def _not(x: Any) -> Any:
    return -x - 1


def _shift_left(x: Any, bits: Any) -> Any:
    return x * jnp.asarray(POWERS)[jnp.clip(bits, 0, len(POWERS) - 1)]


def _population_count(x: Any) -> Any:
    """The sum over the four bytes, by a table."""
    parts = [x >> shift for shift in (0, 8, 16, 24)]
    return sum(jnp.asarray(ONES)[part - (part >> 8) * 256] for part in parts)


HALF = 16
POWERS = np.left_shift(np.int32(1), np.arange(31, dtype=np.int32))
ONES = np.array([byte.bit_count() for byte in range(256)], np.int32)
SIMPLER: dict[str, Callable[..., Any]] = {
    "and": _and, "or": _or, "not": _not, "shift_left": _shift_left, "population_count": _population_count,
}  # fmt: skip
