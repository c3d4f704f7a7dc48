"""Where sessions are kept: in memory, in one SQLite file, or in Redis. All stores behave alike.

A record is bytes with a counter. `put` replaces a record only if its counter is the expected one, so that two workers
can never both answer the same step. Sessions expire when they are not used, and the least recently used one goes first
if there are too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ludus.types import LudusError


class Record(NamedTuple):
    """What is kept of a session."""

    counter: int
    """number of steps so far; `put` compares it"""
    data: bytes
    label: str = ""
    """what kind of session it is, such as the model and its version; `counts` counts them"""


@dataclass(frozen=True)
class Limits:
    """How long and how many sessions are kept."""

    expiry: float = 3600.0
    """seconds since the last use after which a session is removed"""
    sessions: int = 10_000
    """number of sessions; above it, the least recently used one is removed"""
    gone: int = 100_000
    """number of ids of removed sessions that are remembered, to answer 410 instead of 404"""


class Store(Protocol):
    """Keeps records by id. All methods run in the event loop and raise Problem(503) if the store cannot be reached."""

    async def open(self) -> None:
        """Connect; raises LudusError if that is not possible."""

    async def close(self) -> None: ...

    async def get(self, id: str) -> Record | None:
        """The record, which counts as a use; None if there is none, or if it has expired."""

    async def put(self, id: str, record: Record, expected: int | None) -> bool:
        """Store a record in place of the one with the counter `expected`, or with None as a new one.

        Returns False, and changes nothing, if there is another counter, no such record, or already one.
        """

    async def delete(self, id: str) -> bool:
        """Remove a record; whether there was one. A deleted id is not remembered as gone."""

    async def is_gone(self, id: str) -> bool:
        """Whether the record of this id has expired or was removed to make room, not too long ago."""

    async def counts(self) -> dict[str, int]:
        """The number of records by label."""


def store_of(text: str, limits: Limits) -> Store:
    """The store that an operator names: `memory`, `sqlite:FILE`, or the address of Redis (`redis://host:6379/0`)."""
    kind, _, rest = text.partition(":")
    if text == "memory":
        from ludus.server.stores.memory import MemoryStore

        return MemoryStore(limits)
    if kind == "sqlite" and rest:
        from ludus.server.stores.sqlite import SQLiteStore

        return SQLiteStore(rest, limits)
    if kind in ("redis", "rediss", "unix"):
        from ludus.server.stores.redis import RedisStore

        return RedisStore(text, limits)
    raise LudusError(f'unknown store "{text}"; expected memory, sqlite:FILE or redis://HOST:6379/0')
