"""Tables of action values: lookup of positions, layout of rows, and the compiled functions that read and write them.

A row is one or more cache lines: the values, -1e30 for illegal actions so that no mask is needed, and a visit count.
Positions are numbered if the declared ranges of the observation allow it, else hashed. Rows are never moved, so their
indices stay valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from ludus.dsl import bounds, kernel, part, rule
from ludus.dsl.random import FIRST, S32, mix, scale
from ludus.dsl.rows import as_plain, bare, compiling
from ludus.types import Array, DType, JsonObject, LudusError

ILLEGAL = np.float32(-1e30)
ANY_LEGAL = np.float32(-1e29)
LINE = 64
"""bytes of a cache line"""
LARGEST_NUMBERED = 2**24
"""maximum number of positions that are numbered; larger spaces are hashed, because only a small part is ever visited"""
SMALLEST = 2**12
"""initial number of rows of a hashed table"""
SLOT = np.dtype([("key", np.uint64), ("place", np.int64)])
UNIT = 2.0**-32
Fields = tuple[tuple[str, DTypeLike], ...]


class Positions(NamedTuple):
    """The mapping from observations to rows of a table."""

    count: int  # type: ignore[assignment]  # hides the method of tuple, which is not used
    """number of positions, 0 if they are hashed"""
    record: DType
    code: DType
    """the integer type as which an observation is read: 64-bit words if it is hashed"""
    lows: Array
    weights: Array

    def new_observations(self, count: int) -> tuple[Array, Array]:
        """Records of zeros, and [count, numbers] a view of the same bytes as integers."""
        size = -(-self.record.itemsize // self.code.itemsize) * self.code.itemsize
        memory = np.zeros(count * size, np.uint8)
        # A record may end before the last word does; the strides skip the rest.
        rows: Array = np.ndarray((count,), self.record, memory, strides=(size,))
        codes = memory.view(self.code).reshape(count, size // self.code.itemsize)
        return rows if compiling() else as_plain(rows), codes


def positions_of(name: str, observation: DType) -> Positions:
    """Number the positions of a game if possible, else hash them; raises LudusError for continuous observations."""
    fields = {field: observation[field] for field in observation.names or ()}
    for field, kind in fields.items():
        if kind.base.kind not in "iub":
            raise LudusError(
                f"{name}: its observation {field} is continuous, but a table needs discrete positions; "
                f"train on discretize:{name} (see docs/algorithms/discretize.md), or choose a deep agent"
            )
    codes = [np.dtype(text) for text in {kind.base.str for kind in fields.values()}]
    ends = [[end.ravel().tolist() for end in bounds(observation, field)] for field in fields]
    lows = [int(low) for low, _ in ends for low in low]
    sizes = [int(high) - int(low) + 1 for pair in ends for low, high in zip(*pair, strict=True)]
    count = math.prod(sizes)
    dense = len(codes) == 1 and observation.itemsize == len(sizes) * codes[0].itemsize
    if dense and count <= LARGEST_NUMBERED:
        weights = [math.prod(sizes[:place]) for place in range(len(sizes))]
        return Positions(count, bare(observation), codes[0], np.array(lows), np.array(weights))
    none = np.zeros(0, np.int64)
    return Positions(0, bare(observation), np.dtype(np.uint64), none, none)


def row_dtype(actions: int, extra: Fields = ()) -> DType:
    """The dtype of a row: values, extra fields of an algorithm for each action, and visits; padded to cache lines."""
    fields = [("values", np.float32), *extra]
    inside = sum(np.dtype(kind).itemsize * actions for _, kind in fields)
    size = -(-(inside + 8) // LINE) * LINE
    offsets = np.cumsum([0, *(np.dtype(kind).itemsize * actions for _, kind in fields)])[:-1].tolist()
    names = [name for name, _ in fields]
    formats = [np.dtype((kind, (actions,))) for _, kind in fields]
    return np.dtype({"names": [*names, "visits"], "formats": [*formats, np.uint64],
                     "offsets": [*offsets, size - 8], "itemsize": size})  # fmt: skip


class Table:
    """The values that a tabular agent has learned: rows found by number or by hash.

    `known` lists, in the order of discovery, the numbers of the used rows, or the keys of hashed positions (whose rows
    are in the same order). `used[0]` is their number.
    """

    def __init__(self, count: int, actions: int, extra: Fields = (), capacity: int = SMALLEST) -> None:
        self.count, self.actions, self.extra = count, actions, extra
        self.used, self.packed_capacity = np.zeros(1, np.int64), 0
        self._allocate(count or capacity)

    @property
    def hashed(self) -> bool:
        return self.count == 0

    def __len__(self) -> int:
        """The number of visited positions."""
        return int(self.used[0])

    @property
    def places(self) -> Array:
        """The indices of the known positions in `rows`, in the order of discovery."""
        return np.arange(len(self)) if self.hashed else self.known[: len(self)].astype(np.int64)

    def grow(self) -> None:
        """Double the capacity for hashed positions; rows keep their indices."""
        rows, known = self.rows, self.known
        self._allocate(2 * len(rows))
        self.rows[: len(rows)], self.known[: len(known)] = rows, known
        fill_index(self.index, self.known, len(self))

    def copy(self) -> Table:
        """A copy of the table."""
        twin = Table(self.count, self.actions, self.extra, self.capacity)
        twin.take(self)
        return twin

    def take(self, other: Table) -> None:
        """Copy the content of another table, in the same memory if the capacities are equal."""
        if len(self.rows) != other.capacity:
            self._allocate(other.capacity)
        if other.searchable:
            for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
                mine.view(np.uint8)[:] = theirs.view(np.uint8)
            return
        memory, sent, used = self.rows.view(np.uint8), other.rows.view(np.uint8), len(other)
        memory[: len(sent)], memory[len(sent) :] = sent, 0
        self.known[:used], self.used[0] = other.known[:used], used
        if self.hashed:
            self.index.view(np.uint8)[:] = 0
            fill_index(self.index, self.known, used)

    def pack(self) -> tuple[dict[str, Array], JsonObject]:
        """Arrays and facts to send to another process: the used rows if it is hashed, else all."""
        rows = self.rows[: len(self) if self.hashed else None]
        extra = [[name, np.dtype(kind).str] for name, kind in self.extra]
        facts = {"count": self.count, "actions": self.actions, "extra": extra, "capacity": self.capacity}
        return {"rows": rows.view(np.uint8), "known": self.known[: len(self)]}, facts

    @classmethod
    def unpack(cls, arrays: Mapping[str, Array], facts: JsonObject) -> Self:
        """A read-only view of a packed table; to find positions, `take` it into another table."""
        table = cls.__new__(cls)
        table.count, table.actions = facts["count"], facts["actions"]
        table.extra = tuple((name, np.dtype(kind).type) for name, kind in facts["extra"])
        table.rows = arrays["rows"].view(row_dtype(table.actions, table.extra))
        table.known, table.used = arrays["known"], np.array([len(arrays["known"])])
        table.index, table.packed_capacity = np.zeros(0, SLOT), facts["capacity"]
        return table

    @property
    def searchable(self) -> bool:
        """Whether positions can be found and added, which is not possible in an unpacked view."""
        return self.packed_capacity == 0

    @property
    def capacity(self) -> int:
        """The number of rows that it can hold."""
        return self.packed_capacity or len(self.rows)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The arrays for compiled code, passed separately because Numba would count references to arrays of a tuple."""
        return self.rows, self.known, self.index, self.used

    def state(self) -> dict[str, Array]:
        """The used rows as arrays, for a checkpoint."""
        rows = self.rows[self.places]
        columns = {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names or ()}
        return {"known": self.known[: len(self)].copy(), "count": np.array([self.count]), **columns}

    @classmethod
    def from_state(cls, state: Mapping[str, Array], actions: int, extra: Fields = ()) -> Self:
        """Restore a table from its `state`."""
        check_state(state, actions, row_dtype(actions, extra))
        count, used = int(state["count"][0]), len(state["known"])
        places = np.arange(used) if count == 0 else state["known"].astype(np.int64)
        capacity = count or 2 ** math.ceil(math.log2(max(used, SMALLEST)))
        if count < 0 or (used and not 0 <= int(places.min()) <= int(places.max()) < capacity):
            raise damaged("it contains positions beyond its size")
        table = cls(count, actions, extra, capacity)
        table.used[0], table.known[:used] = used, state["known"]
        for name in table.rows.dtype.names or ():
            table.rows[name][places] = state[name]
        if table.hashed:
            fill_index(table.index, table.known, used)
        if np.count_nonzero(table.index["key"] if table.hashed else table.rows["visits"]) != used:
            raise damaged("it contains a position twice")
        return table

    def _allocate(self, capacity: int) -> None:
        dtype = row_dtype(self.actions, self.extra)
        check_memory(capacity, capacity * (dtype.itemsize + 8 + (2 * SLOT.itemsize if self.hashed else 0)))
        rows = aligned(capacity, dtype)
        self.rows = rows if compiling() else as_plain(rows)
        self.known = np.zeros(capacity, np.uint64)
        # At least half of the slots stay free, so that probing is short.
        index = np.zeros(2 ** math.ceil(math.log2(2 * capacity)) if self.hashed else 0, SLOT)
        self.index = index if compiling() else as_plain(index)


def check_state(state: Mapping[str, Array], actions: int, dtype: DType) -> None:
    """Raise LudusError for a state that is not of a table with such rows, or contains NaN or infinity."""
    names = dtype.names or ()
    missing = {"known", "count", *names} - set(state)
    if missing:
        raise LudusError(
            f"this is not a table of this algorithm: it has no {', '.join(sorted(missing))}; use another checkpoint"
        )
    wanted = {"count": (np.dtype(np.int64), (1,)), "known": (np.dtype(np.uint64), (state["known"].size,))}
    wanted |= {name: (dtype[name].base, (state["known"].size, *dtype[name].shape)) for name in names}
    for name, form in wanted.items():
        if (state[name].dtype, state[name].shape) != form:
            raise damaged(f"the type or shape of its {name} does not fit a game with {actions} actions")
    if not np.isfinite(state["values"]).all() or not state["visits"].all():
        raise damaged("it contains NaN or infinite values, or positions without visits")


def damaged(what: str) -> LudusError:
    return LudusError(f"this table is damaged: {what}; use another checkpoint")


def aligned(count: int, dtype: DType) -> Array:
    """Records of zeros aligned to cache lines."""
    memory = np.zeros(count * dtype.itemsize + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + count * dtype.itemsize].view(dtype)


def check_memory(positions: int, needed: int) -> None:
    """Raise LudusError if not enough memory is free."""
    free = available_memory()
    if needed > free:
        raise LudusError(
            f"a table of {positions:,} positions needs {needed / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB are free; "
            "use fewer bins, a smaller game, or a deep agent"
        )


def available_memory() -> int:
    """Bytes that can be allocated without swapping; practically unlimited if the system does not report it."""
    try:
        with open("/proc/meminfo") as facts:
            return next(int(line.split()[1]) * 1024 for line in facts if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 2**63


@rule
def numbered(codes: Array, lows: Array, weights: Array, i: int) -> int:
    """The row of an observation, as a number in mixed radix."""
    index = 0
    for place in range(codes.shape[1]):
        index += (np.int64(codes[i, place]) - lows[place]) * weights[place]
    return index


@rule
def fingerprint(codes: Array, i: int, seat: int) -> np.uint64:
    """A 64-bit hash of the observation of a seat, never 0, which marks a free slot."""
    key = FIRST + np.uint64(seat)
    for place in range(codes.shape[1]):
        key = mix(key ^ np.uint64(codes[i, place])) * FIRST + np.uint64(place + 1)
    return key | np.uint64(1)


@rule
def slot_of(index: Array, key: np.uint64) -> np.int64:
    """The slot of a key, or the free slot where it belongs; the index is at most half full."""
    mask = np.int64(len(index) - 1)
    slot = np.int64(key >> S32) & mask
    while index[slot].key != key and index[slot].key != np.uint64(0):
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_index(index: Array, known: Array, used: int) -> None:
    """Insert the first `used` keys into the index."""
    for place in range(used):
        slot = index[slot_of(index, known[place])]
        slot.key = known[place]
        slot.place = place


@part
def highest(row: np.record, actions: int) -> np.float32:
    """The largest value of a row."""
    # Four independent chains of comparisons run in parallel.
    a = ILLEGAL
    b = ILLEGAL
    c = ILLEGAL
    d = ILLEGAL
    for action in range(0, actions - 3, 4):
        a = max(a, row.values[action])
        b = max(b, row.values[action + 1])
        c = max(c, row.values[action + 2])
        d = max(d, row.values[action + 3])
    for action in range(actions // 4 * 4, actions):
        a = max(a, row.values[action])
    return max(max(a, b), max(c, d))


@part
def improve(row: np.record, action: int, target: float, rate: float) -> None:
    """Q ← Q + rate (target - Q), computed in float64 and stored as float32."""
    old = np.float64(row.values[action])
    row.values[action] = np.float32(old + rate * (target - old))


@part
def one_above(row: np.record, actions: int, threshold: np.float32, bits: np.uint64) -> int:
    """A random action with a value of at least the threshold, all equally likely; without branches."""
    count = 0
    for action in range(actions):
        count += row.values[action] >= threshold
    skip = scale(bits, count)
    chosen = 0
    passed = 0
    for action in range(actions):
        passed += row.values[action] >= threshold
        chosen += passed <= skip
    return chosen


@part
def lower_half(bits: np.uint64) -> np.int64:
    """The lower 32 of 64 random bits; `scale` uses the upper ones."""
    return np.int64(bits & np.uint64(0xFFFFFFFF))


@rule
def unit(bits: np.uint64) -> np.float64:
    """The lower half of 64 random bits as a number from 0 up to 1."""
    return np.float64(lower_half(bits)) * UNIT
