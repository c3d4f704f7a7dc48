"""Quantized weights in a TFLite model: each large constant becomes a smaller one and a DEQUANTIZE operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.agents.export.metadata import Quantization
from ludus.agents.export.quantization import as_int8, is_large
from ludus.types import Array

ALIGNMENT = 16
"""of constants in a model, in bytes"""


def quantized(data: bytes, kind: Quantization) -> bytes:
    """The model with large constants in fewer bits."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(bytearray(data), 0)
    code = schema.OperatorCodeT(schema.BuiltinOperator.DEQUANTIZE, None, 2, schema.BuiltinOperator.DEQUANTIZE)
    model.operatorCodes.append(code)
    for graph in model.subgraphs:
        added = [_quantize(schema, model, graph, place, kind) for place in range(len(graph.tensors))]
        graph.operators[:0] = [operator for operator in added if operator is not None]
    _drop_unused(model)
    return _packed(model)


def _drop_unused(model: Any) -> None:
    """Empty the buffers that no tensor refers to any more."""
    used = {tensor.buffer for graph in model.subgraphs for tensor in graph.tensors}
    used |= {entry.buffer for entry in model.metadata or ()}
    for place, buffer in enumerate(model.buffers):
        if place not in used:
            buffer.data = None


def _quantize(schema: Any, model: Any, graph: Any, place: int, kind: Quantization) -> Any:
    """The operator that restores a constant, which is replaced by a smaller one; None if it stays as it is."""
    tensor = graph.tensors[place]
    array = _constant(schema, model, tensor)
    if array is None or not is_large(array):
        return None
    if kind == "float16":
        numbers, scale, small = array.astype(np.float16), None, schema.TensorType.FLOAT16
    else:
        numbers, column = as_int8(array)
        scale, small = _scale(schema, column, array.ndim - 1), schema.TensorType.INT8
    model.buffers.append(schema.BufferT(np.frombuffer(numbers.tobytes(), np.uint8)))
    stored = schema.TensorT(tensor.shape, small, len(model.buffers) - 1, _quantized_name(tensor), scale)
    graph.tensors.append(stored)
    tensor.buffer = 0
    options = schema.BuiltinOptions.DequantizeOptions, schema.DequantizeOptionsT()
    return schema.OperatorT(len(model.operatorCodes) - 1, [len(graph.tensors) - 1], [place], *options)


def _quantized_name(tensor: Any) -> bytes:
    name = tensor.name or b"constant"
    return (name if isinstance(name, bytes) else name.encode()) + b"_quantized"


def _scale(schema: Any, column: Array, axis: int) -> Any:
    zeros = np.zeros(len(column), np.int64)
    return schema.QuantizationParametersT(scale=column, zeroPoint=zeros, quantizedDimension=axis)


def _constant(schema: Any, model: Any, tensor: Any) -> Array | None:
    """The floats of a constant tensor, or None."""
    content = model.buffers[tensor.buffer].data
    if tensor.type != schema.TensorType.FLOAT32 or tensor.shape is None or content is None or not len(content):
        return None
    return np.frombuffer(np.asarray(content, np.uint8).tobytes(), np.float32).reshape(tensor.shape)


def _packed(model: Any) -> bytes:
    import flatbuffers

    class AlignedBuilder(flatbuffers.Builder):  # type: ignore[misc]
        """Aligns the contents of constants, as the generated code of Python does not."""

        def StartVector(self, size: int, count: int, alignment: int) -> Any:  # noqa: N802
            return super().StartVector(size, count, ALIGNMENT if size == 1 else alignment)

    builder = AlignedBuilder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
