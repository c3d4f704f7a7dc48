"""TFLite (LiteRT), for phones and small devices.

After the model follows a zip with the metadata and a checksum of the model, as in files with TFLite metadata: readers
of models ignore what follows, and readers of zips what comes before.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import zipfile
from typing import TYPE_CHECKING, Any

from ludus.agents.export.formats import foreign, reason_of
from ludus.agents.export.metadata import LARGEST, Metadata, Quantization
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.model import Model

SUFFIX, DYNAMIC = ".tflite", False
NEEDS = "pip install 'ludus[tflite]' && pip install --no-deps litert-converter==0.5.0"
QUANTIZATIONS: tuple[Quantization, ...] = ("float16", "int8")
SIGNATURE = "serving_default"
MANIFEST, CHECKSUM = "ludus_metadata.json", "ludus_sha256"
IDENTIFIER = b"TFL3"
SECONDS = 900
"""time limit of the converter"""


def write(model: Model, rows: int | None, quantize: Quantization | None) -> bytes:
    import jax

    from ludus.agents.export.model import for_rows
    from ludus.agents.export.simpler import simplified
    from ludus.agents.export.tflite_weights import quantized

    _check_installed()
    assert rows is not None
    function, shapes = for_rows(model, rows)
    inputs, outputs = sorted(shapes), sorted(port.name for port in model.outputs)

    def positional(*arrays: Any) -> tuple[Any, ...]:
        found = function(model.params, dict(zip(inputs, arrays, strict=True)))
        return tuple(found[name] for name in outputs)

    lowered = jax.jit(simplified(positional), keep_unused=True).lower(*(shapes[name] for name in inputs))
    data = _converted(lowered.as_text(), inputs, outputs)
    return data if quantize is None else quantized(data, quantize)


def _check_installed() -> None:
    missing = [name for name in ("litert_converter", "ai_edge_litert") if importlib.util.find_spec(name) is None]
    if missing:
        # The converter asks for an old xdsl, which asks for an old typing_extensions; it uses neither to convert.
        raise LudusError(f"writing TFLite needs {' and '.join(missing)}: {NEEDS}")


def _converted(text: str, inputs: list[str], outputs: list[str]) -> bytes:
    """The model of a program in StableHLO; the converter runs in a process of its own, as it may crash."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "program.mlir"), pathlib.Path(folder, "model.tflite")
        source.write_text(text)
        command = [sys.executable, "-m", "ludus.agents.export.tflite_converter", str(source), str(target)]
        command += [SIGNATURE, ",".join(inputs), ",".join(outputs)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise LudusError(f"the converter to TFLite took more than {SECONDS} s; use another format") from None
        if done.returncode or not target.is_file():
            raise LudusError(
                f"this agent cannot be expressed in TFLite: {_reason(done.stderr)}; use --format onnx or stablehlo"
            )
        return target.read_bytes()


def _reason(output: str) -> str:
    """The part of the converter's output that names what it cannot express."""
    found = re.search(r"TF Select ops: (.+)|error: (.+)|Error: (.+)", output)
    return "it needs " + found[1] if found and found[1] else (found[0][:300] if found else "the converter crashed")


def attach(data: bytes, metadata: bytes) -> bytes:
    body = data[: _size_of_model(data)]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in ((MANIFEST, metadata), (CHECKSUM, hashlib.sha256(body).hexdigest().encode())):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return body + buffer.getvalue()


def _size_of_model(data: bytes) -> int:
    """The number of bytes before the zip; all bytes if there is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.getinfo(MANIFEST).header_offset
    except (zipfile.BadZipFile, KeyError):
        return len(data)


def metadata_of(data: bytes, place: str) -> bytes:
    if data[4:8] != IDENTIFIER:
        raise foreign(place, "it is not TFLite")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if max(archive.getinfo(name).file_size for name in (MANIFEST, CHECKSUM)) > LARGEST:
                raise ValueError(f"it has more than {LARGEST} bytes")
            text, wanted = archive.read(MANIFEST), archive.read(CHECKSUM)
            size = archive.getinfo(MANIFEST).header_offset
    except Exception as error:  # zipfile and zlib raise many classes of errors for damaged files
        raise foreign(place, f"it has no metadata of ludus ({reason_of(error)})") from None
    if hashlib.sha256(data[:size]).hexdigest().encode() != wanted:
        raise foreign(place, "its checksum differs")
    return text


def open_runtime(data: bytes, metadata: Metadata, place: str) -> TfliteRuntime:
    return TfliteRuntime(data, metadata, place)


class TfliteRuntime:
    """An interpreter with one thread; calls wait for each other, because it has only one set of buffers."""

    def __init__(self, data: bytes, metadata: Metadata, place: str) -> None:
        try:
            import ai_edge_litert
            from ai_edge_litert.interpreter import Interpreter
        except ModuleNotFoundError:
            raise LudusError(f"{place} needs ai-edge-litert: pip install ai-edge-litert") from None
        self.version = f"ai-edge-litert {ai_edge_litert.__version__}"
        try:
            interpreter = Interpreter(model_content=data[: _size_of_model(data)], num_threads=1)
            self._call = interpreter.get_signature_runner(SIGNATURE)
            found = set(self._call.get_input_details()), set(self._call.get_output_details())
        except (ValueError, RuntimeError) as error:
            raise foreign(place, reason_of(error)) from None
        if found != ({port.name for port in metadata.inputs}, {port.name for port in metadata.outputs}):
            raise foreign(place, "its inputs and outputs are not those of its metadata")
        self._lock = threading.Lock()

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        with self._lock:
            return dict(self._call(**inputs))
