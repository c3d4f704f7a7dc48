"""A replay buffer in NumPy memory: the last `capacity` records, of any layout, to sample from at random.

Records are bytes, so pushing many is a copy, sampling is a gather, and saving the buffer is saving an array. The world
model has a buffer of its own (`world_model/replay.py`): its arrays stay on the device and are sampled inside the
compiled update.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import ArrayLike

from ludus.dsl import kernel, rule
from ludus.dsl.rows import bare
from ludus.types import Array, DType, LudusError


class ExperienceBuffer:
    """The last `capacity` records pushed: `ExperienceBuffer(10_000, record(state=i64, action=i64, reward=f32))`."""

    def __init__(self, capacity: int, dtype: DType) -> None:
        if capacity < 1:
            raise LudusError(f"the capacity of an experience buffer must be 1 or more, not {capacity}")
        if not dtype.names or dtype.hasobject:
            raise LudusError(
                f"an experience is a record of numbers, such as record(action=i64, reward=f32), not {dtype}"
            )
        self.capacity, self.dtype = capacity, bare(dtype)
        self.pushed = 0
        """records pushed so far"""
        # Rows move as blocks of bytes: NumPy would gather a record with gaps field by field, 30 times slower.
        self._block = np.dtype((np.void, self.dtype.itemsize))
        self._ring = np.zeros(capacity, self._block)

    def __len__(self) -> int:
        return min(self.pushed, self.capacity)

    def push(self, **fields: ArrayLike) -> None:
        """Add one experience, by the names of its fields."""
        self.extend({name: np.asarray(field)[None] for name, field in fields.items()})

    def extend(self, records: Array | Mapping[str, ArrayLike]) -> None:
        """Add many at once, oldest first: an array of records, or [n, ...] columns by name. The newest stay."""
        rows = self._fit(records) if isinstance(records, Mapping) else self._as_ours(np.asarray(records).reshape(-1))
        newest = np.ascontiguousarray(rows[-self.capacity :]).view(self._block)
        start = (self.pushed + len(rows) - len(newest)) % self.capacity
        before_wrap = min(len(newest), self.capacity - start)
        self._ring[start : start + before_wrap] = newest[:before_wrap]
        self._ring[: len(newest) - before_wrap] = newest[before_wrap:]
        self.pushed += len(rows)

    def contents(self) -> Array:
        """A copy of all experiences, oldest first."""
        return self._gather(np.arange(len(self)))

    def sample(self, count: int, rng: np.random.Generator, allow_fewer: bool = False) -> Array:
        """Copies of `count` different experiences in random order, sampled uniformly in O(count) time.

        With `allow_fewer`, all of them if there are fewer than `count`.
        """
        if allow_fewer:
            count = min(count, len(self))
        if not 0 <= count <= len(self):
            raise LudusError(
                f"cannot draw {count} different experiences from {len(self)}; push more first, or pass allow_fewer=True"
            )
        swaps = rng.integers(np.arange(count), len(self))
        return self._gather(shuffled_head(swaps))

    def state(self) -> dict[str, Array]:
        """Everything as plain arrays, for a checkpoint; without the gaps between fields, whose bytes mean nothing."""
        dense = repack_fields(self.dtype, recurse=True)
        rows = self.contents().astype(dense).view(np.uint8).reshape(len(self), dense.itemsize)
        layout = np.frombuffer(describe(dense).encode(), np.uint8).copy()
        return {"rows": rows, "layout": layout, "counts": np.array([self.capacity, self.pushed], np.int64)}

    @classmethod
    def from_state(cls, state: Mapping[str, Array], dtype: DType) -> Self:
        """The buffer that `state` was taken from; it samples the same experiences."""
        if not {"rows", "layout", "counts"} <= set(state):
            raise LudusError("these are not saved experiences; pass the arrays returned by `state()`")
        capacity, pushed = state["counts"].tolist()
        buffer = cls(capacity, dtype)
        dense = repack_fields(buffer.dtype, recurse=True)
        saved, expected = state["layout"].tobytes().decode(), describe(dense)
        if saved != expected:
            raise LudusError(f"the saved experiences are records of {saved}, not of {expected}; start an empty buffer")
        rows = np.ascontiguousarray(state["rows"]).view(dense)[:, 0]
        buffer.pushed = pushed - len(rows)
        buffer.extend(rows.astype(buffer.dtype))
        return buffer

    def _gather(self, ages: Array) -> Array:
        """Copies of some experiences, by their rank from the oldest."""
        return self._ring[(self.pushed - len(self) + ages) % self.capacity].view(self.dtype)

    def _as_ours(self, rows: Array) -> Array:
        return rows if rows.dtype == self.dtype else self._fit({name: rows[name] for name in rows.dtype.names or ()})

    def _fit(self, columns: Mapping[str, ArrayLike]) -> Array:
        """Columns of any numeric type as records; raises LudusError if a number does not fit its field."""
        names = self.dtype.names or ()
        if set(columns) != set(names):
            raise LudusError(f"these experiences have {_listed(columns)}; expected exactly {_listed(names)}")
        arrays = {name: np.asarray(columns[name]) for name in names}
        rows = np.zeros(np.shape(arrays[names[0]])[:1], self.dtype)
        with np.errstate(invalid="ignore"):
            for name, array in arrays.items():
                _fill(rows[name], array, name)
        return rows


def _fill(column: Array, given: Array, name: str) -> None:
    if given.shape != column.shape or not given.ndim:
        raise LudusError(
            f'the field "{name}" needs an array of shape {column.shape}, one row per record, not {given.shape}'
        )
    column[...] = given
    if column.dtype.kind in "iub" and (column != given).any():
        wrong = given[column != given].flat[0]
        raise LudusError(f'the field "{name}" ({column.dtype}) cannot hold {wrong}; use a wider type in the record')


def _listed(names: Iterable[str]) -> str:
    return "the fields " + ", ".join(sorted(names)) if names else "no named fields"


def describe(dtype: DType) -> str:
    """The fields of a record as text: their names, types and shapes."""
    if dtype.subdtype is not None:
        return f"{describe(dtype.base)}{list(dtype.shape)}"
    if dtype.names is None:
        return dtype.str
    return "(" + ", ".join(f"{name} {describe(dtype[name])}" for name in dtype.names) + ")"


@kernel
def shuffled_head(swaps: Array) -> Array:
    """The first n items of a shuffled 0 .. size-1, where swaps[i] is drawn uniformly from i .. size-1.

    The Fisher-Yates shuffle, stopped after n swaps: item i changes places with item swaps[i]. Only items that moved are
    stored, in a hash table with linear probing, so that nothing here is O(size).
    """
    count, slots = len(swaps), 4
    while slots < 4 * count:
        slots *= 2
    places, items = np.full(slots, -1), np.empty(slots, np.int64)
    head = np.empty(count, np.int64)
    for index in range(count):
        here, there = find_slot(places, index), find_slot(places, swaps[index])
        head[index] = items[there] if places[there] >= 0 else swaps[index]
        moved = items[here] if places[here] >= 0 else index
        places[there], items[there] = swaps[index], moved
    return head


@rule
def find_slot(places: Array, place: int) -> int:
    """The slot of `place` in the hash table, or the free slot where it belongs."""
    slot = place & (len(places) - 1)
    while places[slot] >= 0 and places[slot] != place:
        slot = (slot + 1) & (len(places) - 1)
    return slot
