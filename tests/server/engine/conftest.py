"""One event loop for all tests of a module, the three stores, and small agents to serve."""

import asyncio
import shutil
import socket
import subprocess
import time

import pytest
import redis.asyncio

from ludus.agents import checkpoint
from ludus.bridges import identity_of, open_pool
from ludus.server.service import Service, Settings
from ludus.server.stores import Limits
from ludus.server.stores.memory import MemoryStore
from ludus.server.stores.redis import RedisStore
from ludus.server.stores.sqlite import SQLiteStore

NO_REDIS = "redis-server is missing; install the Debian package redis-server"


@pytest.fixture(scope="module")
def run():
    """Runs a coroutine in the event loop of this module."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory):
    """The address of a real Redis on a free port."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip(NO_REDIS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            assert server.poll() is None, "redis-server has ended"
            time.sleep(0.02)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait()


class Clock:
    """A clock that tests move."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


class Backend:
    """Opens stores that share their records (except in memory), and moves their clock."""

    def __init__(self, kind, place):
        self.kind, self.place, self.clock, self.stores = kind, place, Clock(), []

    def new(self, limits):
        """A store that is not open yet."""
        match self.kind:
            case "memory":
                return MemoryStore(limits, self.clock)
            case "sqlite":
                return SQLiteStore(self.place, limits, self.clock)
            case _:
                return RedisStore(self.place, limits)

    async def open(self, limits=None):
        store = self.new(limits or Limits())
        await store.open()
        self.stores.append(store)
        return store

    async def elapse(self, seconds):
        """Let all records grow older."""
        self.clock.now += seconds
        if self.kind == "redis":
            async with redis.asyncio.Redis.from_url(self.place) as client:
                for name in await client.zrange("ludus:used", 0, -1):
                    await client.zincrby("ludus:used", -seconds * 1000, name)

    async def close(self):
        if self.kind == "redis":
            async with redis.asyncio.Redis.from_url(self.place) as client:
                await client.flushall()
        for store in self.stores:
            await store.close()


def new_backend(kind, request, tmp_path):
    place = {"memory": "", "sqlite": tmp_path / "sessions.db"}.get(kind)
    return Backend(kind, request.getfixturevalue("redis_url") if place is None else place)


@pytest.fixture(params=["memory", "sqlite", "redis"])
def backend(request, tmp_path, run):
    """Each of the stores."""
    made = new_backend(request.param, request, tmp_path)
    yield made
    run(made.close())


@pytest.fixture(params=["sqlite", "redis"])
def shared(request, tmp_path, run):
    """Each of the stores that several workers can share."""
    made = new_backend(request.param, request, tmp_path)
    yield made
    run(made.close())


@pytest.fixture
def serve(run):
    """Starts services, and closes them after the test."""
    started = []

    def start(*agents, store=None, settings=None):
        service = Service(agents, store or MemoryStore(), settings or Settings(batch=4))
        run(service.start())
        started.append(service)
        return service

    yield start
    for service in started:
        run(service.close())


@pytest.fixture(scope="session")
def save_agent():
    """Writes checkpoints of untrained networks."""
    from ludus.agents.neural import agent as deep

    def save(folder, game, args, number=1, change=lambda params: params, score=None, seed=0):
        pool = open_pool(game, 1, 0, threads=1)
        agent = deep.new_agent(pool, args)
        params = checkpoint.flatten(change(agent.init(pool.spec, seed)))
        described = deep.describe(args, False, False)
        manifest = checkpoint.describe(identity_of(pool), described, {"kind": "ppo"}, score=score)
        pool.close()
        return checkpoint.save(folder, number, checkpoint.Checkpoint(manifest, {"params": params}))

    return save
