"""An ONNX graph under construction: named tensors, constants and nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from ludus.types import Array, DType, LudusError

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, IR_VERSION = 18, 9
"""versions of ONNX that runtimes have supported since 2023"""
SYMBOL = "b"
"""the number of rows, in programs for any number of them"""
MULTIPLE = re.compile(rf"(?:(\d+)\*)?{SYMBOL}(?:\*(\d+))?")
Dims = tuple[Any, ...]
"""lengths of axes: whole numbers, or multiples of the number of rows"""


class Value(NamedTuple):
    """A tensor or a constant. Where `real` is 1 and `shape` is not, it stands for copies along that axis."""

    shape: Dims
    real: Dims
    dtype: DType
    name: str = ""
    array: Array | None = None
    """its content, if it is constant"""


class Graph:
    """Nodes in the order of their computation."""

    def __init__(self, stored: Callable[[Graph, Array], str]) -> None:
        self._stored, self._count = stored, 0
        self.nodes: list[Any] = []
        self.initializers: dict[str, Array] = {}
        self._inputs: list[tuple[str, DType, Dims]] = []
        self._outputs: list[tuple[str, DType, Dims]] = []
        self._constants: dict[tuple[Any, ...], str] = {}
        self._shapes: dict[str, str] = {}

    def add_input(self, name: str, like: jax.ShapeDtypeStruct) -> Value:
        """A tensor that the caller gives."""
        self._inputs.append((name, like.dtype, like.shape))
        return Value(like.shape, like.shape, like.dtype, name)

    def add_output(self, name: str, value: Value) -> None:
        """A tensor that the caller receives."""
        self.nodes.append(_make_node("Identity", [self.full(value)], [name]))
        self._outputs.append((name, value.dtype, value.shape))

    def new_name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def node(self, kind: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; returns the name of its output, or a list of names."""
        names = [self.new_name(kind) for _ in range(outputs)]
        self.nodes.append(_make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array: Array) -> Value:
        return Value(array.shape, array.shape, array.dtype, array=array)

    def initializer(self, array: Array) -> str:
        """The name of an array that is stored in the graph as it is."""
        key = (array.dtype.str, array.shape, array.tobytes() if array.nbytes <= 1024 else id(array))
        if key not in self._constants:
            self._constants[key] = self.new_name("constant")
            self.initializers[self._constants[key]] = array
        return self._constants[key]

    def tensor(self, value: Value) -> str:
        """The name of a value, of which axes may have length 1 instead of their own."""
        return value.name if value.array is None else self._stored(self, value.array)

    def full(self, value: Value) -> str:
        """The name of a value with its own shape."""
        name = self.tensor(value)
        return name if value.real == value.shape else self.node("Expand", [name, self.shape(value.shape)])

    def made(self, name: str, shape: Dims, dtype: DType) -> Value:
        """A tensor with its own shape."""
        return Value(shape, shape, np.dtype(dtype), name)

    def shape(self, dims: Dims) -> str:
        """A tensor that contains these lengths."""
        if all(isinstance(dim, int | np.integer) for dim in dims):
            return self.initializer(np.array(dims, np.int64))
        if str(dims) not in self._shapes:
            parts = [self._length(dim) for dim in dims]
            self._shapes[str(dims)] = self.node("Concat", parts, axis=0)
        return self._shapes[str(dims)]

    def _length(self, dim: Any) -> str:
        """A tensor [1] that contains a length."""
        if isinstance(dim, int | np.integer):
            return self.initializer(np.array([dim], np.int64))
        found = MULTIPLE.fullmatch(str(dim).replace(" ", ""))
        if found is None:
            raise LudusError(
                f"this network computes an array of length {dim}, which ludus cannot write as ONNX for any number of "
                "rows; give a fixed number: --batch 8"
            )
        rows = self._rows()
        times = int(found[1] or found[2] or 1)
        return rows if times == 1 else self.node("Mul", [rows, self.initializer(np.array([times], np.int64))])

    def _rows(self) -> str:
        if SYMBOL not in self._shapes:
            first = next(name for name, _, dims in self._inputs if str(dims[0]) == SYMBOL)
            self._shapes[SYMBOL] = self.node("Shape", [first], start=0, end=1)
        return self._shapes[SYMBOL]

    def reshape(self, name: str, dims: Dims) -> str:
        """A tensor in another shape; one length that is not constant is left to the runtime."""
        open_dims = [place for place, dim in enumerate(dims) if not isinstance(dim, int | np.integer)]
        if len(open_dims) == 1 and 0 not in dims:
            known = [-1 if place in open_dims else int(dim) for place, dim in enumerate(dims)]
            return self.node("Reshape", [name, self.initializer(np.array(known, np.int64))])
        return self.node("Reshape", [name, self.shape(dims)])

    def transpose(self, name: str, order: Sequence[int]) -> str:
        """A tensor with its axes in this order."""
        return name if list(order) == sorted(order) else self.node("Transpose", [name], perm=list(order))

    def cast(self, name: str, dtype: Any) -> str:
        """A tensor with another type of numbers."""
        from onnx import helper

        return self.node("Cast", [name], to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def at(self, value: Value, place: int) -> Value:
        """One element of the first axis."""
        index = self.initializer(np.array(place, np.int64))
        return self.made(self.node("Gather", [self.full(value), index], axis=0), value.shape[1:], value.dtype)

    def stacked(self, values: Sequence[Value]) -> Value:
        """Values along a new first axis."""
        first = self.initializer(np.array([0], np.int64))
        parts = [self.node("Unsqueeze", [self.full(value), first]) for value in values]
        shape = (len(values), *values[0].shape)
        return self.made(self.node("Concat", parts, axis=0), shape, values[0].dtype)

    def model(self) -> ModelProto:
        """The graph as a model, without nodes whose results are not used."""
        from onnx import helper, numpy_helper

        nodes, used = [], {name for name, _, _ in self._outputs}
        for node in reversed(self.nodes):
            if used & set(node.output):
                nodes.append(node)
                used |= set(node.input)
        stored = [numpy_helper.from_array(array, name) for name, array in self.initializers.items() if name in used]
        graph = helper.make_graph(nodes[::-1], "agent", _ports(self._inputs), _ports(self._outputs), stored)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="ludus")


def _make_node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(kind, list(inputs), list(outputs), **attributes)


def _ports(tensors: Sequence[tuple[str, DType, Dims]]) -> list[Any]:
    from onnx import helper

    return [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(np.dtype(dtype)),
            [int(dim) if isinstance(dim, int | np.integer) else "batch" for dim in dims],
        )
        for name, dtype, dims in tensors
    ]
