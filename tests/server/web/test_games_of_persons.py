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


def test_a_move_by_name_is_repeated_safely_while_another_person_chooses():
    async def scenario(games):
        opened = await games.open(NewGame("goofspiel", ["person", "person"], 3))
        move = Move(0, 0, name=" bid 13 ", key=opened.keys["0"])
        first = await games.move(opened.id, move)
        assert first.turn == [1] and await games.move(opened.id, move) == first
        games._drop(opened.id)
        assert await games.move(opened.id, move) == first, "another worker knows it too"
        with pytest.raises(Problem, match="not to move"):
            await games.move(opened.id, msgspec.structs.replace(move, name="bid 1"))

    play(scenario)


def test_a_move_by_name_is_repeated_safely_after_many_others(monkeypatch):
    async def scenario(games):
        monkeypatch.setattr(matches, "LAST", 1)  # so the decision of one agent is as good as 32
        opened = await games.open(NewGame("tictactoe", ["person", "random"], 1))
        chosen = opened.state.legal[4]
        move = Move(0, 0, name=f"{chosen.name} ")
        first = await games.move(opened.id, move)
        assert first.move == 2 and await games.move(opened.id, move) == first
        assert await games.move(opened.id, Move(0, 0, action=chosen.action)) == first
        with pytest.raises(Problem, match="2 moves have been played"):
            await games.move(opened.id, Move(0, 0, name=opened.state.legal[3].name))

    play(scenario)


def test_a_game_stored_before_sent_moves_were_is_read():
    old = {"game": "tictactoe", "seats": ["person"], "seed": 1, "keys": {}, "versions": [""], "memories": [b""]}
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=Saved).sent == {}


def test_a_version_that_plays_a_game_is_kept():
    async def run():
        service = Service(["tictactoe:perfect", "pole=tictactoe:random"], MemoryStore())
        await service.start()
        games = Games(service)
        opened = await games.open(NewGame("tictactoe", ["person", "pole"], 1))
        old = service.models["pole"]
        service.models["pole"] = dataclasses.replace(old, version="newer")  # as after a reload
        await service._drop_unused()
        kept = [("pole", old.version) in service._served]
        await games.move(opened.id, Move(0, 0, action=4))
        await games.delete(opened.id, "")
        await service._drop_unused()
        kept.append(("pole", old.version) in service._served)
        await games.close()
        await service.close()
        return kept

    assert asyncio.run(run()) == [True, False]


def test_moves_need_the_key_of_their_seat_if_two_persons_play():
    async def scenario(games):
        opened = await games.open(NewGame("tictactoe", ["person", "person"], 1))
        assert not opened.state.hidden
        for key in ("", opened.keys["1"]):
            with pytest.raises(Problem, match="more than one person plays"):
                await games.move(opened.id, Move(0, 0, action=4, key=key))
        assert (await games.move(opened.id, Move(0, 0, action=4, key=opened.keys["0"]))).turn == [1]
        assert (await games.state(opened.id, 0, "")).move == 1, "the view is open"

    play(scenario)


def test_agents_that_think_long_delay_neither_answers_nor_other_games(monkeypatch):
    go, decide = threading.Event(), matches.Match.decide
    monkeypatch.setattr(matches.Match, "decide", lambda *given: (go.wait(), decide(*given))[1])

    async def scenario(games):
        other = await games.open(NewGame("tictactoe", ["person", "random"], 1))
        games.service.settings = Settings(timeout=0.2)
        slow = [games.open(NewGame("tictactoe", ["random", "person"], seed)) for seed in range(module.THREADS + 1)]
        try:
            found = await asyncio.gather(*slow, return_exceptions=True)
            assert {getattr(one, "code", one) for one in found} == {"timeout"}
            assert (await games.state(other.id, 0, "")).move == 0
        finally:
            go.set()
        while games._running:
            await asyncio.sleep(0.01)
        assert sum((await games.service.store.counts()).values()) == 1, "nobody knows the ids of the others"

    play(scenario)
