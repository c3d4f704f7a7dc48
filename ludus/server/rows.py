"""Rows as bytes: the observation of one request is one record of the game, and a memory is one record of its arrays.

A batch is the bytes of its rows joined, which costs one copy and no work for each field.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus.agents import observations
from ludus.agents.checkpoint import flatten, unflatten
from ludus.agents.protocol import Agent, Memory
from ludus.dsl import bounds
from ludus.dsl.rows import bare
from ludus.types import Array, Continuous, Discrete, DType, JsonObject, LudusError

Observation = Mapping[str, ArrayLike] | ArrayLike
"""of one row: all fields by name, or the array of a game with one field"""


class FieldForm(NamedTuple):
    """A field of observations, and what must be checked in it."""

    name: str
    type: DType
    shape: tuple[int, ...]
    low: Array | None
    """the range, for integers whose type allows more than the game; None if there is nothing to check"""
    high: Array | None


class ObservationForm:
    """Reads observations of one game from callers."""

    def __init__(self, observation: DType, game: str) -> None:
        self.observation, self.game = observation, game
        self.plain = bare(observation)
        """the record without the ranges of its fields, whose metadata slows NumPy down"""
        self._fields = tuple(_field_form(observation, name) for name in observation.names or ())
        self._names = frozenset(observation.names or ())

    def read(self, given: Observation) -> bytes:
        """The record of one observation; raises LudusError for one that the game cannot have."""
        row = np.empty((), self.plain)
        if isinstance(given, Mapping):
            named: Mapping[str, ArrayLike] = given
            if given.keys() != self._names:
                observations.by_name(self.observation, given, self.game)
        else:
            named = observations.by_name(self.observation, given, self.game)
        for form in self._fields:
            row[form.name] = self._read_field(form, named[form.name])
        return row.tobytes()

    def _read_field(self, form: FieldForm, value: ArrayLike) -> Array:
        """One field. What is right at once takes a few microseconds; everything else is checked step by step."""
        array = _table_of_bytes(form, value)
        if array is None:
            array = observations.numbers(form.name, value)
        if array.dtype != form.type or array.shape != form.shape:
            array = self._convert(form, array)
        if form.type.kind == "f":
            if not np.isfinite(array).all():
                raise LudusError(f"{form.name} contains NaN or infinity")
        elif form.low is not None and ((array < form.low) | (array > form.high)).any():
            observations.check_range(self.observation, form.name, array)
        return array

    def _convert(self, form: FieldForm, array: Array) -> Array:
        if array.shape == form.shape and form.type.kind == "f":
            with np.errstate(over="ignore"):
                return array.astype(form.type)  # the caller checks that it is finite
        return observations.check_field(self.observation[form.name], form.name, array, single=True)[0]

    def blank(self) -> bytes:
        """A record of zeros, or of the values nearest to 0 that are allowed."""
        row = np.zeros((), self.plain)
        for name in row.dtype.names or ():
            row[name] = np.clip(0, *bounds(self.observation, name))
        return row.tobytes()

    def schema(self) -> JsonObject:
        """The JSON Schema of an observation."""
        fields = {name: _schema_of(self.observation, name) for name in self.observation.names or ()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}

    def batch(self, rows: Sequence[bytes]) -> Array:
        """[B] records."""
        return np.frombuffer(b"".join(rows), self.plain)


def _field_form(observation: DType, name: str) -> FieldForm:
    kind = observation[name]
    base = np.dtype(kind.base.str)
    low, high = bounds(observation, name)
    whole = base.kind not in "iu" or bool((low == np.iinfo(base).min).all() and (high == np.iinfo(base).max).all())
    # One number for all components compares much faster than an array of equal ones.
    ends = [np.asarray(end.flat[0] if end.size and (end == end.flat[0]).all() else end) for end in (low, high)]
    return FieldForm(name, base, kind.shape, None if whole else ends[0], None if whole else ends[1])


def _table_of_bytes(form: FieldForm, value: object) -> Array | None:
    """A field of rows of bytes from a list of lists, several times as fast as by NumPy; None if it is anything else."""
    if form.type != np.uint8 or len(form.shape) != 2 or type(value) is not list or len(value) != form.shape[0]:
        return None
    if not all(type(row) is list and len(row) == form.shape[1] for row in value):
        return None
    try:
        return np.frombuffer(b"".join(map(bytes, value)), np.uint8).reshape(form.shape)
    except (TypeError, ValueError):  # not integers, or outside 0 to 255
        return None


def _schema_of(observation: DType, name: str) -> JsonObject:
    """The JSON Schema of a field: nested arrays of numbers with the widest range of all components."""
    base, shape = observation[name].base, observation[name].shape
    low, high = bounds(observation, name)
    schema: JsonObject = {"type": "number" if base.kind == "f" else "integer"}
    if low.size and np.isfinite(low).all():
        schema["minimum"] = low.min().item()
    if high.size and np.isfinite(high).all():
        schema["maximum"] = high.max().item()
    for size in reversed(shape):
        schema = {"type": "array", "items": schema, "minItems": size, "maxItems": size}
    return schema


def read_mask(actions: Discrete | Continuous, mask: ArrayLike | None) -> bytes:
    """The legal actions of one row; all without a mask."""
    if mask is None:
        return b"\1" * actions.n if isinstance(actions, Discrete) else b""
    return bytes(observations.check_mask(actions, mask, 1)[0])


class MemoryForm:
    """The memories of an agent as records: one field for each array, one record for each row."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._like = functools.cache(agent.memory)
        leaves = flatten(agent.memory(1)).items()
        self._fields = {name: f"part{place}" for place, (name, _) in enumerate(leaves)}
        self.record = np.dtype([(self._fields[name], leaf.dtype, leaf.shape[1:]) for name, leaf in leaves])
        self.empty = self.pack(agent.memory(1), 1)[0]

    @property
    def size(self) -> int:
        """The bytes of one memory."""
        return self.record.itemsize

    def pack(self, memory: Memory, rows: int) -> list[bytes]:
        """The memories of the first rows of a batch."""
        if not self.size:
            return [b""] * rows
        records = np.empty(rows, self.record)
        for name, leaf in flatten(memory).items():
            records[self._fields[name]] = leaf[:rows]
        data, size = records.tobytes(), self.size
        return [data[start : start + size] for start in range(0, rows * size, size)]

    def unpack(self, memories: Sequence[bytes]) -> Memory:
        """The memory of a batch as the agent has it."""
        records = np.frombuffer(b"".join(memories), self.record) if self.size else None
        parts = {} if records is None else {name: records[part] for name, part in self._fields.items()}
        return unflatten(self._like(len(memories)), parts)

    def is_finite(self, memories: Sequence[bytes]) -> Array:
        """[B] whether a memory contains only finite numbers."""
        finite = np.ones(len(memories), bool)
        if self.size:
            records = np.frombuffer(b"".join(memories), self.record)
            for part in self._fields.values():
                if records[part].dtype.kind not in "biu":
                    finite &= np.isfinite(records[part].reshape(len(memories), -1)).all(axis=1)
        return finite
