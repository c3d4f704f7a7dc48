"""The arrays of a step, one after the other in a new buffer, which compiled code fills from the records of a pool."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludus.dsl import part
from ludus.dsl.intrinsics import copy_byte, copy_word
from ludus.types import Array, DType, Step

SOURCE, STRIDE, SIZE, OFFSET = range(4)
"""the columns of a table of fields: address of the first record's field, bytes between records, bytes, place in the
output"""
NO_FIELDS: Array = np.zeros((0, 4), np.int64)
LINE = 64
"""bytes of a cache line, to which arrays are aligned"""
BOOLEANS = ("mask", "first")


@part
def spread(fields, output, low, high):  # type: ignore[no-untyped-def]
    """Copy the fields of records low .. high-1 to one array per field, which lie one after the other in the output."""
    for field in range(len(fields)):
        stride, size = fields[field, STRIDE], fields[field, SIZE]
        source, target = fields[field, SOURCE] + low * stride, output + fields[field, OFFSET] + low * size
        words = size // 8
        for _ in range(low, high):
            for word in range(words):
                copy_word(source + 8 * word, target + 8 * word)
            for byte in range(8 * words, size):
                copy_byte(source + byte, target + byte)
            source += stride
            target += size


class Place(NamedTuple):
    """Name, shape, type and place of the array of a field."""

    name: str
    shape: tuple[int, ...]
    kind: DType
    start: int


class Output:
    """Where the fields of rows and observations lie in a buffer."""

    def __init__(self, rows: Array, observations: Array) -> None:
        self._size, self.fields = 0, NO_FIELDS
        self._rows, self._observations = self._places(rows, BOOLEANS), self._places(observations, ())

    def _places(self, records: Array, booleans: tuple[str, ...]) -> list[Place]:
        places, start, stride = [], records.ctypes.data, records.strides[0]
        for name, (kind, at, *_) in (records.dtype.fields or {}).items():
            shown = np.dtype(bool) if name in booleans else kind.base
            places.append(Place(name, (len(records), *kind.shape), shown, self._size))
            field = np.array([[start + at, stride, kind.itemsize, self._size]], np.int64)
            self.fields = np.concatenate([self.fields, field])
            self._size += -(-len(records) * kind.itemsize // LINE) * LINE
        return places

    def buffer(self) -> Array:
        """A new buffer, without content."""
        return np.empty(self._size, np.uint8)

    def step(self, buffer: Array) -> Step:
        """The step in a buffer."""
        array = np.ndarray
        mask, reward, discount, seat, first = [array(shape, kind, buffer, at) for _, shape, kind, at in self._rows]
        observation = {name: array(shape, kind, buffer, at) for name, shape, kind, at in self._observations}
        return Step(observation, mask, seat, reward, discount, first)
