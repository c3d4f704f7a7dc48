"""Game sessions: games that the server plays with persons and agents. The store holds the truth, this process a copy.

A game is stored after every move. A worker that finds a newer one in the store plays the missing moves again. A move
that fails drops the copy, so it changes nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
import msgspec

from ludus import games
from ludus.agents.player import Contestant
from ludus.agents.protocol import simulates
from ludus.dsl.cache import interpreted
from ludus.evaluation import preparation, replays
from ludus.server import sessions
from ludus.server.match import (
    MOST_MOVES,
    PERSON,
    Action,
    Match,
    Opening,
    Saved,
    Sent,
    check_opening,
    check_undo,
    compiling,
)
from ludus.server.messages import Advice, Move, NewGame, OpenedGame, State
from ludus.server.problems import Problem
from ludus.server.seating import Bench
from ludus.server.service import Service
from ludus.server.stores import Record
from ludus.types import Array

THREADS, KEPT, WAITING = 4, 256, 64
"""threads in which agents think, and as many for the rest; games kept in this process; requests that may wait"""
PREFIX = "game."
"""of ids; ids of agent sessions have no dot, so neither kind is taken for the other"""
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(eq=False)
class Table:
    """This process' copy of a game."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    match: Match | None = None
    counter: int = -1
    saved: Saved | None = None


class Games:
    """All game sessions of a service."""

    def __init__(self, service: Service, bench: Bench | None = None) -> None:
        self.service, self.bench = service, bench or Bench()
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._preparations: dict[str, preparation.Preparation] = {}
        self._preparing = threading.Lock()
        self._running: set[asyncio.Task[Any]] = set()

    async def open(self, new: NewGame) -> OpenedGame:
        """A new game; agents move until a person is to move. After a timeout there is none."""
        self._check_ready()
        wanted = threading.Event()
        wanted.set()
        try:
            return await self._in_time(self._open(new, wanted.is_set))
        except TimeoutError:
            wanted.clear()  # nobody knows its id
            raise thinking() from None

    async def _open(self, new: NewGame, wanted: Callable[[], bool]) -> OpenedGame:
        seed = secrets.randbelow(2**31) if new.seed is None else new.seed
        opening = Opening(new.game, tuple(new.seats), seed)
        game = await self.look(check_opening, opening)
        versions = [self._version(seat, game) for seat in opening.seats]
        pairs = zip(opening.seats, versions, strict=True)
        memories = [self.service.models[seat].memory_row() if version else b"" for seat, version in pairs]
        keys = {seat: secrets.token_urlsafe(18) for seat, who in enumerate(opening.seats) if who == PERSON}
        saved = Saved(game.full_name, list(opening.seats), seed, keys, versions, memories)
        name, table = f"{PREFIX}{secrets.token_hex(12)}", Table()
        async with table.lock:
            match = table.match = await self._think(self._build, saved)
            table.saved = await self._answer(match, saved, wanted)
            if not wanted():
                match.close()
                raise thinking()
            await self._store(name, table, None)
            self._keep(name, table)
            state = await self.look(match.state, name, next(iter(match.persons())))
        return OpenedGame(name, {str(seat): key for seat, key in keys.items()}, state)

    async def state(self, id: str, seat: int | None, key: str) -> State:
        """The game as a seat sees it."""
        return await self._with(id, seat, key, lambda match: match.state(id, seat))

    async def scene(self, id: str, seat: int | None, key: str) -> tuple[Array, tuple[int, int]]:
        """The picture as shapes, as a seat sees it, and its size."""
        viewer = seat if seat is not None else 0
        return await self._with(id, viewer, key, lambda match: (match.scene(viewer), match.spec.frame))

    async def replay(self, id: str) -> replays.Replay:
        return await self._with(id, None, "", lambda match: match.replay())

    async def move(self, id: str, move: Move) -> State:
        """Play a move; then the agents move until a person is to move. The same request again changes nothing."""
        try:
            # The move goes on after a timeout; whoever repeats the request gets its result.
            return await self._in_time(self._move(id, move))
        except TimeoutError:
            raise thinking() from None

    async def undo(self, id: str, seat: int, key: str) -> State:
        """Take back the newest move of a person and everything after it; only in games without secrets or chance."""
        table = await self._table(id)
        async with table.lock:
            match = await self._current(id, table)
            assert table.saved
            check_key(match, table.saved, seat, key)
            check_undo(match, table.saved)
            kept = match.last_move_of(seat) * len(table.saved.actions) // len(match.actions)
            shorter = msgspec.structs.replace(table.saved, actions=table.saved.actions[:kept], picks={}, sent={})
            earlier = await self._go_back(id, table, shorter)
            return await self.look(earlier.state, id, seat)

    async def _go_back(self, id: str, table: Table, saved: Saved) -> Match:
        """Replace the game by an earlier state of it; if that fails, the copy is dropped as after a failed move."""
        counter = table.counter
        try:
            table.counter = -1
            earlier = await self.look(self._build, saved)
            if table.match:
                table.match.close()
            table.match, table.saved = earlier, saved
            await self._store(id, table, counter)
        except BaseException:
            self._drop(id)
            raise
        return earlier

    async def advise(self, id: str, seat: int, key: str, agent: str) -> Advice:
        """The move that an agent recommends for the seat to move, from the observation of that seat."""
        table = await self._table(id)
        async with table.lock:
            match = await self._current(id, table)
            assert table.saved
            saved = table.saved
            check_key(match, saved, seat, key)
            if seat not in match.waiting_for():
                raise Problem(409, "not_your_turn", f"seat {seat} is not to move now, so there is nothing to advise")
        if agent == PERSON:
            raise Problem(422, "unknown_agent", "a person gives no advice; name an agent")
        try:
            return await self._in_time(self._think(self._advice, saved, seat, agent))
        except TimeoutError:
            raise thinking() from None

    def _advice(self, saved: Saved, seat: int, agent: str) -> Advice:
        """Seat the agent in a copy of the game, so that it sees all earlier moves and disturbs nobody."""
        count = len(saved.seats)
        seats = [agent if one == seat else PERSON for one in range(count)]
        twin = self._build(msgspec.structs.replace(saved, seats=seats, versions=[""] * count, picks={}))
        try:
            return twin.advice(seat)
        finally:
            twin.close()

    async def _in_time(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for work, but not too long; it goes on after a TimeoutError."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.wait_for(asyncio.shield(task), self.service.settings.timeout)

    def _finished(self, work: asyncio.Task[Any]) -> None:
        self._running.discard(work)
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio does not log it a second time

    async def _move(self, id: str, move: Move) -> State:
        table = await self._table(id)
        async with table.lock:
            match = await self._current(id, table)
            assert table.saved
            check_key(match, table.saved, move.seat, move.key)
            if is_new(match, table.saved, move):
                await self._play(id, table, match, move)
            return await self.look(match.state, id, move.seat)

    async def _play(self, id: str, table: Table, match: Match, move: Move) -> None:
        """Play and store a move; if that fails, the copy is dropped and the game in the store has not changed."""
        assert table.saved
        sent = await self.look(match.pick, move.seat, move.action, move.name)
        counter = table.counter
        try:
            table.counter = -1
            table.saved = msgspec.structs.replace(table.saved, sent={**table.saved.sent, move.seat: sent})
            table.saved = await self._answer(match, table.saved)
            await self._store(id, table, counter)
        except BaseException:
            self._drop(id)
            raise

    async def delete(self, id: str, key: str) -> None:
        """End and forget a game."""
        table = await self._table(id)
        async with table.lock:
            match = await self._current(id, table)
            assert table.saved
            if match.hidden and not any(hmac.compare_digest(one.encode(), key.encode())
                                        for one in table.saved.keys.values()):  # fmt: skip
                raise Problem(403, "key_required", "ending this game needs the key of a seat")
            await self.service.store.delete(id)
            self._drop(id)

    async def close(self) -> None:
        """End the compilers."""
        for task in list(self._running):
            task.cancel()
        with self._preparing:
            for one in self._preparations.values():
                preparation.release(one)
            self._preparations.clear()
        for name in list(self._tables):
            self._drop(name)

    # Copies of games.

    async def _with(self, id: str, seat: int | None, key: str, work: Callable[[Match], Result]) -> Result:
        """Look at a game; a seat that may not be seen is refused."""
        table = await self._table(id)
        async with table.lock:
            match = await self._current(id, table)
            assert table.saved
            if seat is not None:
                check_key(match, table.saved, seat, key, look=True)
            return await self.look(work, match)

    def _check_ready(self) -> None:
        if not self.service.ready:
            raise Problem(503, "not_ready", "the server is starting or stopping; try again", retry_after=1)

    async def _table(self, id: str) -> Table:
        self._check_ready()
        if not id.startswith(PREFIX) or len(id) > 100 or not id.isascii():
            raise Problem(404, "game_not_found", "there is no game of this id; open one with POST /v1/games")
        if id not in self._tables:
            await self._load(id)  # before anything is kept for an id that does not exist
            return self._keep(id, self._tables.get(id) or Table())
        self._tables.move_to_end(id)
        return self._tables[id]

    def _keep(self, id: str, table: Table) -> Table:
        """Keep a copy; the least recently used ones that nobody uses make room for it."""
        self._tables[id] = table
        unused = [one for one, kept in self._tables.items() if one != id and not kept.lock.locked()]
        for old in unused[: max(0, len(self._tables) - KEPT)]:
            self._drop(old)
        return table

    def _drop(self, id: str) -> None:
        if (table := self._tables.pop(id, None)) and table.match:
            table.match.close()
            table.match = None  # a request that already waits for this copy makes a new one

    async def _load(self, id: str) -> Record:
        record = await self.service.store.get(id)
        if record is not None:
            return record
        if id in self._tables:
            self._drop(id)
        if await self.service.store.is_gone(id):
            raise Problem(410, "game_gone", "this game has expired or was removed to make room; open another one")
        raise Problem(404, "game_not_found", "there is no game of this id; open one with POST /v1/games")

    async def _current(self, id: str, table: Table) -> Match:
        """The match at the state of the store."""
        record = await self._load(id)
        if table.match is None or table.counter != record.counter:
            table.saved = msgspec.msgpack.decode(record.data, type=Saved)
            table.match = await self.look(self._build, table.saved)
            table.counter = record.counter
            self._tables[id] = table
        return table.match

    async def _store(self, id: str, table: Table, expected: int | None) -> None:
        assert table.match and table.saved
        counter = 0 if expected is None else expected + 1
        record = Record(counter, msgspec.msgpack.encode(table.saved), label_of(table.match, table.saved))
        if not await self.service.store.put(id, record, expected):
            raise Problem(409, "changed_meanwhile", "another request changed the game; ask for the state")
        table.counter = counter

    def _build(self, saved: Saved) -> Match:
        """The match of a stored game; in a thread."""
        game = games.load(saved.game)
        named = {seat: name for seat, name in enumerate(saved.seats) if name != PERSON and not saved.versions[seat]}
        with interpreted():  # some agents open a game to read its shape; that must not wait for the compiler
            found = {seat: self._contestant(name, game) for seat, name in named.items()}
        waiting = self._prepare(game)
        if waiting is not None and any(simulates(agent) for agent, _ in found.values()):
            raise compiling(waiting)
        match = Match(Opening(saved.game, tuple(saved.seats), saved.seed), found, waiting)
        match.restore(saved)
        return match

    def _contestant(self, name: str, game: games.Game) -> Contestant:
        """A served model that simulates the game, or an agent by its name."""
        model = self.service.models.get(name)
        return self.bench.find(name, game) if model is None else (model.agent, model.params)

    def _prepare(self, game: games.Game) -> preparation.Preparation | None:
        """The process that compiles this game, until it is compiled."""
        with self._preparing:
            running = self._preparations.get(game.name)
            if running is None and (running := preparation.prepare(game)) is not None:
                self._preparations[game.name] = running
            if running is None or running.running:
                return running
            preparation.release(self._preparations.pop(game.name))
            return None

    def _version(self, name: str, game: games.Game) -> str:
        """The version of a served model; "" for a person and for agents that need the game itself."""
        model = self.service.models.get(name)
        if model is None or name == PERSON:
            return ""
        if model.game.partition("(")[0] != game.name or model.fingerprint != game.fingerprint:
            raise Problem(422, "unknown_agent", f'the model "{name}" plays {model.game}, not {game.full_name}')
        return model.version if model.acts_on_observations else ""

    # Moves of agents.

    async def _answer(self, match: Match, saved: Saved, wanted: Callable[[], bool] = lambda: True) -> Saved:
        """Play while nobody has to be waited for; the game as it is to be stored."""
        memories, seats = list(saved.memories), match.opening.seats
        while wanted() and not match.over and not match.waiting_for() and len(match.actions) < MOST_MOVES:
            decisions: dict[int, Action] = {}
            for seat in match.acting():
                if saved.versions[seat]:
                    decisions[seat], memories[seat] = await self._ask(match, saved, seat, memories[seat])
                elif seats[seat] != PERSON:
                    decisions[seat] = await self._think(match.decide, seat)
            await self._think(match.play, decisions)
        return msgspec.structs.replace(
            saved, memories=memories, actions=match.packed(), picks=dict(match.picks)
        )  # fmt: skip

    async def _ask(self, match: Match, saved: Saved, seat: int, memory: bytes) -> tuple[Action, bytes]:
        """The decision of a served model, in a batch with those of other sessions."""
        observation, mask = match.look(seat)
        decided = await self.service.decide(
            saved.seats[seat], saved.versions[seat], memory, observation, mask if mask.size else None, seat,
            not match.has_decided(seat), match.key(seat),
        )  # fmt: skip
        return decided.action, decided.memory

    # Made when they are needed: older versions of anyio can do that only in an event loop.

    @cached_property
    def _thinkers(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(THREADS)

    @cached_property
    def _lookers(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(THREADS)

    async def _think(
        self, work: Callable[Arguments, Result], *arguments: Arguments.args, **more: Arguments.kwargs
    ) -> Result:
        """Run work of agents in one of a few threads."""
        return await run_in(self._thinkers, lambda: work(*arguments, **more))

    async def look(
        self, work: Callable[Arguments, Result], *arguments: Arguments.args, **more: Arguments.kwargs
    ) -> Result:
        """Run work without decisions in one of a few other threads, so that it need not wait for agents that think."""
        return await run_in(self._lookers, lambda: work(*arguments, **more))


async def run_in(threads: anyio.CapacityLimiter, work: Callable[[], Result]) -> Result:
    """Run work that blocks in a thread; refuse it if too much is waiting."""
    if threads.statistics().tasks_waiting > WAITING:
        raise Problem(503, "overloaded", "too many games are waiting for a thread; try again", retry_after=1)
    return await anyio.to_thread.run_sync(work, limiter=threads)


def thinking() -> Problem:
    return Problem(503, "timeout", "the agents are still thinking; repeat the request", retry_after=1)


def label_of(match: Match, saved: Saved) -> str:
    """The label under which a store counts games: the game, and the versions of the models that play it."""
    models = {sessions.label_of(*pair) for pair in zip(saved.seats, saved.versions, strict=True) if pair[1]}
    return ", ".join([f"game {match.pool.game.name}", *sorted(models)])


def is_new(match: Match, saved: Saved, move: Move) -> bool:
    """Whether a move is to be played; False if it is a repetition. Raises Problem for an older or later one."""
    now = len(match.actions)
    if is_repeated(match, saved.sent.get(move.seat), move):
        return False
    if move.move == now:
        return True
    raise Problem(
        409, "move_mismatch", f"{now} moves have been played, but this is move {move.move}; ask for the state",
        expected=now,
    )  # fmt: skip


def is_repeated(match: Match, sent: Sent | None, move: Move) -> bool:
    """Whether a person has sent this move before: the newest one, or by its action an earlier one."""
    if sent is not None and sent.move == move.move:
        return move.action == sent.action if move.name is None else move.name.strip() in sent.names
    if move.name is None and move.action is not None and move.move < len(match.actions):
        return match.action_of(move.move, move.seat) == move.action
    return False


def check_key(match: Match, saved: Saved, seat: int, key: str, look: bool = False) -> None:
    """Raise Problem unless a request may see and play this seat."""
    if not 0 <= seat < match.spec.seats:
        raise Problem(422, "invalid", f"there is no seat {seat}; the seats are 0 to {match.spec.seats - 1}")
    if seat not in saved.keys and not (look and not match.hidden):
        raise Problem(403, "not_your_seat", f"an agent plays seat {seat}")
    # Without the key, one person could find out the other's choice by repeating it.
    needed = match.hidden or (not look and len(saved.keys) > 1)
    if needed and not hmac.compare_digest(saved.keys[seat].encode(), key.encode()):
        why = "this game has hidden information" if match.hidden else "more than one person plays this game"
        raise Problem(403, "key_required", f"{why}: send the key of the seat as X-Seat-Key")
