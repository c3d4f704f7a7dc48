"""The MCP server: the tools, resources and prompts on one service of game sessions."""

from __future__ import annotations

import contextlib
import logging
import pathlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from ludus import __version__
from ludus.server.games import Games
from ludus.server.mcp.answers import telling
from ludus.server.mcp.balatro import BalatroTools
from ludus.server.mcp.play import GameTools
from ludus.server.mcp.reading import Reading, install
from ludus.server.mcp.work import MOST_STEPS, WorkTools
from ludus.server.seating import Bench
from ludus.server.service import Service, Settings
from ludus.server.stores import Limits
from ludus.server.stores.memory import MemoryStore

INSTRUCTIONS = """Games with agents that can be played against, asked for advice, trained and evaluated.
Open a game with new_game, keep its game_id, and play legal moves by name until the state says that the game is over.
Agents are named as in list_games (best, perfect, expert, trained, mcts(200)) or by the name of a training run."""
READS = ("list_games", "state", "legal_moves", "advise", "score_hand", "inspect_seed", "runs", "evaluate")
"""tools that change nothing"""


@dataclass(frozen=True)
class Options:
    """What the operator of the server decides."""

    out: pathlib.Path = pathlib.Path("runs")
    session_expiry: float = 24 * 3600.0
    max_sessions: int = 1000
    timeout: float = 120.0
    max_steps: int = MOST_STEPS


@dataclass(frozen=True)
class Opened:
    """A server that is ready, and its tools."""

    server: MCPServer[None]
    playing: GameTools
    working: WorkTools


@contextlib.asynccontextmanager
async def opened(options: Options) -> AsyncIterator[Opened]:
    """Open a server; at the end its games are closed and its trainers save and stop."""
    store = MemoryStore(Limits(options.session_expiry, options.max_sessions))
    service = Service((), store, Settings(timeout=options.timeout))
    await service.start()
    games = Games(service, Bench(options.out))
    playing, working = GameTools(games), WorkTools(games, options.out, options.max_steps)
    try:
        yield Opened(built(playing, BalatroTools(games), working), playing, working)
    finally:
        await working.close()
        await games.close()
        await service.close()


def built(playing: GameTools, balatro: BalatroTools, working: WorkTools) -> MCPServer[None]:
    """The server with everything that clients can use."""
    methods: list[Callable[..., Any]] = [
        playing.list_games, playing.new_game, playing.state, playing.legal_moves, playing.play, playing.undo,
        playing.advise, balatro.score_hand, balatro.inspect_seed, working.train, working.stop_training, working.runs,
        working.evaluate,
    ]  # fmt: skip
    tools = [tool_of(method) for method in methods]
    server: MCPServer[None] = MCPServer(
        "ludus", title="Ludus", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING",
        tools=tools, middleware=[Sentences({tool.name: tool for tool in tools})],
    )  # fmt: skip
    logging.getLogger("mcp").setLevel(logging.WARNING)
    install(server, Reading(playing, working))
    return server


@dataclass(frozen=True)
class Sentences:
    """Middleware that says in one sentence which arguments of a refused call were wrong."""

    tools: Mapping[str, Tool]

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "tools/call" and isinstance(result, dict) and result.get("isError"):
            called = ctx.params or {}
            tool = self.tools.get(str(called.get("name")))
            if tool and (sentence := mistakes(tool, called.get("arguments") or {})):
                return {**result, "content": [{"type": "text", "text": sentence}]}
        return result


def mistakes(tool: Tool, arguments: dict[str, Any]) -> str:
    """A sentence about the arguments that do not fit the schema of a tool; empty if all do."""
    try:
        tool.fn_metadata.validate_arguments(arguments)
    except ValidationError as error:
        wrong = [f"{one['loc'][0] if one['loc'] else 'arguments'}: {one['msg']}" for one in error.errors()[:6]]
        known = ", ".join(tool.parameters.get("properties", {})) or "none"
        return f"{tool.name} was called with wrong arguments. {'; '.join(wrong)}. Its arguments are: {known}"
    return ""


def tool_of(method: Callable[..., Any]) -> Tool:
    """A tool that refuses unknown arguments, instead of ignoring them."""
    reads = method.__name__ in READS
    hints = ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
    tool = Tool.from_function(telling(method), annotations=hints, structured_output=True)
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)
    return tool
