"""What clients can read without calling a tool: the rules of games, metrics of runs, replays; and prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import FunctionResource

from ludus import games
from ludus.dsl import bounds
from ludus.dsl.cache import interpreted
from ludus.evaluation import replays
from ludus.server.mcp.play import GameTools
from ludus.server.mcp.work import WorkTools, metrics_of
from ludus.server.problems import Problem
from ludus.types import Discrete, LudusError

PLAY = """Let us play {game} with the tools of the server ludus.
1. Read the resource ludus://games/{plain}/rules.
2. Open a game with new_game: game "{game}", opponent "{opponent}". Keep the game_id.
3. Until the game is over: look at the state, think about the legal moves, and play the best one by its name.
   legal_moves lists them all if the state shows only some. Do not call advise unless I ask for it.
4. At the end, tell me the scores and which move decided the game."""
COACH = """Be my coach for {game}, with the tools of the server ludus.
1. Read the resource ludus://games/{plain}/rules, and explain the rules in a few sentences if I ask.
2. Open a game with new_game: game "{game}". I decide every move; you play it for me with the tool play.
3. Before each of my moves, show me the position in words. If I ask for help, call advise with the agent "{agent}" and
   explain its choice and its ratings in plain words. Do not tell me the move before I have asked.
4. After each move, say whether an agent would have played the same, and why. Sum up my play at the end."""


@dataclass
class Reading:
    """Resources and prompts."""

    playing: GameTools
    working: WorkTools

    def rules(self, name: str) -> Callable[[], str]:
        """A function that reads the rules of a game."""

        def read() -> str:
            with interpreted():
                return rules_text(games.load(name))

        return read

    async def metrics(self, run: str) -> str:
        """The newest metrics of a training run, as JSON: one object for each update."""
        try:
            return json.dumps(metrics_of(self.working.folder(run)))
        except LudusError as error:
            raise unread(error) from None

    async def replay(self, watch_id: str) -> bytes:
        """A finished game as a file for `ludus replay`; the address has the watch_id of new_game."""
        try:
            return replays.packed(await self.playing.games.replay(watch_id))
        except LudusError as error:
            raise unread(error) from None

    def play(self, game: str = "balatro", opponent: str = "best") -> str:
        """Play a game against an agent."""
        return PLAY.format(game=game, plain=games.plain_name(game), opponent=opponent)

    def coach(self, game: str = "balatro", agent: str = "best") -> str:
        """Comment on a player's moves and suggest better ones, with the tool `advise`."""
        return COACH.format(game=game, plain=games.plain_name(game), agent=agent)


def unread(error: LudusError) -> ResourceError:
    """The error of a resource that cannot be read."""
    missing = isinstance(error, Problem) and error.status in (404, 410)
    return (ResourceNotFoundError if missing else ResourceError)(str(error))


def install(server: MCPServer[None], reading: Reading) -> None:
    """Add all resources and prompts."""
    for name in games.names():
        server.add_resource(
            FunctionResource.from_function(
                reading.rules(name),
                f"ludus://games/{name}/rules",
                f"rules of {name}",
                mime_type="text/markdown",
                description=f"Rules, actions and parameters of {name}.",
            )
        )
    server.resource("ludus://runs/{run}/metrics", name="metrics", mime_type="application/json")(reading.metrics)
    server.resource("ludus://replays/{watch_id}", name="replay", mime_type="application/octet-stream")(reading.replay)
    server.prompt(name="play", title="Play a game")(reading.play)
    server.prompt(name="coach", title="Coach me")(reading.coach)


def rules_text(game: games.Game) -> str:
    """What a game is, from its module: description, seats, actions, parameters and what a seat observes."""
    spec, rules = game.spec, game.rules
    paragraphs = [f"# {game.title}", (rules.__doc__ or "").strip().partition(":")[2].strip()]
    paragraphs.append(f"Seats: {spec.seats}; {spec.turns} moves, at most {spec.horizon:,} moves a game.")
    if isinstance(spec.actions, Discrete):
        paragraphs.append(
            f"Actions are numbers from 0 to {spec.actions.n - 1}; legal_moves names those that are legal."
        )
    else:
        pairs = zip(spec.actions.low, spec.actions.high, strict=True)
        paragraphs.append("An action is a list of numbers: " + ", ".join(f"{low:g} to {high:g}" for low, high in pairs))
    if parameters := games.parameters_of(rules):
        lines = [f"- {key}: {one.meaning} (default {one.default})" for key, one in parameters.items()]
        paragraphs.append(
            "\n".join(["Parameters, written like " + f"{game.name}({next(iter(parameters))}=…):", *lines])
        )
    seen = rules.OBSERVATION
    fields = [f"- {name}: {_shape(seen[name].shape)}{_range(*bounds(seen, name))}" for name in seen.names]
    return "\n\n".join([*filter(None, paragraphs), "\n".join(["A seat observes:", *fields])]) + "\n"


def _shape(shape: tuple[int, ...]) -> str:
    return f"{' x '.join(map(str, shape))} numbers" if shape else "a number"


def _range(low: object, high: object) -> str:
    import numpy as np

    least, most = float(np.min(low)), float(np.max(high))  # type: ignore[call-overload]
    return f" from {least:g} to {most:g}"
