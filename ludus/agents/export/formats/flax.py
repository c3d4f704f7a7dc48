"""Flax: the parameters as msgpack, for `flax.serialization.msgpack_restore`; the metadata has a key of its own.

There is no function in the file: it is played by the network that the metadata describes, which ludus has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.export.formats import as_arrays, foreign, reason_of
from ludus.agents.export.metadata import KEY, Metadata, Quantization
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.model import Model

SUFFIX, DYNAMIC = ".msgpack", True
NEEDS = "pip install 'ludus[deep]'"
QUANTIZATIONS: tuple[Quantization, ...] = ("float16",)


def write(model: Model, rows: int | None, quantize: Quantization | None) -> bytes:
    from flax import serialization

    from ludus.agents.export.quantization import compressed

    if rows is not None:
        raise LudusError("a file of parameters has no number of rows; leave --batch out")
    data: bytes = serialization.msgpack_serialize(compressed(_plain(model.variables), quantize))
    return data


def _plain(tree: Any) -> Any:
    """Nested dicts of arrays."""
    if isinstance(tree, dict):
        return {name: _plain(part) for name, part in tree.items()}
    return np.asarray(tree)


def attach(data: bytes, metadata: bytes) -> bytes:
    from flax import serialization

    return serialization.msgpack_serialize({**_restored(data, "this file"), KEY: metadata.decode()})


def metadata_of(data: bytes, place: str) -> bytes:
    text = _restored(data, place).get(KEY)
    if not isinstance(text, str):
        raise foreign(place, "it has no metadata of ludus")
    return text.encode()


def _restored(data: bytes, place: str) -> dict[str, Any]:
    from ludus.agents.neural import devices

    devices.start()
    from flax import serialization

    try:
        tree = serialization.msgpack_restore(data)
    except Exception as error:  # msgpack and NumPy raise many classes of errors for damaged files
        raise foreign(place, reason_of(error)) from None
    if not isinstance(tree, dict):
        raise foreign(place, "it does not contain parameters by name")
    return tree


def open_runtime(data: bytes, metadata: Metadata, place: str) -> FlaxRuntime:
    return FlaxRuntime(data, metadata, place)


class FlaxRuntime:
    """The parameters in the network that the metadata describes."""

    def __init__(self, data: bytes, metadata: Metadata, place: str) -> None:
        import flax
        import jax

        from ludus.agents.export.agents import from_variables
        from ludus.agents.export.model import for_rows
        from ludus.agents.export.quantization import restored

        self.version = f"flax {flax.__version__}"
        variables = {name: part for name, part in _restored(data, place).items() if name != KEY}
        try:
            model = from_variables(metadata, jax.tree.map(np.asarray, restored(variables)))
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            if isinstance(error, LudusError):
                raise
            raise foreign(place, reason_of(error)) from None
        function, _ = for_rows(model, 1)
        self._params, self._call = jax.device_put(model.params), jax.jit(function)

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        return as_arrays(self._call(self._params, inputs))
