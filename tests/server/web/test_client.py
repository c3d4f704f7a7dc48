"""`ludus.Client` and `ludus.AsyncClient` against a real server."""

import asyncio

import numpy as np
import pytest

import ludus
from ludus.server.client import ATTEMPTS


def test_sessions_with_arrays(server):
    with ludus.Client(server.url) as client:
        assert {one["name"] for one in client.models()} == {"pole", "best", "search"}
        session = client.session("pole", seed=1)
        first = session.act(np.zeros(4, np.float32), mask=np.ones(2, bool))
        assert first.name in ("left", "right") and session.index == 1
        session.index = 0
        assert session.act(np.zeros(4, np.float32), mask=np.ones(2, bool)) == first, "a retry"
        session.act({"motion": np.zeros(4)})
        session.close()
        with pytest.raises(ludus.LudusError, match="no session") as caught:
            session.act(np.zeros(4))
        assert caught.value.code == "session_not_found"


def test_a_game(server):
    with ludus.Client(server.url) as client:
        game = client.game("tictactoe", ["person", "best"], seed=1)
        assert game.picture("png").startswith(b"\x89PNG") and game.picture().startswith(b"<svg")
        while not game.state.over:
            game.play(game.moves[0].name)
        assert game.look() == game.state and game.state.scores[1] >= 0
        assert game.replay().startswith(b"{")
        game.close()


def test_async(server):
    async def main():
        async with ludus.AsyncClient(server.url) as client:
            session, game = await asyncio.gather(client.session("pole"), client.game("goofspiel", ["person", "random"]))
            answers = [await session.act([0, 0, 0, 0]) for _ in range(3)]
            assert answers[-1].index == 3
            while not game.state.over:
                await game.play(game.moves[-1].action)
            assert (await game.look(0)).result == "over" and await game.picture() and await game.replay()
            assert len(await client.models()) == 3
            await asyncio.gather(session.close(), game.close())

    asyncio.run(main())


def test_a_lost_connection_is_tried_again(server, monkeypatch):
    """The server answers, but the answer is lost: the client asks again and gets the same one."""
    import httpx

    with ludus.Client(server.url) as client:
        session, send, lost = client.session("pole"), client._http.request, []

        def lose_the_first(**request):
            answer = send(**request)
            if not lost:
                lost.append(answer)
                raise httpx.ReadError("lost")
            return answer

        monkeypatch.setattr(client._http, "request", lose_the_first)
        assert session.act([0, 0, 0, 0]).index == 1 == session.index and len(lost) == 1


def test_nobody_answers(monkeypatch):
    import time

    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with ludus.Client("http://127.0.0.1:9") as client, pytest.raises(ludus.LudusError, match="ludus serve"):
        client.models()
    assert len(pauses) == ATTEMPTS - 1
