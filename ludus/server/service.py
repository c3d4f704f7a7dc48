"""Everything of the server but HTTP: models, sessions and batches, in one event loop."""

from __future__ import annotations

import asyncio
import logging
import pathlib
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numpy.typing import ArrayLike

from ludus.files import trusted_names
from ludus.server import loading, sessions
from ludus.server.batching import Batcher, Decided, Meter
from ludus.server.loading import Source
from ludus.server.model import Loaded, Memory, ModelInfo, needs_game
from ludus.server.problems import Problem
from ludus.server.rows import Observation
from ludus.server.sessions import NOTHING, Answer, Session, SessionInfo
from ludus.server.stores import Record, Store
from ludus.types import LudusError

log = logging.getLogger("ludus.server")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
SEEDS = 2**32
Tell = Callable[[str, str, int, int], None]
"""(model, what, done, of how many): progress of loading"""


@dataclass(frozen=True)
class Settings:
    """How requests are answered."""

    batch: int = 16
    """maximum rows of a batch"""
    queue: int = 256
    """rows that may wait for a model; more are answered 503 (overloaded)"""
    timeout: float = 10.0
    """seconds after which a request that still waits is answered 503 (timeout)"""
    sample: bool = False
    """sample actions from the policy instead of choosing the most likely one; repeatable for the seed of a session"""
    code_list: str = ""
    """a file with the codes of cards that /v0 accepts; empty for those of the model"""


class Served(NamedTuple):
    """A version of a model that is ready to decide."""

    loaded: Loaded
    batcher: Batcher


@dataclass
class Service:
    """Serves agents to sessions; all coroutines run in one event loop.

    `agents` are runs, checkpoints, exported files, or agents with their game (`connect4:mcts(200)`), each optionally
    with a name: `best=runs/car-0007`.
    """

    agents: Sequence[str]
    store: Store
    settings: Settings = field(default_factory=Settings)
    ready: bool = field(default=False, init=False)
    models: dict[str, Loaded] = field(default_factory=dict, init=False)
    """the newest version of each model by name"""
    meters: dict[str, Meter] = field(default_factory=dict, init=False)
    """counters by the name of a model"""
    timeouts: int = field(default=0, init=False)
    """requests that have waited too long"""
    _sources: dict[str, Source] = field(default_factory=dict, init=False, repr=False)
    _served: dict[tuple[str, str], Served] = field(default_factory=dict, init=False, repr=False)
    _loading: dict[tuple[str, str], asyncio.Task[Served]] = field(default_factory=dict, init=False, repr=False)
    _turns: sessions.Turns = field(default_factory=sessions.Turns, init=False, repr=False)

    async def start(self, tell: Tell = lambda *_: None) -> None:
        """Open the store, load all models and compile them; then the service is `ready`."""
        for text in self.agents:
            source = loading.source_of(text)
            if source.name in self._sources:
                raise LudusError(f"there are two models {source.name}; give one of them another name: NAME={text}")
            self._sources[source.name] = source
            self.meters[source.name] = Meter()
        await self.store.open()
        try:
            for source in self._sources.values():
                self.models[source.name] = (await self._load(source, tell=tell)).loaded
        except BaseException:
            await self.close()
            raise
        self.ready = True

    async def close(self) -> None:
        """Answer what is waiting, refuse everything new, and close the store."""
        self.ready = False
        for task in self._loading.values():
            task.cancel()
        for served in self._served.values():
            await served.batcher.close()
        await asyncio.sleep(0)  # the last decisions are stored in this turn of the loop
        while self._turns.busy:
            await asyncio.sleep(0.005)
        await self.store.close()

    def describe(self) -> list[ModelInfo]:
        """All models, for GET /v1/models."""
        return [model.describe() for model in self.models.values()]

    @property
    def waiting(self) -> dict[str, int]:
        """The number of rows that wait or are being decided, by the name of a model."""
        rows = dict.fromkeys(self.models, 0)
        for (name, _), served in self._served.items():
            rows[name] += served.batcher.waiting
        return rows

    async def open_session(self, model: str, seat: int = 0, seed: int | None = None) -> SessionInfo:
        """A new session with an agent that plays this seat."""
        self._check_ready()
        loaded = self.model(model)
        if not loaded.acts_on_observations:
            raise needs_game(model)
        loaded.check_seat(seat)
        seed = secrets.randbelow(SEEDS) if seed is None else seed
        session = Session(loaded.name, loaded.version, seat, seed, loaded.memory_row(), NOTHING)
        id = secrets.token_urlsafe(16)  # noqa: A001
        await self.store.put(id, sessions.encode(session, 0), None)
        return SessionInfo(id, loaded.name, loaded.version, seat, 0)

    async def session(self, session: str) -> SessionInfo:
        """What a session is, and the index that it expects."""
        record = await self._record(session)
        found = sessions.decode(record)
        return SessionInfo(session, found.model, found.version, found.seat, record.counter)

    async def act(self, session: str, index: int, observation: Observation, mask: ArrayLike | None = None) -> Answer:
        """The decision for an observation; with the last index, the last answer again."""
        self._check_ready()
        try:
            async with asyncio.timeout(self.settings.timeout) as limit:
                await self._turns.enter(session)
                try:
                    return await self._act(session, index, observation, mask, limit)
                finally:
                    self._turns.leave(session)
        except TimeoutError:
            raise self._timed_out() from None

    async def close_session(self, session: str) -> None:
        """Forget a session."""
        if not (ID.fullmatch(session) and await self.store.delete(session)):
            raise await self._no_session(session)

    async def decide(
        self, model: str, version: str, memory: Memory, observation: Observation, mask: ArrayLike | None, seat: int,
        first: bool, seed: int,
    ) -> Decided:  # fmt: skip
        """One decision with a given memory (`models[model].memory_row()` at first), without a session.

        The version is that of an earlier decision, or "" for the newest.
        """
        self._check_ready()
        try:
            async with asyncio.timeout(self.settings.timeout):
                served = await self._version(model, version or self.model(model).version)
                row = served.loaded.read(observation, mask, seat, first, memory, seed % SEEDS)
                return await served.batcher.submit(row)
        except TimeoutError:
            raise self._timed_out() from None

    def model(self, name: str) -> Loaded:
        """The newest version of a model; raises Problem if there is none of this name."""
        if name not in self.models:
            detail = f'there is no model "{name[:100]}"; GET /v1/models lists all'
            raise Problem(404, "model_not_found", detail, models=list(self.models))
        return self.models[name]

    async def reload(self) -> list[str]:
        """Look for better checkpoints in the folders of runs; returns the names of models with a new version.

        New sessions use the new version, old ones keep theirs. Versions without sessions are dropped.
        """
        changed = []
        for name, source in self._sources.items():
            try:
                folder = await asyncio.to_thread(loading.newest, source)
                if folder is None or loading.version_of(folder) == self.models[name].version:
                    continue
                self.models[name] = (await self._version(name, loading.version_of(folder))).loaded
                changed.append(name)
            except (LudusError, OSError) as error:
                log.warning("%s keeps its version %s: %s", name, self.models[name].version, error)
        await self._drop_unused()
        return changed

    async def _act(
        self, id: str, index: int, observation: Observation, mask: ArrayLike | None, limit: asyncio.Timeout
    ) -> Answer:
        while True:
            record = await self._record(id)
            session = sessions.decode(record)
            sessions.check_index(index, record.counter)
            if index < record.counter:
                return sessions.last_answer(session)
            served = await self._version(session.model, session.version)
            seed = sessions.seed_of(session.seed, index)
            row = served.loaded.read(observation, mask, session.seat, index == 0, session.memory, seed)
            decided = await served.batcher.submit(row)
            answer, after = sessions.answered(session, index, decided)
            # From here on the request counts: the time limit must not interrupt what is being stored.
            limit.reschedule(None)
            if await self.store.put(id, sessions.encode(after, index + 1), index):
                return answer
            # Another worker has answered this request, or the session was closed; the next record tells.

    async def _record(self, id: str) -> Record:
        record = await self.store.get(id) if ID.fullmatch(id) else None
        if record is None:
            raise await self._no_session(id)
        return record

    async def _no_session(self, id: str) -> Problem:
        if ID.fullmatch(id) and await self.store.is_gone(id):
            return Problem(410, "session_gone", "this session was not used for long and has been removed; open another")
        return Problem(404, "session_not_found", "there is no session with this id; it may have been closed")

    async def _version(self, name: str, version: str) -> Served:
        """A version of a model; loaded if another worker, or an earlier process, has served it."""
        served = self._served.get((name, version))
        if served is not None:
            return served
        source = self._sources.get(name)
        folder = await asyncio.to_thread(loading.find_version, source, version) if source else None
        if source is None or folder is None:
            detail = f"version {version} of {name} is no longer served, so this session cannot go on; open another"
            raise Problem(410, "session_gone", detail)
        task = self._loading.get((name, version))
        if task is None:
            task = asyncio.create_task(self._load(source, folder))
            self._loading[name, version] = task
            task.add_done_callback(lambda _: self._loading.pop((name, version), None))
        return await asyncio.shield(task)

    async def _load(self, source: Source, folder: pathlib.Path | None = None, tell: Tell = lambda *_: None) -> Served:
        """Load and compile a version, off the event loop."""

        def loaded() -> Loaded:
            tell(source.name, "reading", 0, 1)  # if its game has not been compiled yet, this compiles it
            with trusted_names():
                model = loading.load(source, self.settings.sample, self.settings.batch, folder)
                model.warm(lambda *progress: tell(source.name, *progress))
            return model

        model = await asyncio.to_thread(loaded)
        served = Served(model, Batcher(model, self.settings.queue, self.meters[source.name]))
        self._served[model.name, model.version] = served
        return served

    async def _drop_unused(self) -> None:
        """Free the memory of old versions that have no sessions and no games."""
        counts = await self.store.counts()
        # The label of a game lists the versions that play it, after commas.
        listed = "".join(f", {label}," for label in counts)
        for (name, version), served in list(self._served.items()):
            used = version == self.models[name].version or f", {sessions.label_of(name, version)}," in listed
            if not used and not served.batcher.waiting:
                del self._served[name, version]
                await served.batcher.close()

    def _check_ready(self) -> None:
        if not self.ready:
            raise Problem(503, "not_ready", "the server is starting or stopping; try again", retry_after=1)

    def _timed_out(self) -> Problem:
        self.timeouts += 1
        detail = f"the request has waited for {self.settings.timeout:g} seconds; it has changed nothing: try again"
        return Problem(503, "timeout", detail, retry_after=1)


__all__ = ["Answer", "Decided", "Loaded", "ModelInfo", "Observation", "Problem", "Service", "SessionInfo", "Settings"]
