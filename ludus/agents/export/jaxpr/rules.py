"""The operations of JAX that networks use, as nodes of ONNX; one function for each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from ludus.agents.export.jaxpr.graph import Dims, Graph, Value
from ludus.types import LudusError

Rule = Callable[[Graph, Any, list[Value]], Value | list[Value]]
Emit = Callable[..., str]

UNARY = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
    "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log",
    "logistic": "Sigmoid", "neg": "Neg", "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan",
    "tanh": "Tanh",
}  # fmt: skip
BINARY = {
    "add": "Add", "add_any": "Add", "div": "Div", "eq": "Equal", "ge": "GreaterOrEqual", "gt": "Greater",
    "le": "LessOrEqual", "lt": "Less", "max": "Max", "min": "Min", "mul": "Mul", "pow": "Pow", "sub": "Sub",
}  # fmt: skip
LOGICAL = {"and": ("And", "BitwiseAnd"), "or": ("Or", "BitwiseOr"), "xor": ("Xor", "BitwiseXor")}
"""the operator for booleans and for whole numbers"""
REDUCTIONS = {
    "reduce_sum": "ReduceSum",
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
}
UNCHANGED = ("stop_gradient", "copy", "copy_p", "reduce_precision", "optimization_barrier", "sharding_constraint")


def _elementwise(emit: Emit) -> Rule:
    """The rule of an operation on single numbers; `emit` adds its nodes for operands that broadcast."""

    def rule(graph: Graph, equation: Any, operands: list[Value]) -> Value:
        aval = equation.outvars[0].aval
        name = emit(graph, operands, *map(graph.tensor, operands))
        real = tuple(
            dim if any(one.real and one.real[axis] == dim for one in operands) else 1
            for axis, dim in enumerate(aval.shape)
        )
        return Value(aval.shape, real, np.dtype(aval.dtype), name)

    return rule


def _plain(kind: str) -> Emit:
    return lambda graph, operands, *names: graph.node(kind, names)


def _number(graph: Graph, number: float, like: Value) -> str:
    return graph.initializer(np.array(number, like.dtype))


def _logical(kinds: tuple[str, str]) -> Emit:
    return lambda graph, operands, *names: graph.node(kinds[operands[0].dtype != bool], names)


def _not(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Not" if operands[0].dtype == bool else "BitwiseNot", [x])


def _not_equal(graph: Graph, operands: list[Value], x: str, y: str) -> str:
    return graph.node("Not", [graph.node("Equal", [x, y])])


def _remainder(graph: Graph, operands: list[Value], x: str, y: str) -> str:
    return graph.node("Mod", [x, y], fmod=1)


def _square(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Mul", [x, x])


def _reciprocal_root(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Reciprocal", [graph.node("Sqrt", [x])])


def _log_plus_one(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Log", [graph.node("Add", [x, _number(graph, 1, operands[0])])])


def _exp_minus_one(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Sub", [graph.node("Exp", [x]), _number(graph, 1, operands[0])])


def _power_of_two(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Pow", [_number(graph, 2, operands[0]), x])


def _is_finite(graph: Graph, operands: list[Value], x: str) -> str:
    return graph.node("Not", [graph.node("Or", [graph.node("IsInf", [x]), graph.node("IsNaN", [x])])])


def _clamp(graph: Graph, operands: list[Value], low: str, x: str, high: str) -> str:
    return graph.node("Min", [graph.node("Max", [x, low]), high])


def _shift_right(graph: Graph, operands: list[Value], x: str, bits: str) -> str:
    """Rounds towards -∞, which the division of whole numbers of ONNX does not."""
    step = _shifted_one(graph, operands)
    return graph.node("Div", [graph.node("Sub", [x, graph.node("Mod", [x, step])]), step])


def _shift_left(graph: Graph, operands: list[Value], x: str, bits: str) -> str:
    return graph.node("Mul", [x, _shifted_one(graph, operands)])


def _shifted_one(graph: Graph, operands: list[Value]) -> str:
    """2 to the power of the bits, for shifts of whole numbers with a sign, which ONNX does not have."""
    bits = operands[1]
    if bits.array is not None:
        return graph.initializer(np.left_shift(np.ones((), bits.dtype), bits.array))
    return graph.cast(graph.node("Pow", [_number(graph, 2, operands[0]), graph.tensor(bits)]), operands[0].dtype)


def _population_count(graph: Graph, operands: list[Value], x: str) -> str:
    """The number of ones of a 32-bit number: sums of neighbouring groups of 1, 2, 4, 8 and 16 bits."""
    bits = graph.cast(x, np.uint32)
    for width, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        ones, by = graph.initializer(np.array(mask, np.uint32)), graph.initializer(np.array(width, np.uint32))
        above = graph.node("BitwiseAnd", [graph.node("BitShift", [bits, by], direction="RIGHT"), ones])
        bits = graph.node("Add", [graph.node("BitwiseAnd", [bits, ones]), above])
    return graph.cast(bits, operands[0].dtype)


def _select(graph: Graph, operands: list[Value], which: str, no: str, yes: str) -> str:
    if operands[1].dtype != bool:
        return graph.node("Where", [which, yes, no])
    # onnxruntime has no Where for booleans.
    either = graph.node("And", [graph.node("Not", [which]), no])
    return graph.node("Or", [graph.node("And", [which, yes]), either])


def _convert(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    (x,), aval = operands, equation.outvars[0].aval
    return x._replace(dtype=np.dtype(aval.dtype), name=graph.cast(graph.tensor(x), aval.dtype), array=None)


def _integer_power(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    exponent = equation.params["y"]
    if exponent == 2:
        return _elementwise(_square)(graph, equation, operands)  # type: ignore[return-value]
    emit = lambda graph, operands, x: graph.node("Pow", [x, _number(graph, exponent, operands[0])])  # noqa: E731
    return _elementwise(emit)(graph, equation, operands)  # type: ignore[return-value]


def _round(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    if equation.params["rounding_method"] != lax.RoundingMethod.TO_NEAREST_EVEN:
        raise LudusError("this network rounds halves away from zero, which ONNX cannot express; use jnp.round")
    return _elementwise(_plain("Round"))(graph, equation, operands)  # type: ignore[return-value]


def _unchanged(graph: Graph, equation: Any, operands: list[Value]) -> list[Value]:
    return operands


def _broadcast(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    """Only inserts axes of length 1; whoever needs the full array expands it."""
    x, shape = operands[0], equation.params["shape"]
    real: list[Any] = [1] * len(shape)
    for axis, place in enumerate(equation.params["broadcast_dimensions"]):
        real[place] = x.real[axis]
    if x.array is not None:
        return Value(shape, tuple(real), x.dtype, array=x.array.reshape(real))
    name = x.name if tuple(real) == x.real else graph.reshape(x.name, tuple(real))
    return Value(shape, tuple(real), x.dtype, name)


def _reshape(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval = equation.outvars[0].aval
    return graph.made(graph.reshape(graph.full(operands[0]), aval.shape), aval.shape, aval.dtype)


def _squeeze(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, gone = operands[0], {axis % len(operands[0].shape) for axis in equation.params["dimensions"]}
    real = tuple(dim for axis, dim in enumerate(x.real) if axis not in gone)
    shape = equation.outvars[0].aval.shape
    if x.array is not None:
        return Value(shape, real, x.dtype, array=x.array.reshape(real))
    return Value(shape, real, x.dtype, graph.reshape(x.name, real))


def _tile(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval, times = equation.outvars[0].aval, graph.initializer(np.array(equation.params["reps"], np.int64))
    return graph.made(graph.node("Tile", [graph.full(operands[0]), times]), aval.shape, aval.dtype)


def _transpose(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, order = operands[0], equation.params["permutation"]
    shape, real = (tuple(dims[axis] for axis in order) for dims in (x.shape, x.real))
    if x.array is not None:
        return Value(shape, real, x.dtype, array=x.array.transpose(order))
    return Value(shape, real, x.dtype, graph.transpose(x.name, order))


def _concatenate(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval = equation.outvars[0].aval
    name = graph.node("Concat", [graph.full(x) for x in operands], axis=equation.params["dimension"])
    return graph.made(name, aval.shape, aval.dtype)


def _stack(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval, axis = equation.outvars[0].aval, equation.params["axis"]
    place = graph.initializer(np.array([axis], np.int64))
    parts = [graph.node("Unsqueeze", [graph.full(x), place]) for x in operands]
    return graph.made(graph.node("Concat", parts, axis=axis), aval.shape, aval.dtype)


def _unstack(graph: Graph, equation: Any, operands: list[Value]) -> list[Value]:
    (x,), axis = operands, equation.params["axis"]
    aval = equation.outvars[0].aval
    names = [
        graph.node("Gather", [graph.full(x), graph.initializer(np.array(place, np.int64))], axis=axis)
        for place in range(x.shape[axis])
    ]
    return [graph.made(name, aval.shape, aval.dtype) for name in names]


def _split(graph: Graph, equation: Any, operands: list[Value]) -> list[Value]:
    sizes = graph.initializer(np.array(equation.params["sizes"], np.int64))
    avals = [variable.aval for variable in equation.outvars]
    names = graph.node("Split", [graph.full(operands[0]), sizes], len(avals), axis=equation.params["axis"])
    names = names if isinstance(names, list) else [names]
    return [graph.made(name, aval.shape, aval.dtype) for name, aval in zip(names, avals, strict=True)]


def _sliced(graph: Graph, x: Value, starts: Sequence[Any], ends: Sequence[Any], steps: Sequence[int]) -> str:
    """A part of each axis; axes that stay whole are left out, as their lengths may be unknown."""
    cut = [
        axis for axis, dim in enumerate(x.shape)
        if not (isinstance(starts[axis], int | np.integer) and starts[axis] == 0 and ends[axis] == dim)
        or steps[axis] != 1
    ]  # fmt: skip
    if not cut:
        return graph.full(x)
    columns = [[int(part[axis]) for axis in cut] for part in (starts, ends)]
    columns += [cut, [int(steps[axis]) for axis in cut]]
    return graph.node("Slice", [graph.full(x), *(graph.initializer(np.array(part, np.int64)) for part in columns)])


def _slice(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    params, aval = equation.params, equation.outvars[0].aval
    steps = params["strides"] or (1,) * len(aval.shape)
    name = _sliced(graph, operands[0], params["start_indices"], params["limit_indices"], steps)
    return graph.made(name, aval.shape, aval.dtype)


def _reverse(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, axes = operands[0], equation.params["dimensions"]
    columns = [[-1] * len(axes), [np.iinfo(np.int64).min + 1] * len(axes), list(axes), [-1] * len(axes)]
    names = [graph.initializer(np.array(part, np.int64)) for part in columns]
    return graph.made(graph.node("Slice", [graph.full(x), *names]), x.shape, x.dtype)


def _known_starts(equation: Any, starts: Sequence[Value]) -> list[int]:
    if any(start.array is None for start in starts):
        raise LudusError(
            f'this network uses "{equation.primitive.name}" with indices that depend on the observation, which ludus '
            "cannot write as ONNX; export it with --format stablehlo"
        )
    return [int(start.array) for start in starts if start.array is not None]


def _dynamic_slice(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval, starts = equation.outvars[0].aval, _known_starts(equation, operands[1:])
    sizes = zip(starts, equation.params["slice_sizes"], strict=True)
    ends = [size if start == 0 else start + size for start, size in sizes]
    name = _sliced(graph, operands[0], starts, ends, (1,) * len(starts))
    return graph.made(name, aval.shape, aval.dtype)


def _pad(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, aval = operands[0], equation.outvars[0].aval
    lows, highs, inside = zip(*equation.params["padding_config"], strict=True)
    if any(inside) or min(*lows, *highs, 0) < 0:
        raise LudusError("this network pads between numbers or by negative amounts, which ludus cannot write as ONNX")
    return graph.made(_padded(graph, graph.full(x), lows, highs, graph.full(operands[1])), aval.shape, aval.dtype)


def _padded(graph: Graph, name: str, lows: Sequence[int], highs: Sequence[int], filling: str = "") -> str:
    widths = graph.initializer(np.array([*lows, *highs], np.int64))
    return graph.node("Pad", [name, widths, filling] if filling else [name, widths])


def _iota(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    shape, axis, dtype = (equation.params[name] for name in ("shape", "dimension", "dtype"))
    real = tuple(dim if place == axis else 1 for place, dim in enumerate(shape))
    if isinstance(shape[axis], int):
        return Value(shape, real, np.dtype(dtype), array=np.arange(shape[axis], dtype=dtype).reshape(real))
    zero, one = (graph.initializer(np.array(number, np.int64)) for number in (0, 1))
    length = graph.node("Squeeze", [graph.shape((shape[axis],))])
    numbers = graph.cast(graph.node("Range", [zero, length, one]), dtype)
    return Value(shape, real, np.dtype(dtype), graph.reshape(numbers, real))


def _reduce(kind: str, graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval, axes = equation.outvars[0].aval, graph.initializer(np.array(equation.params["axes"], np.int64))
    name = graph.node(kind, [graph.full(operands[0]), axes], keepdims=0)
    return graph.made(name, aval.shape, aval.dtype)


def _reduce_logical(kind: str, graph: Graph, equation: Any, operands: list[Value]) -> Value:
    aval, axes = equation.outvars[0].aval, graph.initializer(np.array(equation.params["axes"], np.int64))
    if aval.dtype != bool:
        raise LudusError("this network combines the bits of whole numbers along an axis, which ONNX cannot express")
    name = graph.node(kind, [graph.cast(graph.full(operands[0]), np.int32), axes], keepdims=0)
    return graph.made(graph.cast(name, bool), aval.shape, aval.dtype)


def _argument(kind: str, graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, aval = operands[0], equation.outvars[0].aval
    name = graph.full(x) if x.dtype != bool else graph.cast(graph.full(x), np.int32)
    found = graph.node(kind, [name], axis=int(equation.params["axes"][0]), keepdims=0)
    return graph.made(graph.cast(found, aval.dtype), aval.shape, aval.dtype)


def _cumulative_sum(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, axis = operands[0], graph.initializer(np.array(equation.params["axis"], np.int64))
    name = graph.node("CumSum", [graph.full(x), axis], reverse=int(equation.params["reverse"]))
    return graph.made(name, x.shape, x.dtype)


def _dot(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    """A product of matrices, or for several axes at once an Einsum."""
    (x, y), aval = operands, equation.outvars[0].aval
    (over_x, over_y), (rows_x, rows_y) = equation.params["dimension_numbers"]
    free_y = [axis for axis in range(len(y.shape)) if axis not in (*over_y, *rows_y)]
    simple = not rows_x and len(over_x) == 1 and len(free_y) == 1 and over_x[0] == len(x.shape) - 1
    if simple:
        matrix = y._replace(array=y.array.T) if y.array is not None and over_y[0] else y
        name = graph.full(matrix) if matrix is not y else graph.transpose(graph.full(y), [over_y[0], free_y[0]])
        return graph.made(graph.node("MatMul", [graph.full(x), name]), aval.shape, aval.dtype)
    free_x = [axis for axis in range(len(x.shape)) if axis not in (*over_x, *rows_x)]
    if len(free_x) == len(free_y) == len(over_x) == 1:
        left = graph.transpose(graph.full(x), [*rows_x, *free_x, *over_x])
        right = graph.transpose(graph.full(y), [*rows_y, *over_y, *free_y])
        return graph.made(graph.node("MatMul", [left, right]), aval.shape, aval.dtype)
    words = _letters(len(x.shape), len(y.shape), tuple(over_x), tuple(over_y), tuple(rows_x), tuple(rows_y))
    name = graph.node("Einsum", [graph.full(x), graph.full(y)], equation=words)
    return graph.made(name, aval.shape, aval.dtype)


def _letters(left: int, right: int, over_x: Any, over_y: Any, rows_x: Any, rows_y: Any) -> str:
    """The equation of an Einsum, such as "abc,acd->abd"."""
    first = [chr(ord("a") + axis) for axis in range(left)]
    second = [chr(ord("A") + axis) for axis in range(right)]
    for mine, theirs in zip((*over_x, *rows_x), (*over_y, *rows_y), strict=True):
        second[theirs] = first[mine]
    out = [first[axis] for axis in rows_x]
    out += [first[axis] for axis in range(left) if axis not in (*over_x, *rows_x)]
    out += [second[axis] for axis in range(right) if axis not in (*over_y, *rows_y)]
    return f"{''.join(first)},{''.join(second)}->{''.join(out)}"


def _gather(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    """Rows of an array by number; the axes of the result are labelled by where they come from."""
    (x, indices), aval = operands, equation.outvars[0].aval
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    indexed, shared = tuple(map(int, numbers.start_index_map)), tuple(map(int, numbers.operand_batching_dims))
    window = [axis for axis in range(len(x.shape)) if axis not in (*indexed, *shared)]
    if any(sizes[axis] != 1 for axis in indexed) or any(sizes[axis] != x.shape[axis] for axis in window):
        raise LudusError("this network reads parts of several elements by number, which ludus cannot write as ONNX")
    places = _clipped(graph, equation, x, indices)
    rows = [f"row {axis}" for axis in range(len(indices.shape) - 1)]
    if len(indexed) == 1 and not shared:
        flat = graph.reshape(graph.full(places), indices.shape[:-1])
        name = graph.node("Gather", [graph.full(x), flat], axis=indexed[0])
        labels: list[Any] = [axis for axis in window if axis < indexed[0]]
        labels += [*rows, *(axis for axis in window if axis > indexed[0])]
    else:
        together = list(map(int, numbers.start_indices_batching_dims))
        others = [axis for axis in range(len(rows)) if axis not in together]
        index = graph.transpose(graph.full(places), [*together, *others, len(rows)])
        data = graph.transpose(graph.full(x), [*shared, *indexed, *window])
        name = graph.node("GatherND", [data, graph.cast(index, np.int64)], batch_dims=len(shared))
        labels = [*(rows[axis] for axis in (*together, *others)), *window]
    wanted = _gathered_axes(numbers, len(aval.shape), rows, [a for a in range(len(x.shape)) if a not in shared])
    name = graph.transpose(name, [labels.index(label) for label in wanted if label in labels])
    name = name if len(labels) == len(wanted) else graph.reshape(name, aval.shape)
    return graph.made(name, aval.shape, aval.dtype)


def _gathered_axes(numbers: Any, rank: int, rows: list[str], axes: list[int]) -> list[Any]:
    """For each axis of the result, the axis of the array or of the indices that it comes from."""
    kept = iter([axis for axis in axes if axis not in set(map(int, numbers.collapsed_slice_dims))])
    places, offsets = iter(rows), set(map(int, numbers.offset_dims))
    return [next(kept) if axis in offsets else next(places) for axis in range(rank)]


def _clipped(graph: Graph, equation: Any, x: Value, indices: Value) -> Value:
    """Indices within the array, because runtimes reject others; JAX reads the nearest element instead."""
    limits = [x.shape[int(axis)] - 1 for axis in equation.params["dimension_numbers"].start_index_map]
    last = np.array(limits, indices.dtype)
    if indices.array is not None:
        return indices._replace(array=np.clip(indices.array, 0, last))
    names = [graph.full(indices), graph.initializer(np.zeros_like(last)), graph.initializer(last)]
    return graph.made(_clamp(graph, [], names[1], names[0], names[2]), indices.shape, indices.dtype)


def _scatter(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    """Write or add an array at a constant place of another one."""
    x, indices, update = operands
    numbers, adds = equation.params["dimension_numbers"], equation.primitive.name != "scatter"
    if indices.array is None or indices.array.ndim != 1:
        _known_starts(equation, [Value((), (), x.dtype, "unknown")])
        raise AssertionError
    starts = dict(zip(map(int, numbers.scatter_dims_to_operand_dims), map(int, indices.array), strict=True))
    inserted, sizes = set(map(int, numbers.inserted_window_dims)), iter(update.shape)
    shape = tuple(1 if axis in inserted else next(sizes) for axis in range(len(x.shape)))
    lows = [starts.get(axis, 0) for axis in range(len(shape))]
    highs = [0 if size == dim else dim - low - size for size, dim, low in zip(shape, x.shape, lows, strict=True)]
    name = graph.full(update) if shape == update.shape else graph.reshape(graph.full(update), shape)
    name = _padded(graph, name, lows, highs)
    if adds:
        return graph.made(graph.node("Add", [graph.full(x), name]), x.shape, x.dtype)
    return graph.made(_written(graph, x, name, lows, shape), x.shape, x.dtype)


def _written(graph: Graph, x: Value, padded: str, lows: Sequence[int], shape: Dims) -> str:
    cut = [axis for axis, size in enumerate(shape) if size != x.shape[axis]]
    there = np.zeros([x.shape[axis] if axis in cut else 1 for axis in range(len(shape))], bool)
    there[tuple(slice(lows[a], lows[a] + shape[a]) if a in cut else slice(None) for a in range(len(shape)))] = True
    written: str = graph.node("Where", [graph.initializer(there), padded, graph.full(x)])
    return written


def _update_slice(graph: Graph, equation: Any, operands: list[Value]) -> Value:
    x, update = operands[:2]
    lows = _known_starts(equation, operands[2:])
    highs = [0 if size == dim else dim - low - size for size, dim, low in zip(update.shape, x.shape, lows, strict=True)]
    padded = _padded(graph, graph.full(update), lows, highs)
    return graph.made(_written(graph, x, padded, lows, update.shape), x.shape, x.dtype)


ELEMENTWISE: dict[str, Rule] = {
    **{name: _elementwise(_plain(kind)) for name, kind in {**UNARY, **BINARY}.items()},
    **{name: _elementwise(_logical(kinds)) for name, kinds in LOGICAL.items()},
    "clamp": _elementwise(_clamp),
    "convert_element_type": _convert,
    "exp2": _elementwise(_power_of_two),
    "expm1": _elementwise(_exp_minus_one),
    "integer_pow": _integer_power,
    "is_finite": _elementwise(_is_finite),
    "log1p": _elementwise(_log_plus_one),
    "ne": _elementwise(_not_equal),
    "not": _elementwise(_not),
    "population_count": _elementwise(_population_count),
    "rem": _elementwise(_remainder),
    "round": _round,
    "rsqrt": _elementwise(_reciprocal_root),
    "select_n": _elementwise(_select),
    "shift_left": _elementwise(_shift_left),
    "shift_right_arithmetic": _elementwise(_shift_right),
    "square": _elementwise(_square),
}
RULES: dict[str, Rule] = {
    **ELEMENTWISE,
    **dict.fromkeys(UNCHANGED, _unchanged),
    **{name: functools.partial(_reduce, kind) for name, kind in REDUCTIONS.items()},
    "argmax": functools.partial(_argument, "ArgMax"),
    "argmin": functools.partial(_argument, "ArgMin"),
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "cumsum": _cumulative_sum,
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _update_slice,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reduce_and": functools.partial(_reduce_logical, "ReduceMin"),
    "reduce_or": functools.partial(_reduce_logical, "ReduceMax"),
    "reshape": _reshape,
    "rev": _reverse,
    "scatter": _scatter,
    "scatter-add": _scatter,
    "slice": _slice,
    "split": _split,
    "squeeze": _squeeze,
    "stack": _stack,
    "tile": _tile,
    "transpose": _transpose,
    "unstack": _unstack,
}
