"""File formats of exported agents: each module in this package is one, found by its name."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from ludus.agents.export.metadata import Metadata, Quantization
from ludus.files import discovery
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.agents.export.model import Model


class Runtime(Protocol):
    """A file, loaded by the library for its format."""

    @property
    def version(self) -> str:
        """Name and version of the library."""

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Outputs by name; the arrays have the rows of the file's batch, or any number of rows."""


class Format(Protocol):
    """The contents of a module in this package."""

    SUFFIX: str
    NEEDS: str
    """the command that installs what writing needs"""
    DYNAMIC: bool
    """whether a file can be for any number of rows"""
    QUANTIZATIONS: tuple[Quantization, ...]

    def write(self, model: Model, rows: int | None, quantize: Quantization | None) -> bytes:
        """A file without metadata."""

    def attach(self, data: bytes, metadata: bytes) -> bytes:
        """The same file with metadata, in place of any that it has."""

    def metadata_of(self, data: bytes, place: str) -> bytes:
        """The metadata in a file; raises LudusError if it has none or is damaged."""

    def open_runtime(self, data: bytes, metadata: Metadata, place: str) -> Runtime: ...


def names() -> list[str]:
    """All formats."""
    return discovery.bundled(__name__)


def find(name: str) -> Format:
    """The format of this name."""
    if name not in names():
        raise LudusError(f'unknown format "{name}"; known are {", ".join(names())}')
    return cast(Format, discovery.load_bundled(__name__, name))


def of_file(path: str | pathlib.Path) -> Format | None:
    """The format of a file by its suffix, or None."""
    suffix = pathlib.Path(path).suffix.lower()
    return next((form for form in map(find, names()) if suffix == form.SUFFIX), None)


def foreign(place: str, reason: str) -> LudusError:
    """The error for a file that cannot be used."""
    return LudusError(f"{place} is not a file that ludus export wrote, or it is damaged: {reason}; export it again")


def reason_of(error: BaseException) -> str:
    """The first line of an error of another library, shortened."""
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__


def as_arrays(outputs: dict[str, Any]) -> dict[str, Array]:
    return {name: np.asarray(array) for name, array in outputs.items()}


def run_rows(runtime: Runtime, inputs: dict[str, Array], batch: int | None) -> dict[str, Array]:
    """The outputs for any number of rows; for a file of a fixed number the last batch is filled with its last row."""
    rows = len(next(iter(inputs.values())))
    if batch is None or rows == batch:
        return as_arrays(runtime.run(inputs))
    parts = []
    for start in range(0, rows, batch):
        places = np.minimum(np.arange(start, start + batch), rows - 1)
        parts.append(runtime.run({name: array[places] for name, array in inputs.items()}))
    return {name: np.concatenate([part[name] for part in parts])[:rows] for name in parts[0]}
