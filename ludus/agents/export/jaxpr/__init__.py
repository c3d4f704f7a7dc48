"""A program of JAX (a jaxpr) as an ONNX graph, for any number of rows.

Constants are computed while translating. A broadcast is not carried out where the operators of ONNX broadcast anyway,
which saves most of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ludus.agents.export.jaxpr.graph import Graph, Value
from ludus.agents.export.jaxpr.rules import ELEMENTWISE, RULES
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from onnx import ModelProto

BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
"""parameters of primitives that only call another program"""
CALLS = (
    "jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call",
)  # fmt: skip
LONGEST_SCAN = 64
"""maximum length of a loop, which is unrolled"""

Outputs = dict[str, jax.Array]


def to_onnx(
    function: Callable[[dict[str, jax.Array]], Outputs],
    inputs: Mapping[str, jax.ShapeDtypeStruct],
    stored: Callable[[Graph, Array], str],
) -> ModelProto:
    """The model of a function of named arrays; `stored` adds a constant to the graph and returns its name."""
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(dict(inputs))
    graph = Graph(stored)
    # JAX orders dicts by their keys.
    operands = [graph.add_input(name, inputs[name]) for name in sorted(inputs)]
    results = run(graph, closed.jaxpr, [graph.constant(np.asarray(const)) for const in closed.consts], operands)
    for name, result in zip(sorted(shapes), results, strict=True):
        graph.add_output(name, result)
    return graph.model()


def run(graph: Graph, jaxpr: Any, consts: Sequence[Value], operands: Sequence[Value]) -> list[Value]:
    """Add the nodes of a program; returns its results."""
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *operands], strict=True))

    def read(atom: Any) -> Value:
        return graph.constant(np.asarray(atom.val, atom.aval.dtype)) if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        results = _carry_out(graph, equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _carry_out(graph: Graph, equation: Any, operands: list[Value]) -> list[Value]:
    name = equation.primitive.name
    if name in CALLS:
        body = next(equation.params[key] for key in BODIES if key in equation.params)
        consts = [graph.constant(np.asarray(const)) for const in getattr(body, "consts", ())]
        return run(graph, getattr(body, "jaxpr", body), consts, operands)
    if name == "scan":
        return _unrolled(graph, equation.params, operands)
    folded = _folded(graph, equation, operands)
    if folded is not None:
        return folded
    if name not in RULES:
        raise LudusError(
            f'this network uses "{name}", which ludus cannot write as ONNX; export it with --format stablehlo, '
            "or replace that operation in your network"
        )
    results = RULES[name](graph, equation, operands)
    return results if isinstance(results, list) else [results]


def _folded(graph: Graph, equation: Any, operands: list[Value]) -> list[Value] | None:
    """The results of an operation on constants, or None if an operand is not constant."""
    arrays = [operand.array for operand in operands]
    sizes = [dim for one in (*equation.invars, *equation.outvars) for dim in one.aval.shape]
    open_shape = any(not isinstance(dim, int) for dim in sizes) or equation.primitive.name == "broadcast_in_dim"
    if not operands or open_shape or any(array is None for array in arrays):
        return None
    if any(operand.real != operand.shape for operand in operands):
        if equation.primitive.name in ELEMENTWISE:
            arrays = list(np.broadcast_arrays(*arrays))  # type: ignore[arg-type]
        else:
            arrays = [np.broadcast_to(operand.array, operand.shape) for operand in operands]  # type: ignore[arg-type]
    results = equation.primitive.bind(*arrays, **equation.params)
    results = results if equation.primitive.multiple_results else [results]
    return [
        Value(variable.aval.shape, np.asarray(result).shape, variable.aval.dtype, array=np.asarray(result))
        for variable, result in zip(equation.outvars, results, strict=True)
    ]


def _unrolled(graph: Graph, params: Mapping[str, Any], operands: list[Value]) -> list[Value]:
    """A loop of known length, one step after the other."""
    length, fixed, carried = params["length"], params["num_consts"], params["num_carry"]
    if length > LONGEST_SCAN:
        raise LudusError(
            f"this network has a loop of {length} steps, but at most {LONGEST_SCAN} can be written as ONNX; "
            "export it with --format stablehlo"
        )
    consts, carry, rows = operands[:fixed], operands[fixed : fixed + carried], operands[fixed + carried :]
    body = params["jaxpr"]
    outputs: list[list[Value]] = [[] for _ in body.jaxpr.outvars[carried:]]
    inner = [graph.constant(np.asarray(const)) for const in body.consts]
    for step in range(length)[:: -1 if params["reverse"] else 1]:
        now = [graph.at(row, step) for row in rows]
        results = run(graph, body.jaxpr, inner, [*consts, *carry, *now])
        carry = results[:carried]
        for column, result in zip(outputs, results[carried:], strict=True):
            column.append(result)
    return [*carry, *(graph.stacked(column[:: -1 if params["reverse"] else 1]) for column in outputs)]
