"""The MCP server through the official client: whole games, and malformed calls that must change and reveal nothing."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from mcp import Client, MCPError, StdioServerParameters, stdio_client

from ludus.bench import Result, Tell
from ludus.types import JsonObject, LudusError

GAMES = ("balatro", "duel")
PARTS = ("games", "calls")
PATIENCE = 300.0
"""seconds that one call may take"""
JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 2**70, 1.5, float("inf"), "", " ", "\0", "é", "../../etc/passwd", "/etc/passwd",
    "runs/x", "http://localhost:1/x", "person", "best", "'; DROP TABLE games", "{", "[1, 2]", "x" * 5000, [], [0],
    ["person"] * 70, {}, {"a": {"b": []}}, [[[[]]]], "-1", "--help", "gymnasium:CartPole-v1", "duel@ygopro(core=x)",
)  # fmt: skip
"""values that replace arguments"""


class Call(NamedTuple):
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any]


class Tally(NamedTuple):
    """What came of malformed calls."""

    refused: int = 0
    answered: int = 0
    crashed: int = 0
    revealed: int = 0
    """answers that show what belongs to another seat"""


class Malformer:
    """Makes malformed calls: valid ones with arguments that are missing, unknown, junk, damaged, or of another seat."""

    def __init__(self, seed: int, opened: JsonObject) -> None:
        self.random = random.Random(seed)
        self.own: str = opened["game_id"]
        self.other: str = opened["other_game_ids"]["1"]

    def calls(self) -> tuple[Call, ...]:
        """Valid calls of every tool that does not start a process."""
        own = {"game_id": self.own}
        return (
            Call("list_games", {}), Call("new_game", {"game": "tictactoe", "opponent": "random", "seed": 1}),
            Call("new_game", {"game": "goofspiel", "seats": ["person", "random"]}), Call("state", dict(own)),
            Call("state", {**own, "observation": True}), Call("legal_moves", {**own, "contains": "1", "start": 0}),
            Call("play", {**own, "move": 0, "at_move": 10_000}), Call("play", {**own, "move": "no such card"}),
            Call("undo", dict(own)), Call("advise", {**own, "agent": "random"}),
            Call("score_hand", {"play": ["KH", "KD"], "jokers": ["j_joker"], "levels": {"Pair": 2}}),
            Call("inspect_seed", {"seed": "?", "antes": 1}), Call("runs", {"run": "connect4-0001"}),
            Call("train", {"game": "no_such_game", "steps": 10}), Call("stop_training", {"run": "x"}),
            Call("evaluate", {"agent": "no_such_agent", "game": "tictactoe"}), Call("no_such_tool", dict(own)),
        )  # fmt: skip

    def call(self) -> Call:
        """One malformed call."""
        tool, arguments = self.random.choice(self.calls())
        for _ in range(self.random.randint(1, 2)):
            self._damage(arguments)
        return Call(tool, arguments)

    def _damage(self, arguments: dict[str, Any]) -> None:
        name = self.random.choice([*arguments, "unknown"])
        way = self.random.randrange(5)
        if way == 0:
            arguments.pop(name, None)
        elif way == 1 and isinstance(arguments.get(name), str):
            arguments[name] = self._damaged(arguments[name])
        elif way == 2 and name == "game_id":
            arguments[name] = self._forged()
        else:
            arguments[name] = self.random.choice(JUNK)

    def _damaged(self, text: str) -> str:
        place, letter = self.random.randrange(len(text) + 1), chr(self.random.choice((0, 10, 34, 58, 92, 233, 0x1F600)))
        return text[:place] + letter + text[place + self.random.randrange(3) :]

    def _forged(self) -> str:
        """The game_id of the other seat with the own key, or with none."""
        name, _, key = self.own.split(":")
        return self.random.choice((f"{name}:1:{key}", f"{name}:1:", f"{name}:-1:{key}", f"{name}:1:{key} ", name))

    def reveals(self, call: Call, answer: JsonObject | None) -> bool:
        """Whether an answer shows the other seat, its key, or what it holds."""
        if answer is None:
            return False
        if self.other.rpartition(":")[2] in repr(answer):
            return True
        game_id = str(call.arguments.get("game_id", ""))
        own_view = answer.get("seat") == 0 and game_id.strip().startswith(self.own)
        return call.tool == "state" and "observation" in answer and not own_view


async def malformed(client: Client, count: int, seed: int, tell: Tell) -> Tally:
    """Send malformed calls while a game with hidden cards between two persons goes on."""
    opened = await client.call_tool("new_game", {"game": "goofspiel", "seats": ["person", "person"]})
    assert opened.structured_content is not None
    malformer, tally = Malformer(seed, opened.structured_content), Tally()
    for done in range(count):
        call = malformer.call()
        tally = _counted(tally, malformer, call, *await _sent(client, call))
        if done % 100 == 0:
            tell("malformed calls", done, count)
    return tally


async def _sent(client: Client, call: Call) -> tuple[bool, str, JsonObject | None]:
    """Whether a call was refused, with which sentence, and the facts of the answer."""
    try:
        result = await client.call_tool(call.tool, call.arguments, read_timeout_seconds=PATIENCE)
    except MCPError as error:
        return True, str(error), None
    text = "".join(getattr(part, "text", "") for part in result.content)
    return bool(result.is_error), text, result.structured_content


def _counted(
    tally: Tally, malformer: Malformer, call: Call, refused: bool, text: str, facts: JsonObject | None
) -> Tally:
    crashed = refused and (not text or text == f"Error executing tool {call.tool}")
    return Tally(
        tally.refused + refused, tally.answered + (not refused), tally.crashed + crashed,
        tally.revealed + malformer.reveals(call, facts),
    )  # fmt: skip


@asynccontextmanager
async def connected(out: str) -> AsyncIterator[Client]:
    """The official client with a server in a process of its own."""
    words = ["-m", "ludus.cli", "mcp", "--out", out, "--max-sessions", "200"]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        yield client


async def whole_game(client: Client, game: str, seed: int) -> int:
    """Play a game to its end with random moves; returns the number of calls."""
    dice, calls = random.Random(seed), 1
    opened = await _facts(client, "new_game", {"game": game, "opponent": "best", "seed": seed})
    state, game_id = opened["state"], opened["game_id"]
    while not state["over"]:
        moves = (await _facts(client, "legal_moves", {"game_id": game_id, "limit": 500}))["moves"]
        chosen = dice.choice(moves)["action"]
        state = await _facts(client, "play", {"game_id": game_id, "move": chosen, "at_move": state["move"]})
        calls += 2
    return calls


async def _facts(client: Client, tool: str, arguments: dict[str, Any]) -> JsonObject:
    refused, text, facts = await _sent(client, Call(tool, arguments))
    if refused or facts is None:
        raise LudusError(f"the tool {tool} was refused: {text}")
    return facts


def suite(only: tuple[str, ...], count: int, tell: Tell) -> Iterator[Result]:
    """Whole games and malformed calls, over standard input and output."""
    wanted = [part for part in PARTS if not only or part.startswith(only)]
    with tempfile.TemporaryDirectory(prefix="ludus-bench-") as out:
        yield from asyncio.run(_measured(wanted, count, out, tell))


async def _measured(wanted: list[str], count: int, out: str, tell: Tell) -> list[Result]:
    results = []
    async with connected(out) as client:
        for game in GAMES if "games" in wanted else ():
            tell(f"a game of {game}", 0, 1)
            start = time.perf_counter()
            calls = await whole_game(client, game, 1)
            results.append(Result(f"{game} calls of a whole game", calls, "calls"))
            results.append(Result(f"{game} calls", calls / (time.perf_counter() - start), "calls/s"))
        if "calls" in wanted:
            start = time.perf_counter()
            tally = await malformed(client, count, 0, tell)
            results.append(Result("malformed calls", count / (time.perf_counter() - start), "calls/s"))
            results += [Result(f"malformed calls {name}", value, "calls") for name, value in tally._asdict().items()]
    return results
