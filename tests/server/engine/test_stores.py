"""All stores behave alike; the shared ones also between workers."""

import asyncio
import sqlite3

import pytest

from ludus.server.problems import Problem
from ludus.server.stores import Limits, Record, store_of
from ludus.server.stores.memory import MemoryStore
from ludus.server.stores.redis import RedisStore
from ludus.server.stores.sqlite import SQLiteStore
from ludus.types import LudusError

A, B, C = (Record(index, bytes([index]) * 3, "car@1") for index in range(3))


def test_a_record_is_read_as_it_was_stored(backend, run):
    async def check():
        store = await backend.open()
        data = bytes(range(256)) * 4096
        assert await store.put("one", Record(0, data, "car@1"), None)
        assert await store.put("two", Record(7, b"", ""), None)
        assert await store.get("one") == Record(0, data, "car@1")
        assert await store.get("two") == Record(7, b"", "")
        assert await store.get("three") is None

    run(check())


def test_put_compares_the_counter(backend, run):
    async def check():
        store = await backend.open()
        assert not await store.put("one", B, 0)
        assert await store.put("one", A, None)
        assert not await store.put("one", B, None)
        assert not await store.put("one", C, 1)
        assert await store.get("one") == A
        assert await store.put("one", B, 0)
        assert not await store.put("one", C, 0)
        assert await store.get("one") == B

    run(check())


def test_only_one_of_many_puts_at_once_succeeds(backend, run):
    async def check():
        stores = [await backend.open() for _ in range(1 if backend.kind == "memory" else 3)]
        await stores[0].put("one", A, None)
        puts = [stores[number % len(stores)].put("one", Record(1, b"%d" % number), 0) for number in range(20)]
        stored = await asyncio.gather(*puts)
        assert sum(stored) == 1
        for store in stores:
            assert await store.get("one") == Record(1, b"%d" % stored.index(True))

    run(check())


def test_a_deleted_record_is_not_gone(backend, run):
    async def check():
        store = await backend.open()
        await store.put("one", A, None)
        assert await store.delete("one")
        assert not await store.delete("one")
        assert await store.get("one") is None
        assert not await store.is_gone("one")
        assert not await store.put("one", B, 0)

    run(check())


def test_records_expire_when_they_are_not_used(backend, run):
    async def check():
        store = await backend.open(Limits(expiry=60))
        for name in ("read", "written", "idle", "late"):
            await store.put(name, A, None)
        await backend.elapse(40)
        assert await store.get("read") == A
        assert await store.put("written", B, 0)
        assert not await store.is_gone("idle")
        await backend.elapse(40)
        assert await store.is_gone("idle")
        assert await store.get("idle") is None
        assert await store.is_gone("idle")
        assert not await store.put("late", B, 0)
        assert not await store.delete("late")
        assert await store.get("read") == A
        assert await store.get("written") == B
        assert not await store.is_gone("read")
        assert not await store.is_gone("never")

    run(check())


def test_the_least_recently_used_record_makes_room(backend, run):
    async def check():
        store = await backend.open(Limits(sessions=3))
        for name in ("a", "b", "c"):
            await store.put(name, A, None)
            await backend.elapse(100)
        await store.get("a")
        await backend.elapse(100)
        await store.put("d", A, None)
        assert [await store.is_gone(name) for name in "abcd"] == [False, True, False, False]
        assert await store.get("b") is None
        assert await store.get("a") == A
        assert sum((await store.counts()).values()) == 3

    run(check())


def test_few_ids_of_removed_records_are_remembered(backend, run):
    async def check():
        store = await backend.open(Limits(sessions=1, gone=2))
        for name in "abcdef":
            await store.put(name, A, None)
            await backend.elapse(1)
        assert not await store.is_gone("a")
        assert await store.is_gone("e")

    run(check())


def test_records_are_counted_by_label(backend, run):
    async def check():
        store = await backend.open(Limits(expiry=60))
        await store.put("one", A, None)
        await store.put("two", A, None)
        await store.put("three", Record(0, b"", "duel@2"), None)
        await store.put("one", B, 0)
        assert await store.counts() == {"car@1": 2, "duel@2": 1}
        await store.delete("three")
        assert await store.counts() == {"car@1": 2}
        await backend.elapse(61)
        assert await store.counts() == {}

    run(check())


def test_another_worker_sees_the_same_records(shared, run):
    async def check():
        first, second = await shared.open(), await shared.open()
        await first.put("one", A, None)
        assert await second.get("one") == A
        assert await second.put("one", B, 0)
        assert await first.get("one") == B
        assert not await first.put("one", B, 0)

    run(check())


def test_a_store_is_chosen_by_name(tmp_path):
    limits = Limits()
    assert isinstance(store_of("memory", limits), MemoryStore)
    assert isinstance(store_of(f"sqlite:{tmp_path}/x.db", limits), SQLiteStore)
    assert isinstance(store_of("redis://localhost:1/0", limits), RedisStore)
    with pytest.raises(LudusError, match='unknown store "postgres:x"'):
        store_of("postgres:x", limits)


def test_sqlite_rejects_the_file_of_another_program(tmp_path, run):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(LudusError, match="another database"):
        run(SQLiteStore(path).open())
    with pytest.raises(LudusError, match="No such file"):
        run(SQLiteStore(tmp_path / "missing" / "x.db").open())
    (tmp_path / "text.db").write_text("not a database, but long enough to have a header of some kind" * 20)
    with pytest.raises(LudusError, match="not a database"):
        run(SQLiteStore(tmp_path / "text.db").open())


def test_sqlite_reports_a_lost_file_and_recovers(tmp_path, run):
    async def check():
        store = SQLiteStore(tmp_path / "x.db")
        await store.open()
        with pytest.raises(Problem) as raised:
            await store.put("one", Record(2**70, b""), None)
        assert (raised.value.status, raised.value.code) == (503, "store_unavailable")
        assert await store.put("one", A, None)
        await store.close()
        with pytest.raises(Problem):
            await store.get("one")

    run(check())


def test_redis_that_does_not_answer_is_an_error(run):
    with pytest.raises(LudusError, match="cannot reach Redis"):
        run(RedisStore("redis://127.0.0.1:1/0").open())
