"""Sessions in the memory of one process; they end with it."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from ludus.server.stores import Limits, Record


class MemoryStore:
    """Keeps records in the order of their last use, so that the oldest are always at the front."""

    def __init__(self, limits: Limits | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits or Limits(), clock
        self._records: OrderedDict[str, tuple[float, Record]] = OrderedDict()
        self._gone: OrderedDict[str, None] = OrderedDict()
        self._counts: Counter[str] = Counter()

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to close."""

    async def get(self, id: str) -> Record | None:
        """The record, which counts as a use."""
        now = self._clock()
        self._expire(now)
        used = self._records.get(id)
        if used is None:
            return None
        self._records[id] = now, used[1]
        self._records.move_to_end(id)
        return used[1]

    async def put(self, id: str, record: Record, expected: int | None) -> bool:
        """Store a record if the counter is the expected one."""
        now = self._clock()
        self._expire(now)
        used = self._records.get(id)
        if (None if used is None else used[1].counter) != expected:
            return False
        if used is not None:
            self._forget(used[1])
        self._records[id] = now, record
        self._records.move_to_end(id)
        self._counts[record.label] += 1
        while len(self._records) > self._limits.sessions:
            self._remove_oldest()
        return True

    async def delete(self, id: str) -> bool:
        """Remove a record; whether there was one."""
        self._expire(self._clock())
        used = self._records.pop(id, None)
        if used is not None:
            self._forget(used[1])
        return used is not None

    async def is_gone(self, id: str) -> bool:
        """Whether the record has expired or was removed to make room."""
        self._expire(self._clock())
        return id in self._gone

    async def counts(self) -> dict[str, int]:
        """The number of records by label."""
        self._expire(self._clock())
        return dict(self._counts)

    def _expire(self, now: float) -> None:
        last = now - self._limits.expiry
        while self._records and next(iter(self._records.values()))[0] <= last:
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        oldest, (_, record) = self._records.popitem(last=False)
        self._forget(record)
        self._gone[oldest] = None
        while len(self._gone) > self._limits.gone:
            self._gone.popitem(last=False)

    def _forget(self, record: Record) -> None:
        self._counts[record.label] -= 1
        if not self._counts[record.label]:
            del self._counts[record.label]
