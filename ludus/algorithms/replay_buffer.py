"""A replay buffer in NumPy memory: the last `capacity` records, of any layout, to sample from at random.

Records are bytes, so pushing many is a copy, sampling is a gather, and saving the buffer is saving an array.
`MemoryEfficientSampler` fills the same batch again and again, without allocating. The world model needs neither: its
buffer (`world_model/replay.py`) stays on the device and is sampled inside the compiled update, where XLA reuses memory.
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
        contents = np.empty(len(self), self.dtype)
        self.gather((self.pushed - len(self) + np.arange(len(self))) % self.capacity, contents)
        return contents

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
        return MemoryEfficientSampler(self, count).sample(rng)

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

    def gather(self, slots: Array, out: Array) -> None:
        """Copy the experiences in some slots of the ring, which are not checked, into an array of records."""
        # With any other mode NumPy would allocate a second array of this size.
        np.take(self._ring, slots, out=out.view(self._block), mode="clip")

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


class MemoryEfficientSampler:
    """Samples batches of a fixed size from a buffer into one array, which every batch overwrites: `sampler.batch`.

    Nothing of the size of the batch is allocated after the constructor. Copy what has to outlive the next batch; also
    before JAX gets it (`jnp.array(batch["reward"])`), because on a CPU JAX reads the memory of NumPy later on.
    """

    def __init__(self, buffer: ExperienceBuffer, batch_size: int, replace: bool = False) -> None:
        """With `replace`, an experience may occur several times in a batch, and the buffer may be smaller than it."""
        if batch_size < 0:
            raise LudusError(f"the size of a batch must be 0 or more, not {batch_size}")
        self.buffer, self.replace = buffer, replace
        self.batch = np.empty(batch_size, buffer.dtype)
        self._uniform, self._slots = np.empty(batch_size), np.empty(batch_size, np.int64)
        table = 0 if replace else hash_table_size(batch_size)
        self._places, self._items = np.empty(table, np.int64), np.empty(table, np.int64)

    def sample(self, rng: np.random.Generator) -> Array:
        """The batch with new contents: experiences in random order, sampled uniformly in O(batch size) time."""
        size, wanted = len(self.buffer), len(self.batch)
        if size < (min(wanted, 1) if self.replace else wanted):
            raise LudusError(
                f"cannot sample {wanted} experiences from {size}; push more first, or make the batch smaller"
            )
        rng.random(out=self._uniform)
        if self.replace:
            np.multiply(self._uniform, size, out=self._uniform)
            np.copyto(self._slots, self._uniform, casting="unsafe")
        else:
            shuffled_head(self._uniform, size, self._slots, self._places, self._items)
        self.buffer.gather(self._slots, self.batch)
        return self.batch


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


def hash_table_size(count: int) -> int:
    """Slots of the hash table for `count` draws: a power of two, at least four times as many."""
    return 4 << max(count - 1, 0).bit_length()


@kernel
def shuffled_head(uniform: Array, size: int, head: Array, places: Array, items: Array) -> None:
    """Write the first n items of a shuffled 0 .. size-1 into `head`, from n numbers drawn uniformly from [0, 1).

    The Fisher-Yates shuffle, stopped after n swaps: item i changes places with one of the items i .. size-1. Only items
    that moved are stored, in a hash table with linear probing (`places`, `items`), so that nothing here is O(size).
    """
    places[:] = -1
    for index in range(len(head)):
        swap = index + int(uniform[index] * (size - index))
        here, there = find_slot(places, index), find_slot(places, swap)
        head[index] = items[there] if places[there] >= 0 else swap
        moved = items[here] if places[here] >= 0 else index
        places[there], items[there] = swap, moved


@rule
def find_slot(places: Array, place: int) -> int:
    """The slot of `place` in the hash table, or the free slot where it belongs."""
    slot = place & (len(places) - 1)
    while places[slot] >= 0 and places[slot] != place:
        slot = (slot + 1) & (len(places) - 1)
    return slot
