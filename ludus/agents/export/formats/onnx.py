"""ONNX, for onnxruntime in Python, JavaScript, C, C++, C#, Java and on phones.

The metadata is the last field of the file, so that a checksum of everything before it can be checked.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ludus.agents.export.formats import foreign, reason_of
from ludus.agents.export.metadata import KEY, Metadata, Quantization
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.jaxpr.graph import Graph
    from ludus.agents.export.model import Arrays, Model

SUFFIX, DYNAMIC = ".onnx", True
NEEDS = "pip install 'ludus[onnx]'"
QUANTIZATIONS: tuple[Quantization, ...] = ("float16", "int8")
CHECKSUM = "ludus_sha256"
PROPERTIES, GRAPH, BYTES = 14, 7, 2
"""numbers of the fields metadata_props and graph of a ModelProto, and the wire type of fields with a length"""


def write(model: Model, rows: int | None, quantize: Quantization | None) -> bytes:
    try:
        import onnx
    except ModuleNotFoundError:
        raise LudusError(f"writing ONNX needs the package onnx: {NEEDS}") from None
    from ludus.agents.export.jaxpr import to_onnx
    from ludus.agents.export.model import for_rows

    del onnx
    function, shapes = for_rows(model, rows)

    def named(inputs: Arrays) -> Arrays:
        return function(model.params, inputs)

    made = to_onnx(named, shapes, functools.partial(_stored, quantize))
    try:
        data: bytes = made.SerializeToString()
    except Exception as error:  # protobuf has several classes of errors for more than 2 GiB
        raise LudusError(f"this agent is too large for ONNX: {reason_of(error)}; use --format stablehlo") from None
    return data


def _stored(kind: Quantization | None, graph: Graph, array: Array) -> str:
    """Add a constant to the graph, in fewer bits if it is large."""
    from ludus.agents.export.quantization import as_int8, is_large

    if kind is None or not is_large(array):
        return graph.initializer(array)
    if kind == "float16":
        return graph.cast(graph.initializer(array.astype("float16")), array.dtype)
    numbers, scale = as_int8(array)
    inputs = [graph.initializer(numbers), graph.initializer(scale)]
    name: str = graph.node("DequantizeLinear", inputs, axis=array.ndim - 1)
    return name


def attach(data: bytes, metadata: bytes) -> bytes:
    body = data[: _start_of_metadata(data)]
    digest = hashlib.sha256(body).hexdigest().encode()
    # Fields of a message may come in any order, so they can be appended.
    return body + b"".join(_property(*pair) for pair in ((KEY.encode(), metadata), (CHECKSUM.encode(), digest)))


def _property(key: bytes, value: bytes) -> bytes:
    entry = b"\x0a" + _varint(len(key)) + key + b"\x12" + _varint(len(value)) + value
    return _varint(PROPERTIES << 3 | BYTES) + _varint(len(entry)) + entry


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def metadata_of(data: bytes, place: str) -> bytes:
    found: dict[bytes, bytes] = {}
    try:
        for number, content, _ in _fields(data):
            if number == PROPERTIES and isinstance(content, bytes):
                parts = {part: inner for part, inner, _ in _fields(content)}
                found[parts[1]] = parts[2]
        body = data[: _start_of_metadata(data)]
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise foreign(place, f"it is not ONNX ({reason_of(error)})") from None
    if KEY.encode() not in found or CHECKSUM.encode() not in found:
        raise foreign(place, "it has no metadata of ludus")
    if hashlib.sha256(body).hexdigest().encode() != found[CHECKSUM.encode()]:
        raise foreign(place, "its checksum differs")
    return found[KEY.encode()]


def _start_of_metadata(data: bytes) -> int:
    return next((start for number, _, start in _fields(data) if number == PROPERTIES), len(data))


def _fields(data: bytes) -> Iterator[tuple[int, Any, int]]:
    """(number, content, start) of each field of a message of protobuf; large contents are not copied."""
    at = 0
    while at < len(data):
        start = at
        content: Any
        tag, at = _read_varint(data, at)
        if tag & 7 == 0:
            content, at = _read_varint(data, at)
        elif tag & 7 == BYTES:
            size, at = _read_varint(data, at)
            if at + size > len(data):
                raise ValueError("a field is longer than the file")
            content, at = (None if tag >> 3 == GRAPH else data[at : at + size]), at + size
        else:
            raise ValueError(f"unexpected type {tag & 7} of a field")
        yield tag >> 3, content, start


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte, at = data[at], at + 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise ValueError("a number is too long")


def open_runtime(data: bytes, metadata: Metadata, place: str) -> OnnxRuntime:
    return OnnxRuntime(data, metadata, place)


class OnnxRuntime:
    """A session of onnxruntime with one thread, which is fastest for small networks."""

    def __init__(self, data: bytes, metadata: Metadata, place: str) -> None:
        try:
            import onnxruntime
        except ModuleNotFoundError:
            raise LudusError(f"{place} needs onnxruntime: pip install onnxruntime") from None
        self.version = f"onnxruntime {onnxruntime.__version__}"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class of errors for each cause, which it does not publish
            raise foreign(place, reason_of(error)) from None
        self._names = [output.name for output in self._session.get_outputs()]
        wanted = {port.name for port in metadata.inputs}, {port.name for port in metadata.outputs}
        if ({entry.name for entry in self._session.get_inputs()}, set(self._names)) != wanted:
            raise foreign(place, "its inputs and outputs are not those of its metadata")

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        return dict(zip(self._names, self._session.run(self._names, inputs), strict=True))
