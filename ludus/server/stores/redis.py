"""Sessions in Redis, which workers on several machines share.

Each operation is one Lua script, which Redis runs atomically: the comparison of the counter, the expiry by the time of
the server, and the removal of the least recently used sessions. All keys are on one server; a cluster is not supported.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ludus.server.problems import Problem
from ludus.server.stores import Limits, Record
from ludus.types import LudusError

Result = TypeVar("Result")
SECONDS = 5.0
"""how long an operation may take"""
COMMON = """
local prefix, id, expiry = KEYS[1], ARGV[1], tonumber(ARGV[2])
local sessions, used, gone, labels = prefix .. 'session:', prefix .. 'used', prefix .. 'gone', prefix .. 'labels'
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local function forget(id)
  local label = redis.call('HGET', sessions .. id, 'label')
  redis.call('DEL', sessions .. id)
  redis.call('ZREM', used, id)
  if label and redis.call('HINCRBY', labels, label, -1) <= 0 then redis.call('HDEL', labels, label) end
  return label
end
local function remove(id)
  forget(id)
  redis.call('ZADD', gone, now, id)
end
local function remove_expired(most)
  local old = redis.call('ZRANGEBYSCORE', used, '-inf', now - expiry, 'LIMIT', 0, most)
  for _, each in ipairs(old) do remove(each) end
  local last = id ~= '' and redis.call('ZSCORE', used, id)
  if last and tonumber(last) <= now - expiry then remove(id) end
end
"""
GET = """
remove_expired(10)
local found = redis.call('HMGET', sessions .. id, 'counter', 'data', 'label')
if not found[1] then return false end
redis.call('ZADD', used, now, id)
return found
"""
PUT = """
local expected, counter, data, label = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local most, most_gone = tonumber(ARGV[7]), tonumber(ARGV[8])
remove_expired(100)
if (redis.call('HGET', sessions .. id, 'counter') or '') ~= expected then return 0 end
if expected ~= '' then forget(id) end
redis.call('HSET', sessions .. id, 'counter', counter, 'data', data, 'label', label)
redis.call('HINCRBY', labels, label, 1)
redis.call('ZADD', used, now, id)
local above = redis.call('ZCARD', used) - most
if above > 0 then
  for _, each in ipairs(redis.call('ZRANGE', used, 0, above - 1)) do remove(each) end
end
redis.call('ZREMRANGEBYRANK', gone, 0, -most_gone - 1)
return 1
"""
DELETE = """
remove_expired(10)
if forget(id) then return 1 end
return 0
"""
IS_GONE = """
remove_expired(10)
if redis.call('ZSCORE', gone, id) then return 1 end
return 0
"""
COUNTS = """
remove_expired(1000)
return redis.call('HGETALL', labels)
"""


class RedisStore:
    """Keeps records on the server at `url` (redis://host:6379/0), under keys that begin with `prefix`."""

    def __init__(self, url: str, limits: Limits | None = None, prefix: str = "ludus:") -> None:
        self._url, self._limits, self._prefix = url, limits or Limits(), prefix

    async def open(self) -> None:
        """Connect to the server."""
        try:
            import redis.asyncio as client
            import redis.exceptions as errors
        except ModuleNotFoundError:
            raise LudusError("sessions in Redis need its client: pip install 'ludus[redis]'") from None
        self._error: type[Exception] = errors.RedisError
        try:
            self._client = client.Redis.from_url(
                self._url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, health_check_interval=30
            )
            await self._client.ping()
        except (errors.RedisError, OSError, ValueError) as error:
            raise LudusError(f"cannot reach Redis: {error}; check its address and that it is running") from None
        scripts = {"get": GET, "put": PUT, "delete": DELETE, "is_gone": IS_GONE, "counts": COUNTS}
        self._scripts = {name: self._client.register_script(COMMON + text) for name, text in scripts.items()}

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(self, id: str) -> Record | None:
        """The record, which counts as a use."""
        found = await self._run("get", id)
        return Record(int(found[0]), found[1], found[2].decode()) if found else None

    async def put(self, id: str, record: Record, expected: int | None) -> bool:
        """Store a record if the counter is the expected one."""
        before = "" if expected is None else expected
        most, gone = max(1, self._limits.sessions), self._limits.gone
        return await self._run("put", id, before, record.counter, record.data, record.label, most, gone) == 1

    async def delete(self, id: str) -> bool:
        """Remove a record; whether there was one."""
        return await self._run("delete", id) == 1

    async def is_gone(self, id: str) -> bool:
        """Whether the record has expired or was removed to make room."""
        return await self._run("is_gone", id) == 1

    async def counts(self) -> dict[str, int]:
        """The number of records by label."""
        found = await self._run("counts", "")
        return {label.decode(): int(count) for label, count in zip(found[::2], found[1::2], strict=True)}

    async def _run(self, name: str, id: str, *values: str | int | bytes) -> Any:
        expiry = int(self._limits.expiry * 1000)
        try:
            return await self._scripts[name](keys=[self._prefix], args=[id, expiry, *values])
        except (self._error, OSError) as error:
            detail = f"the store of sessions does not answer: {error}"
            raise Problem(503, "store_unavailable", detail, retry_after=1) from None
