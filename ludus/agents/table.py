"""Tables of action values: where a position's row is, what stands in it, and the few rules that read and write it.

A row is a cache line (or a few): the values, illegal actions at -1e30 so that no mask is needed, and a count of visits.
Positions come from the observation: numbered where its declared ranges allow it, else found by their hash. Rows are
never moved once they are given out, so whoever remembers a place may keep it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ludus.types import Array, LudusError
from ludus.words import bounds, kernel, part, rule
from ludus.words.random import FIRST, S32, mix, scale
from ludus.words.rows import as_plain, bare, compiling

ILLEGAL = np.float32(-1e30)
ANY_LEGAL = np.float32(-1e29)
LINE = 64
"""bytes of a cache line"""
LARGEST_NUMBERED = 2**24
"""positions; a larger space is hashed, because only a small part of it is ever seen"""
SMALLEST = 2**12
"""rows that a hashed table begins with"""
SLOT = np.dtype([("key", np.uint64), ("place", np.int64)])
UNIT = 2.0**-32
Fields = tuple[tuple[str, Any], ...]


class Positions(NamedTuple):
    """How an observation becomes the number of a row."""

    count: int  # type: ignore[assignment]  # a tuple's own method of this name is not missed
    """how many positions there are, 0 where they are hashed"""
    record: np.dtype[Any]
    code: np.dtype[Any]
    """the type of the numbers that an observation is read as: 64-bit words where it is hashed"""
    lows: Array
    weights: Array

    def new_observations(self, count: int) -> tuple[Array, Array]:
        """Records of zeros, and [count, numbers] the same bytes as plain numbers."""
        size = -(-self.record.itemsize // self.code.itemsize) * self.code.itemsize
        memory = np.zeros(count * size, np.uint8)
        # A record may end before the last word does; the strides step over the rest.
        rows: Array = np.ndarray((count,), self.record, memory, strides=(size,))
        codes = memory.view(self.code).reshape(count, size // self.code.itemsize)
        return rows if compiling() else as_plain(rows), codes


def positions_of(name: str, observation: np.dtype[Any]) -> Positions:
    """Number the positions of a game if that fits, else hash them; continuous observations are refused."""
    fields = {field: observation[field] for field in observation.names or ()}
    for field, kind in fields.items():
        if kind.base.kind not in "iub":
            raise LudusError(
                f"{name}: its observation {field} is continuous, and a table needs numbered positions; "
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


def row_dtype(actions: int, extra: Fields = ()) -> np.dtype[Any]:
    """Values, what a method wants beside each of them, and the visits; padded to whole cache lines."""
    fields = [("values", np.float32), *extra]
    inside = sum(np.dtype(kind).itemsize * actions for _, kind in fields)
    size = -(-(inside + 8) // LINE) * LINE
    offsets = np.cumsum([0, *(np.dtype(kind).itemsize * actions for _, kind in fields)])[:-1].tolist()
    names = [name for name, _ in fields]
    formats: list[Any] = [(kind, (actions,)) for _, kind in fields]
    return np.dtype({"names": [*names, "visits"], "formats": [*formats, np.uint64],
                     "offsets": [*offsets, size - 8], "itemsize": size})  # fmt: skip


class Table:
    """What a tabular agent has learned: rows of values, found by number or by hash.

    `known` lists, in the order of discovery, the numbers of the rows in use, or their keys where positions are hashed
    (the rows then lie in that order themselves). `used[0]` says how many there are.
    """

    def __init__(self, count: int, actions: int, extra: Fields = (), capacity: int = SMALLEST) -> None:
        self.count, self.actions, self.extra = count, actions, extra
        self.used = np.zeros(1, np.int64)
        self._allocate(count or capacity)

    @property
    def hashed(self) -> bool:
        return self.count == 0

    def __len__(self) -> int:
        """How many positions were seen."""
        return int(self.used[0])

    @property
    def places(self) -> Array:
        """Where the known positions lie in `rows`, in the order of discovery."""
        return np.arange(len(self)) if self.hashed else self.known[: len(self)].astype(np.int64)

    def grow(self) -> None:
        """Twice the room for hashed positions; every row keeps its place."""
        rows, known = self.rows, self.known
        self._allocate(2 * len(rows))
        self.rows[: len(rows)], self.known[: len(known)] = rows, known
        fill_index(self.index, self.known, len(self))

    def copy(self) -> Table:
        """Another table with the same content."""
        twin = Table(self.count, self.actions, self.extra, len(self.rows))
        twin.take(self)
        return twin

    def take(self, other: Table) -> None:
        """Become equal to another table, in place where the room is the same."""
        if len(self.rows) != len(other.rows):
            self._allocate(len(other.rows))
        for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
            mine.view(np.uint8)[:] = theirs.view(np.uint8)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """What compiled code is handed: one by one, because it would count references to arrays of a tuple."""
        return self.rows, self.known, self.index, self.used

    def state(self) -> dict[str, Array]:
        """The rows in use as plain arrays, for a checkpoint."""
        rows = self.rows[self.places]
        columns = {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names or ()}
        return {"known": self.known[: len(self)].copy(), "count": np.array([self.count]), **columns}

    @classmethod
    def from_state(cls, state: Mapping[str, Array], actions: int, extra: Fields = ()) -> Self:
        """The table that `state` was taken from."""
        check_state(state, actions, row_dtype(actions, extra))
        count, used = int(state["count"][0]), len(state["known"])
        places = np.arange(used) if count == 0 else state["known"].astype(np.int64)
        capacity = count or 2 ** math.ceil(math.log2(max(used, SMALLEST)))
        if count < 0 or (used and not 0 <= int(places.min()) <= int(places.max()) < capacity):
            raise damaged("it knows positions that it has no room for")
        table = cls(count, actions, extra, capacity)
        table.used[0], table.known[:used] = used, state["known"]
        for name in table.rows.dtype.names or ():
            table.rows[name][places] = state[name]
        if table.hashed:
            fill_index(table.index, table.known, used)
        if np.count_nonzero(table.index["key"] if table.hashed else table.rows["visits"]) != used:
            raise damaged("it knows a position twice")
        return table

    def _allocate(self, capacity: int) -> None:
        dtype = row_dtype(self.actions, self.extra)
        check_memory(capacity, capacity * (dtype.itemsize + 8 + (2 * SLOT.itemsize if self.hashed else 0)))
        rows = aligned(capacity, dtype)
        self.rows = rows if compiling() else as_plain(rows)
        self.known = np.zeros(capacity, np.uint64)
        # Half of the slots stay free, so that a search for a key soon ends.
        index = np.zeros(2 ** math.ceil(math.log2(2 * capacity)) if self.hashed else 0, SLOT)
        self.index = index if compiling() else as_plain(index)


def check_state(state: Mapping[str, Array], actions: int, dtype: np.dtype[Any]) -> None:
    """Refuse what no table of such rows can have left; numbers that are none come from values that ran away."""
    names = dtype.names or ()
    missing = {"known", "count", *names} - set(state)
    if missing:
        raise LudusError(f"this is not a table of this method: it lacks {', '.join(sorted(missing))}")
    wanted = {"count": (np.dtype(np.int64), (1,)), "known": (np.dtype(np.uint64), (state["known"].size,))}
    wanted |= {name: (dtype[name].base, (state["known"].size, *dtype[name].shape)) for name in names}
    for name, form in wanted.items():
        if (state[name].dtype, state[name].shape) != form:
            raise damaged(f"its {name} are not as those of a game with {actions} actions")
    if not np.isfinite(state["values"]).all() or not state["visits"].all():
        raise damaged("it holds values that are no numbers, or positions that were never visited")


def damaged(what: str) -> LudusError:
    return LudusError(f"this table is damaged: {what}; take another checkpoint")


def aligned(count: int, dtype: np.dtype[Any]) -> Array:
    """Records of zeros that begin at a cache line, so that no row lies across one line more than it must."""
    memory = np.zeros(count * dtype.itemsize + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + count * dtype.itemsize].view(dtype)


def check_memory(positions: int, needed: int) -> None:
    """A sentence before memory is taken that is not there."""
    free = available_memory()
    if needed > free:
        raise LudusError(
            f"a table of {positions:,} positions needs {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free; "
            "use fewer bins, a smaller game, or a deep agent"
        )


def available_memory() -> int:
    """Bytes that can be taken without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo") as facts:
            return next(int(line.split()[1]) * 1024 for line in facts if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 2**63


@rule
def numbered(codes: Any, lows: Any, weights: Any, i: Any) -> Any:
    """The row of a numbered observation: a number in mixed radix."""
    index = 0
    for place in range(codes.shape[1]):
        index += (np.int64(codes[i, place]) - lows[place]) * weights[place]
    return index


@rule
def fingerprint(codes: Any, i: Any, seat: Any) -> Any:
    """64 bits that stand for what a seat sees, never 0, which marks a free slot."""
    key = FIRST + np.uint64(seat)
    for place in range(codes.shape[1]):
        key = mix(key ^ np.uint64(codes[i, place])) * FIRST + np.uint64(place + 1)
    return key | np.uint64(1)


@rule
def slot_of(index: Any, key: Any) -> Any:
    """The slot of a key: its own, or the free one where it belongs. The index is never more than half full."""
    mask = np.int64(len(index) - 1)
    slot = np.int64(key >> S32) & mask
    while index[slot].key != key and index[slot].key != np.uint64(0):
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_index(index: Any, known: Any, used: Any) -> Any:
    """Enter the first `used` keys."""
    for place in range(used):
        slot = index[slot_of(index, known[place])]
        slot.key = known[place]
        slot.place = place


@part
def highest(row: Any, actions: Any) -> Any:
    """The largest value of a row."""
    # Four at a time: one chain of comparisons would wait for itself.
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
def improve(row: Any, action: Any, target: Any, rate: Any) -> Any:
    """Q ← Q + rate (target - Q), reckoned in 64 bits and kept in 32, in every form of every method."""
    old = np.float64(row.values[action])
    row.values[action] = np.float32(old + rate * (target - old))


@part
def one_above(row: Any, actions: Any, threshold: Any, bits: Any) -> Any:
    """One of the actions whose value reaches the threshold, each as likely as the other, without a branch."""
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
def lower_half(bits: Any) -> Any:
    """32 of 64 random bits; `scale` reads the others."""
    return np.int64(bits & np.uint64(0xFFFFFFFF))


@rule
def unit(bits: Any) -> Any:
    """The lower half of 64 random bits as a number from 0 up to 1."""
    return np.float64(lower_half(bits)) * UNIT
