"""Sessions in one SQLite file, which all workers of one machine share.

Every acknowledged step survives `kill -9`. `synchronous=NORMAL` is enough for that: in WAL mode a committed transaction
is in the system's page cache, which a dying process does not take with it. After a power failure the last transactions
may be missing, but the file is intact; FULL would wait for the disk at every step. One thread writes whatever
has arrived in one transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ludus.server.problems import Problem
from ludus.server.stores import Limits, Record
from ludus.types import LudusError

Result = TypeVar("Result")
FORMAT = 1
APPLICATION = 0x4C756475
"""marks the file as one of Ludus: `Ludu`"""
MOST_AT_ONCE = 64
"""operations in one transaction"""
BUSY_SECONDS = 5.0
"""how long a transaction waits for those of other processes"""
SCHEMA = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, counter INTEGER NOT NULL, data BLOB NOT NULL, label TEXT NOT NULL,
                       used REAL NOT NULL);
CREATE INDEX sessions_used ON sessions (used);
CREATE TABLE gone (id TEXT PRIMARY KEY, removed REAL NOT NULL);
CREATE INDEX gone_removed ON gone (removed);
"""


class Job(NamedTuple):
    """An operation for the thread of the connection."""

    run: Callable[[sqlite3.Connection], Any]
    writes: bool
    future: asyncio.Future[Any]


class SQLiteStore:
    """Keeps records in the file at `path`."""

    def __init__(
        self, path: str | pathlib.Path, limits: Limits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._path, self._limits, self._clock = pathlib.Path(path), limits or Limits(), clock
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def open(self) -> None:
        """Open or create the file."""
        connection = await asyncio.to_thread(self._connect)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, args=(connection,), name="ludus sessions", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Finish all operations and close the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            await asyncio.to_thread(thread.join)

    async def get(self, id: str) -> Record | None:
        """The record, which counts as a use."""
        found = await self._submit(lambda connection: self._read(connection, id), writes=False)
        if found is None:
            return None
        record, used = found
        now = self._clock()
        # Reading alone needs no lock of the file, so a use is noted only if that makes a difference.
        if now - used > self._limits.expiry / 50:
            await self._submit(lambda c: c.execute("UPDATE sessions SET used = ? WHERE id = ?", (now, id)), writes=True)
        return record

    async def put(self, id: str, record: Record, expected: int | None) -> bool:
        """Store a record if the counter is the expected one."""
        if expected is None:
            return await self._submit(lambda connection: self._insert(connection, id, record), writes=True)
        return await self._submit(lambda connection: self._update(connection, id, record, expected), writes=True)

    async def delete(self, id: str) -> bool:
        """Remove a record; whether there was one."""
        command = "DELETE FROM sessions WHERE id = ? AND used > ?"
        values = (id, self._clock() - self._limits.expiry)
        return await self._submit(lambda c: c.execute(command, values).rowcount == 1, writes=True)

    async def is_gone(self, id: str) -> bool:
        """Whether the record has expired or was removed to make room."""
        command = "SELECT (SELECT 1 FROM gone WHERE id = ?) OR (SELECT 1 FROM sessions WHERE id = ? AND used <= ?)"
        values = (id, id, self._clock() - self._limits.expiry)
        return await self._submit(lambda c: bool(c.execute(command, values).fetchone()[0]), writes=False)

    async def counts(self) -> dict[str, int]:
        """The number of records by label."""
        command = "SELECT label, count(*) FROM sessions WHERE used > ? GROUP BY label"
        values = (self._clock() - self._limits.expiry,)
        return await self._submit(lambda c: dict(c.execute(command, values).fetchall()), writes=False)

    def _connect(self) -> sqlite3.Connection:
        try:
            # Sessions contain the keys of seats, so only this user may read the file.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection, self._path)
            except BaseException:
                connection.close()
                raise
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or error
            raise LudusError(f'cannot keep sessions in "{self._path}": {reason}; choose another file') from None
        return connection

    def _read(self, connection: sqlite3.Connection, id: str) -> tuple[Record, float] | None:
        command = "SELECT counter, data, label, used FROM sessions WHERE id = ? AND used > ?"
        row = connection.execute(command, (id, self._clock() - self._limits.expiry)).fetchone()
        return None if row is None else (Record(*row[:3]), row[3])

    def _insert(self, connection: sqlite3.Connection, id: str, record: Record) -> bool:
        self._remove_old(connection)
        command = "INSERT OR IGNORE INTO sessions (id, counter, data, label, used) VALUES (?, ?, ?, ?, ?)"
        if connection.execute(command, (id, *record, self._clock())).rowcount != 1:
            return False
        (count,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
        self._remove(connection, "ORDER BY used LIMIT ?", max(0, count - self._limits.sessions))
        return True

    def _update(self, connection: sqlite3.Connection, id: str, record: Record, expected: int) -> bool:
        now = self._clock()
        command = (
            "UPDATE sessions SET counter = ?, data = ?, label = ?, used = ? WHERE id = ? AND counter = ? AND used > ?"
        )
        values = (*record, now, id, expected, now - self._limits.expiry)
        return connection.execute(command, values).rowcount == 1

    def _remove_old(self, connection: sqlite3.Connection) -> None:
        self._remove(connection, "WHERE used <= ?", self._clock() - self._limits.expiry)
        (count,) = connection.execute("SELECT count(*) FROM gone").fetchone()
        if count > self._limits.gone:
            command = "DELETE FROM gone WHERE id IN (SELECT id FROM gone ORDER BY removed LIMIT ?)"
            connection.execute(command, (count - self._limits.gone,))

    def _remove(self, connection: sqlite3.Connection, which: str, value: float) -> None:
        """Remove the sessions that a condition with one value selects, and remember their ids."""
        ids = connection.execute(f"SELECT id FROM sessions {which}", (value,)).fetchall()
        now = self._clock()
        connection.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?)", [(*row, now) for row in ids])
        connection.executemany("DELETE FROM sessions WHERE id = ?", ids)

    async def _submit(self, run: Callable[[sqlite3.Connection], Result], writes: bool) -> Result:
        if self._thread is None:
            raise Problem(503, "store_unavailable", "the store of sessions is closed", retry_after=1)
        future: asyncio.Future[Result] = self._loop.create_future()
        self._jobs.put(Job(run, writes, future))
        return await future

    def _work(self, connection: sqlite3.Connection) -> None:
        """The thread of the connection: all waiting operations form one transaction."""
        with contextlib.closing(connection):
            while (job := self._jobs.get()) is not None:
                jobs = [job]
                stopping = False
                while len(jobs) < MOST_AT_ONCE and not self._jobs.empty():
                    following = self._jobs.get()
                    if following is None:
                        stopping = True
                        break
                    jobs.append(following)
                self._loop.call_soon_threadsafe(_deliver, jobs, _transaction(connection, jobs))
                if stopping:
                    return


def _prepare(connection: sqlite3.Connection, path: pathlib.Path) -> None:
    """Check whose file it is, and create the tables in a new one."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not application:
        for command in SCHEMA.split(";"):
            connection.execute(command)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    elif (application, version) != (APPLICATION, FORMAT):
        connection.execute("ROLLBACK")
        found = f"sessions in format {version}" if application == APPLICATION else "another database"
        raise LudusError(f'"{path}" contains {found}; this version of ludus keeps format {FORMAT}: choose another file')
    connection.execute("COMMIT")


def _transaction(connection: sqlite3.Connection, jobs: list[Job]) -> list[Any]:
    """The results of some operations; the same error for all of them if the transaction failed."""
    try:
        connection.execute("BEGIN IMMEDIATE" if any(job.writes for job in jobs) else "BEGIN")
        results = [job.run(connection) for job in jobs]
        connection.execute("COMMIT")
    except Exception as error:  # the thread must go on, whatever one operation does
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        problem = Problem(503, "store_unavailable", f"the store of sessions does not answer: {error}", retry_after=1)
        return [problem] * len(jobs)
    return results


def _deliver(jobs: list[Job], results: list[Any]) -> None:
    for job, result in zip(jobs, results, strict=True):
        if job.future.done():  # the caller has given up
            continue
        if isinstance(result, Problem):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)
