"""The MCP server through the official client: over standard input and output, over HTTP, and within this process."""

import asyncio
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys

import httpx
import numpy as np
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ludus import agents, games
from ludus.bench.mcp import Call, Malformer, malformed, whole_game
from ludus.evaluation import replays
from ludus.server.match import Match, Opening
from ludus.server.mcp.server import Options, opened
from ludus.server.mcp.work import AT_ONCE

SECRET = "a-long-secret-token"
TOKEN = {"Authorization": f"Bearer {SECRET}"}
WORDS = [sys.executable, "-m", "ludus.cli", "mcp"]
TOOLS = {
    "list_games", "new_game", "state", "legal_moves", "play", "undo", "advise", "score_hand", "inspect_seed", "train",
    "stop_training", "runs", "evaluate",
}  # fmt: skip


async def ask(client, tool, **arguments):
    """The structured result of a tool."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content


async def refusal(client, tool, **arguments):
    """The sentence with which a call is refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    return result.content[0].text


@contextlib.asynccontextmanager
async def in_process(tmp_path, **options):
    """A server in this process, and its client."""
    async with opened(Options(tmp_path, **options)) as one, Client(one.server) as client:
        yield one, client


async def trained(client, name):
    """Wait for the end of a run; its facts."""
    while True:
        (run,) = (await ask(client, "runs", run=name))["runs"]
        if run["status"] not in ("new", "training"):
            return run
        await asyncio.sleep(0.1)


async def begun(client, name):
    """Wait until a run has made steps."""
    while (await ask(client, "runs", run=name))["runs"][0]["steps"] == 0:
        await asyncio.sleep(0.05)


# A server in a process of its own.


def test_whole_games_over_standard_input_and_output(tmp_path):
    async def play():
        parameters = StdioServerParameters(command=WORDS[0], args=[*WORDS[1:], "--out", str(tmp_path)],
                                           env=dict(os.environ))  # fmt: skip
        async with Client(stdio_client(parameters)) as client:
            listed = (await client.list_tools()).tools
            assert {tool.name for tool in listed} == TOOLS
            assert all(tool.output_schema and tool.description for tool in listed)
            await tictactoe(client, tmp_path)
            assert await whole_game(client, "balatro", 3) > 10
            await reading(client)

    asyncio.run(play())


async def tictactoe(client, tmp_path):
    """Follow the advice of the perfect player to a draw; take back the first move; read the replay."""
    game = await ask(client, "new_game", game="tictactoe", opponent="perfect", seed=5)
    assert game["state"]["legal_count"] == 9 and game["other_game_ids"] == {}
    own = {"game_id": game["game_id"]}
    first = await ask(client, "play", **own, move="b2")
    back = await ask(client, "undo", **own)
    assert back["move"] == 0 and back["last"] == [] and back["text"] == game["state"]["text"]
    assert (await ask(client, "play", **own, move=4, at_move=0))["text"] == first["text"]
    assert (await ask(client, "play", **own, move=4, at_move=0))["move"] == 2  # a repeated call plays once
    assert "not allowed here" in await refusal(client, "play", **own, move="b2")
    state = first
    with pytest.raises(MCPError, match="no game of this id"):
        await client.read_resource("ludus://replays/game.0123")
    while not state["over"]:
        advice = await ask(client, "advise", **own, agent="perfect")
        assert advice["unit"] == "value" and advice["value"] == max(one["rating"] for one in advice["moves"])
        state = await ask(client, "play", **own, move=advice["name"])
    assert state["scores"] == [0.0, 0.0] and state["result"] == "over" and state["legal"] == []
    found = await client.read_resource(f"ludus://replays/{game['watch_id']}")
    replay = tmp_path / "game.replay"
    replay.write_bytes(base64.b64decode(found.contents[0].blob))
    assert replays.load(replay).agents == ("person", "perfect")
    assert "game is over" in await refusal(client, "play", **own, move="a1")


async def reading(client):
    """Resources and prompts."""
    names = {resource.uri for resource in (await client.list_resources()).resources}
    assert names == {f"ludus://games/{name}/rules" for name in games.names()}
    rules = (await client.read_resource("ludus://games/lair/rules")).contents[0].text
    assert rules.startswith("# Lair") and "locks" in rules
    templates = (await client.list_resource_templates()).resource_templates
    assert {one.uri_template for one in templates} == {"ludus://runs/{run}/metrics", "ludus://replays/{watch_id}"}
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"play", "coach"}
    prompt = await client.get_prompt("coach", {"game": "duel", "agent": "greedy"})
    assert 'game "duel"' in prompt.messages[0].content.text and '"greedy"' in prompt.messages[0].content.text


@pytest.fixture
def address(tmp_path):
    """The address of a server over HTTP that needs a token."""
    words = [*WORDS, "--http", "--port", "0", "--json", "--out", str(tmp_path), "--token", SECRET]  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        yield json.loads(server.stdout.readline())["mcp"]
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


@contextlib.asynccontextmanager
async def over_http(address):
    import httpx2

    async with (
        httpx2.AsyncClient(headers=TOKEN) as web,
        Client(streamable_http_client(address, http_client=web)) as client,
    ):
        yield client


def test_two_clients_play_each_other_over_http(address):
    async def play():
        async with over_http(address) as one, over_http(address) as other:
            opened = await ask(one, "new_game", game="goofspiel", seats=["person", "person"])
            mine, theirs, watch = opened["game_id"], opened["other_game_ids"]["1"], opened["watch_id"]
            forged = f"{watch}:1:{mine.rpartition(':')[2]}"
            for tool, more in (("state", {}), ("legal_moves", {}), ("play", {"move": 0}), ("advise", {}), ("undo", {})):
                assert "key of the seat" in await refusal(one, tool, game_id=forged, **more)
            assert "seed" in await refusal(one, "new_game", game="goofspiel", seats=["person"] * 2, seed=1)
            state = await ask(one, "state", game_id=watch)
            while not state["over"]:
                sealed = await ask(one, "play", game_id=mine, move=state["move"])
                assert sealed["turn"] == [1] and sealed["move"] == state["move"]
                assert (await ask(other, "state", game_id=theirs))["last"] == sealed["last"]  # the bid stays sealed
                state = await ask(other, "play", game_id=theirs, move=12 - state["move"])
            assert state["move"] == 13 and sum(state["scores"]) == 0

    asyncio.run(play())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**TOKEN, "Host": "evil.example"}, 403),
        ({**TOKEN, "Origin": "http://evil.example"}, 403),
        ({"Authorization": "Bearer another"}, 401),
        (TOKEN, 200),
    ],
)
def test_http_checks_host_origin_and_token(tmp_path, headers, status):
    from ludus.server.access import Rules
    from ludus.server.mcp.transport import application

    async def post():
        async with opened(Options(tmp_path)) as one:
            app = application(one, Rules(SECRET))
            async with one.server.session_manager.run():
                transport = httpx.ASGITransport(app)
                async with httpx.AsyncClient(transport=transport, base_url="http://localhost:3010") as web:
                    accepted = {"Accept": "application/json, text/event-stream", **headers}
                    return (await web.post("/mcp", json=HELLO, headers=accepted)).status_code

    assert asyncio.run(post()) == status


HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


# Hidden information.


@pytest.mark.parametrize(("game", "moves"), [("balatro", 4), ("duel", 12), ("goofspiel", 3)])
def test_what_is_sent_does_not_depend_on_what_is_hidden(game, moves, tmp_path):
    """The hidden part of a game in the server is exchanged; its answers stay the same."""

    async def compare():
        async with in_process(tmp_path) as (one, client):
            opened = await ask(client, "new_game", game=game, opponent="random", seed=11)
            own = {"game_id": opened["game_id"]}
            state = opened["state"]
            for _ in range(moves):
                state = await ask(client, "play", **own, move=state["legal"][0]["action"])
            match = one.playing.games._tables[opened["watch_id"]].match
            before, shown = match.pool.states.copy(), await everything(client, own)
            match.pool.put(match.pool.fork([0], 99, seat=0).states)
            assert not np.array_equal(before, match.pool.states)
            assert await everything(client, own) == shown

    asyncio.run(compare())


async def everything(client, own):
    """All that the tools say about a game."""
    results = [
        await client.call_tool("state", {**own, "observation": True, "picture": "svg"}),
        await client.call_tool("legal_moves", own),
        await client.call_tool("state", {"game_id": own["game_id"].partition(":")[0]}),
    ]
    return [result.model_dump() for result in results]


@pytest.mark.parametrize("agent", ["expert", "greedy"])
def test_advice_does_not_depend_on_what_is_hidden(agent):
    advisor = agents.load(agent, "balatro")
    match = Match(Opening("balatro", (agent,), 5), {0: (advisor, advisor.init(games.load("balatro").spec, 0))}, None)
    match.play({0: int(match.look(0)[1].argmax())})
    advice = [match.advice(0)]
    for seed in range(5):
        match.pool.put(match.pool.fork([0], seed, seat=0).states)
        advice.append(match.advice(0))
    match.close()
    assert all(one == advice[0] for one in advice)


def test_moves_that_reveal_something_cannot_be_taken_back(tmp_path):
    async def undo():
        async with in_process(tmp_path) as (_, client):
            for one in (await ask(client, "list_games"))["games"]:
                if one["name"] in ("goofspiel", "cartpole", "recall"):
                    assert not one["undo"]
                    game = await ask(client, "new_game", game=one["name"], opponent="random")
                    await ask(client, "play", game_id=game["game_id"], move=0)
                    assert "would have revealed" in await refusal(client, "undo", game_id=game["game_id"])
            solo = await ask(client, "new_game", game="tictactoe", seats=["random", "person"])
            assert "no move to take back" in await refusal(client, "undo", game_id=solo["game_id"])
            both = await ask(client, "new_game", game="tictactoe", seats=["person", "person"])
            await ask(client, "play", game_id=both["game_id"], move=0)
            assert "more than one person" in await refusal(client, "undo", game_id=both["game_id"])

    asyncio.run(undo())


# Malformed calls and bounds.


def test_malformed_calls_are_refused_and_reveal_nothing(tmp_path, caplog):
    async def flood():
        async with in_process(tmp_path, max_sessions=20) as (_, client):
            return await malformed(client, 2000, 7, lambda *_: None)

    tally = asyncio.run(flood())
    assert tally.crashed == tally.revealed == 0 and tally.refused > 1000 and tally.answered > 100
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


def test_answers_that_reveal_something_are_noticed():
    malformer = Malformer(0, {"game_id": "game.a:0:mine", "other_game_ids": {"1": "game.a:1:theirs"}})
    own, forged = Call("state", {"game_id": "game.a:0:mine"}), Call("state", {"game_id": "game.a:1:mine"})
    assert not malformer.reveals(own, {"seat": 0, "observation": {}}) and not malformer.reveals(forged, None)
    assert malformer.reveals(forged, {"seat": 1, "observation": {}})
    assert malformer.reveals(own, {"seat": 0, "text": "the key is theirs"})


def test_no_request_names_a_path(tmp_path):
    elsewhere = tmp_path / "elsewhere-0001"
    (tmp_path / "runs").mkdir()
    elsewhere.mkdir()
    (elsewhere / "run.toml").write_text("")
    (tmp_path / "runs" / "link-0001").symlink_to(elsewhere)

    async def refused():
        async with in_process(tmp_path / "runs") as (_, client):
            for name in ("../elsewhere-0001", str(elsewhere), "link-0001", "http://localhost:1/x", "a.onnx", ".."):
                assert "is no agent of" in await refusal(client, "new_game", game="tictactoe", opponent=name)
                assert "is no agent of" in await refusal(client, "evaluate", agent=name, game="tictactoe")
                assert "no run of this name" in await refusal(client, "runs", run=name)
            for name in ("gymnasium:CartPole-v1", "duel@ygopro", "balatro(seed=../x)", "x" * 201):
                assert await refusal(client, "new_game", game=name)
                assert await refusal(client, "train", game=name, steps=10)
            with pytest.raises(MCPError):
                await client.read_resource("ludus://runs/..%2Felsewhere-0001/metrics")

    asyncio.run(refused())


def test_games_are_bounded_and_wrong_arguments_are_named(tmp_path):
    async def bounded():
        async with in_process(tmp_path, max_sessions=3) as (_, client):
            ids = [(await ask(client, "new_game", game="tictactoe"))["game_id"] for _ in range(5)]
            assert "removed to make room" in await refusal(client, "state", game_id=ids[0])
            assert (await ask(client, "state", game_id=ids[-1]))["move"] == 0
            wrong = await refusal(client, "state", game_id=ids[-1], bogus=1)
            assert wrong.startswith("state was called with wrong arguments. bogus: ") and "pydantic" not in wrong
            assert "no game of this id" in await refusal(client, "state", game_id="game.x")
            assert "only watches" in await refusal(client, "play", game_id=ids[-1].partition(":")[0], move=0)
            assert '"XX" is not a card' in await refusal(client, "score_hand", play=["XX"])
            assert "has no picture" not in str(await client.call_tool("state", {"game_id": ids[-1], "picture": "png"}))

    asyncio.run(bounded())


def test_the_tools_of_balatro(tmp_path):
    async def use():
        async with in_process(tmp_path) as (_, client):
            scored = await ask(client, "score_hand", play=["KH", "KD", "2C"], held=["AS steel"], jokers=["j_joker"])
            assert scored["facts"]["score"] == 210  # (10 + 20) x (2 x 1.5 + 4)
            assert [step["by"] for step in scored["facts"]["steps"]] == ["Pair", "KH", "KD", "AS", "Joker"]
            seed = await ask(client, "inspect_seed", seed="7lb2wvpk", antes=1)
            assert seed["facts"]["antes"]["1"]["boss"] == "bl_club"

    asyncio.run(use())


def test_runs_are_trained_stopped_evaluated_and_played_against(tmp_path):
    async def train():
        async with in_process(tmp_path, max_steps=50_000_000) as (one, client):
            start = {"game": "tictactoe", "algorithm": "q_learning"}
            assert "at most" in await refusal(client, "train", **start, steps=60_000_000)
            short = await ask(client, "train", **start, steps=20_000, seed=1)
            for _ in range(AT_ONCE - 1):
                long = await ask(client, "train", **start, steps=50_000_000)
            assert "the maximum" in await refusal(client, "train", **start, steps=10)
            assert (await trained(client, short["name"]))["status"] == "finished"
            await begun(client, long["name"])
            assert (await ask(client, "stop_training", run=long["name"]))["status"] == "stopped"
            early = await ask(client, "train", **start, steps=50_000_000)
            assert (await ask(client, "stop_training", run=early["name"]))["status"] in ("new", "stopped")
            assert "does not train" in await refusal(client, "stop_training", run=long["name"])
            found = await ask(client, "evaluate", agent=short["name"], games=40, against=short["name"])
            assert found["facts"]["games"] == 40 and found["facts"]["against"] == short["name"]
            assert str(tmp_path) not in json.dumps(found)
            endless = {"agent": "mcts(9999)", "game": "connect4", "games": 1000, "against": "mcts(9999)"}
            with pytest.raises(MCPError, match="imed out"):
                await client.call_tool("evaluate", endless, read_timeout_seconds=0.5)
            while one.working._evaluating:  # cancelling the call has ended the process
                await asyncio.sleep(0.01)
            game = await ask(client, "new_game", game="tictactoe", opponent=short["name"])
            advice = await ask(client, "advise", game_id=game["game_id"], agent=short["name"])
            assert advice["unit"] == "value" and len(advice["moves"]) == 9
            metrics = await client.read_resource(f"ludus://runs/{short['name']}/metrics")
            assert json.loads(metrics.contents[0].text)[-1]["step"] >= 20_000
            last = await ask(client, "train", **start, steps=50_000_000)
            await begun(client, last["name"])
        return one.working

    assert asyncio.run(train())._living() == []  # closing the server has stopped the trainer
