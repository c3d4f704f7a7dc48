"""What an exported file says about itself: JSON, stored inside the file and validated when it is read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from ludus.types import LudusError

KEY = "ludus"
"""the name of the metadata in a file"""
LARGEST = 2**22
"""bytes of JSON"""
MOST_NAMES, LONGEST_NAME = 4096, 80
"""number and length of the names of actions; games with more actions are exported without names"""
MOST_AXES, MOST_NUMBERS = 8, 2**28

Line = Annotated[str, Meta(max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Size = Annotated[int, Meta(ge=0, le=MOST_NUMBERS)]
Role = Literal[
    "observation", "mask", "seat", "first", "memory", "action", "probabilities", "mean", "std", "value"
]  # fmt: skip
Quantization = Literal["float16", "int8"]


class Port(Struct, frozen=True, forbid_unknown_fields=True):
    """An input or output; the first axis, the rows, is left out."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
    role: Role
    shape: Annotated[tuple[Size, ...], Meta(max_length=MOST_AXES)]
    dtype: Literal["float32", "int32", "bool"]
    low: float | None = None
    """lowest value that the game declares; None if unbounded"""
    high: float | None = None
    stored: str = ""
    """the type in the record of the game, if it differs"""


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """The comparison of a file, in its own runtime, with the agent that it was made of."""

    steps: int
    rows: int
    max_error: float
    """largest difference of any output, divided by the largest number of that output if that is above 1"""
    agreement: float
    """fraction of decisions with the same action, one that is as good, or a continuous one within 1 % of its range"""
    runtime: Line
    nudged: int = 0
    """number of decisions that are equal only to those of the agent for inputs changed by a millionth"""
    strength: dict[str, float] | None = None
    """mean result of the file against the agent that it was made of: estimate, low, high (95 %), games"""


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything a program needs to use the file."""

    format: Literal[1]
    ludus: Line
    """the version of ludus that wrote the file"""
    game: Line
    fingerprint: Line
    agent: dict[str, Any]
    """the description of the agent in its checkpoint"""
    network: Line
    memory: Line
    """lstm, gru, rwkv, transformer or none"""
    features: bool
    """whether the inputs are features that ludus computes from observations"""
    ties: bool
    """whether all actions of the highest probability are equally good, as in tables"""
    batch: Annotated[int, Meta(ge=1, le=2**16)] | None
    """the number of rows; None for any number"""
    quantize: Quantization | None
    seats: Annotated[int, Meta(ge=1, le=127)]
    actions: Annotated[int, Meta(ge=1, le=2**20)] | None
    """the number of actions; None if they are continuous"""
    action_names: Annotated[list[Line], Meta(max_length=MOST_NAMES)]
    low: list[float] | None
    """bounds of continuous actions"""
    high: list[float] | None
    inputs: list[Port]
    outputs: list[Port]
    trained: dict[str, str | int | float | None]
    """of the checkpoint: steps, version, score, time and number of parameters"""
    check: Check | None = None

    def memory_ports(self) -> list[Port]:
        """The inputs that carry memory."""
        return [port for port in self.inputs if port.role == "memory"]


def encode(metadata: Metadata) -> bytes:
    """The metadata as JSON."""
    data = msgspec.json.encode(metadata)
    if len(data) > LARGEST:
        raise LudusError(f"the metadata of this agent has {len(data)} bytes; at most {LARGEST} can be stored in a file")
    return data


def decode(data: bytes | str, place: str) -> Metadata:
    """The metadata in these bytes; raises LudusError if it is not what `encode` writes."""
    if len(data) > LARGEST:
        raise LudusError(f"{place}: the metadata is larger than {LARGEST} bytes; export the agent again")
    try:
        metadata = msgspec.json.decode(data, type=Metadata)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise LudusError(
            f"{place}: its metadata cannot be read ({error}); export the agent again with this version of ludus"
        ) from None
    _check(metadata, place)
    return metadata


def _check(metadata: Metadata, place: str) -> None:
    names = [port.name for port in (*metadata.inputs, *metadata.outputs)]
    outputs = {port.role for port in metadata.outputs}
    needed = {"action", "value"} | ({"probabilities"} if metadata.actions else {"mean", "std"})
    memories = [[port for port in ports if port.role == "memory"] for ports in (metadata.inputs, metadata.outputs)]
    shapes = [[(port.shape, port.dtype) for port in ports] for ports in memories]
    if len(set(names)) < len(names) or not needed <= outputs or shapes[0] != shapes[1]:
        raise LudusError(f"{place}: its inputs and outputs are not those of an agent; export the agent again")
    if any(np.prod(port.shape, dtype=float) > MOST_NUMBERS for port in (*metadata.inputs, *metadata.outputs)):
        raise LudusError(f"{place}: an input or output has more than {MOST_NUMBERS} numbers; export the agent again")
