"""Game sessions in this process: copies, threads, repeated moves, keys and time limits."""

import asyncio
import dataclasses
import threading
from contextlib import suppress

import msgspec
import pytest

from ludus import games as rules
from ludus.evaluation import preparation
from ludus.server import games as module
from ludus.server import match as matches
from ludus.server.games import Games, Table
from ludus.server.match import Saved
from ludus.server.messages import Move, NewGame
from ludus.server.problems import Problem
from ludus.server.service import Service, Settings
from ludus.server.stores.memory import MemoryStore


def play(scenario, timeout=120.0):
    """Run a coroutine with the games of a service without models."""

    async def run():
        service = Service([], MemoryStore(), Settings(timeout=timeout))
        await service.start()
        games = Games(service)
        try:
            return await scenario(games)
        finally:
            await games.close()
            await service.close()

    return asyncio.run(run())


def test_a_new_game_is_kept_although_all_others_are_in_use(monkeypatch):
    async def scenario(games):
        monkeypatch.setattr(module, "KEPT", 1)
        used, new = Table(), Table()
        await used.lock.acquire()
        games._keep("game.used", used)
        assert games._keep("game.new", new) is new
        assert list(games._tables) == ["game.used", "game.new"]

    play(scenario)


def test_no_copy_is_dropped_before_there_are_too_many(monkeypatch):
    async def scenario(games):
        monkeypatch.setattr(module, "KEPT", 4)
        for name in "abc":
            games._keep(name, Table())
        assert list(games._tables) == ["a", "b", "c"]
        games._keep("d", Table())
        games._keep("e", Table())
        assert list(games._tables) == ["b", "c", "d", "e"]

    play(scenario)


def test_two_threads_note_the_end_of_a_compilation_once(monkeypatch):
    class Ended:
        """A preparation whose end two threads see at the same time, if they can."""

        meeting = threading.Barrier(2)

        @property
        def running(self):
            with suppress(threading.BrokenBarrierError):
                self.meeting.wait(0.3)
            return False

    async def scenario(games):
        game, released = rules.load("tictactoe"), []
        monkeypatch.setattr(preparation, "prepare", lambda game: None)
        monkeypatch.setattr(preparation, "release", released.append)
        games._preparations[game.name] = Ended()
        found = await asyncio.gather(*[asyncio.to_thread(games._prepare, game) for _ in range(2)])
        assert found == [None, None] and len(released) == 1

    play(scenario)
