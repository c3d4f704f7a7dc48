"""StableHLO: a zip of a function exported by JAX, its parameters as safetensors, and the metadata.

The function takes the parameters as first argument, so that they can be quantized or replaced.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

from ludus.agents.export.formats import as_arrays, foreign, reason_of
from ludus.agents.export.metadata import Metadata, Quantization
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.model import Arrays, Model

SUFFIX, DYNAMIC = ".stablehlo", True
NEEDS = "pip install 'ludus[deep]'"
QUANTIZATIONS: tuple[Quantization, ...] = ("float16", "int8")
FUNCTION, PARAMETERS, MANIFEST = "function.bin", "params.safetensors", "manifest.json"
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
LARGEST = 2**31
"""bytes of any part"""


def write(model: Model, rows: int | None, quantize: Quantization | None) -> bytes:
    import jax

    from ludus.agents.checkpoint.arrays import serialize
    from ludus.agents.checkpoint.trees import flatten, unflatten
    from ludus.agents.export.model import for_rows
    from ludus.agents.export.quantization import compressed, restored

    function, shapes = for_rows(model, rows)
    params = compressed(model.params, quantize)

    def named(flat: dict[str, Any], inputs: Arrays) -> Arrays:
        return function(restored(unflatten(params, flat)), inputs)

    flat = flatten(params)
    make: Any = jax.ShapeDtypeStruct  # JAX has no types for it
    like = {name: make(array.shape, array.dtype) for name, array in flat.items()}
    exported = jax.export.export(jax.jit(named), platforms=PLATFORMS)(like, shapes)
    return _packed({FUNCTION: bytes(exported.serialize()), PARAMETERS: serialize(flat)})


def _packed(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            # A fixed time makes equal agents equal files.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def attach(data: bytes, metadata: bytes) -> bytes:
    return _packed({**{name: _part(data, name, "this file") for name in (FUNCTION, PARAMETERS)}, MANIFEST: metadata})


def metadata_of(data: bytes, place: str) -> bytes:
    return _part(data, MANIFEST, place)


def _part(data: bytes, name: str, place: str) -> bytes:
    """One part of the file; its checksum is checked by zipfile."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.getinfo(name).file_size > LARGEST:
                raise foreign(place, f"{name} has more than {LARGEST} bytes")
            return archive.read(name)
    except LudusError:
        raise
    except Exception as error:  # zipfile and zlib raise many classes of errors for damaged files
        raise foreign(place, f"it has no part {name} ({reason_of(error)})") from None


def open_runtime(data: bytes, metadata: Metadata, place: str) -> JaxRuntime:
    return JaxRuntime(data, place)


class JaxRuntime:
    """A function that JAX compiles for this machine."""

    def __init__(self, data: bytes, place: str) -> None:
        from ludus.agents.neural import devices

        devices.start()
        import jax

        from ludus.agents.checkpoint.arrays import parse

        self.version = f"jax {jax.__version__}"
        self._params = jax.device_put(parse(_part(data, PARAMETERS, place), place))
        try:
            self._call = jax.jit(jax.export.deserialize(bytearray(_part(data, FUNCTION, place))).call)
        except LudusError:
            raise
        except Exception as error:  # flatbuffers and MLIR raise many classes of errors
            raise foreign(place, reason_of(error)) from None

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        return as_arrays(self._call(self._params, inputs))
