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
