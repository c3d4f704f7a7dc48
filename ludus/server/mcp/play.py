"""Tools that play: games, moves, and advice. They use the same game sessions as `ludus serve`."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypeVar

from mcp_types import CallToolResult, ImageContent
from pydantic import Field, StrictBool

from ludus import agents, games
from ludus.dsl.cache import interpreted
from ludus.server import messages
from ludus.server.games import Games
from ludus.server.match import PERSON, draws_random_numbers, has_hidden_information
from ludus.server.mcp.answers import answered, finite, legal_text, picture_of, state_text, view_of
from ludus.server.mcp.schemas import (
    Action,
    AdviceView,
    AgentName,
    GameFacts,
    GameId,
    GameList,
    GameName,
    GameView,
    LegalMoves,
    MoveName,
    MoveNumber,
    Numbers,
    OpenedGame,
    Picture,
    Seed,
)
from ludus.server.problems import Problem
from ludus.types import Discrete, LudusError

COMPILING = 45.0
"""seconds that a call waits for the compiler; clients often give a call 60"""
Result = TypeVar("Result")
MOST_LISTED = 500
"""legal moves in one answer"""


class Seat(NamedTuple):
    """What a game_id stands for: a game, and the seat that it may see and play; no seat for those who watch."""

    id: str
    seat: int | None
    key: str


def seat_of(game_id: str) -> Seat:
    """Read a game_id: ID:SEAT:KEY, or ID of a game to watch."""
    name, _, rest = game_id.strip().partition(":")
    number, _, key = rest.partition(":")
    if not rest:
        return Seat(name, None, "")
    if not (number.isascii() and number.isdecimal() and len(number) < 3):
        raise Problem(404, "game_not_found", "this is no game_id; use one that new_game returned")
    return Seat(name, int(number), key)


@dataclass
class GameTools:
    """The tools of game sessions."""

    games: Games
    _facts: dict[str, GameFacts] = field(default_factory=dict)

    async def list_games(self) -> Annotated[CallToolResult, GameList]:
        """List the games with their seats, parameters, and the agents that can be named as opponents or advisors."""
        found = await self.games.look(self._listed)
        lines = [
            f"{one['name']}: {one['title']}, {one['summary']} Agents: {', '.join(one['agents'])}." for one in found
        ]
        return answered("\n".join(lines), {"games": found})

    def _listed(self) -> list[GameFacts]:
        trained = list(self.games.bench.trained())
        found: list[GameFacts] = []
        for name in games.names():
            with contextlib.suppress(LudusError):  # a broken game of the user cannot be played; ludus games shows it
                facts = self._facts.get(name) or self._facts.setdefault(name, facts_of(name))
                own = [run for run, played in trained if games.plain_name(played) == name]
                listed: GameFacts = {**facts, "runs": own}
                found.append(listed)
        return found

    async def new_game(
        self, game: GameName, seats: Annotated[list[AgentName], Field(max_length=64)] | None = None,
        opponent: AgentName = "best", seed: Seed | None = None,
        observation: StrictBool = False,
    ) -> Annotated[CallToolResult, OpenedGame]:  # fmt: skip
        """Open a game. By default you play the first seat and `opponent` all others.

        `seats` names each player instead: "person" for a seat that is played with a game_id, or an agent.
        The game_id in the result belongs to one seat: it shows what that seat may see, and plays its moves.
        """
        named = seats if seats is not None else await self.games.look(usual_seats, game, opponent)
        if seed is not None and named.count(PERSON) > 1:
            raise Problem(422, "invalid", "leave out the seed if several persons play: it would foretell the game")
        opened = await compiled(lambda: self.games.open(messages.NewGame(game, named, seed)))
        ids = {seat: f"{opened.id}:{seat}:{key}" for seat, key in opened.keys.items()}
        own, *others = ids
        facts = {
            "game_id": ids[own], "other_game_ids": {seat: ids[seat] for seat in others}, "watch_id": opened.id,
            "state": view_of(opened.state, ids[own], observation),
        }  # fmt: skip
        text = f"game_id: {ids[own]}\n{state_text(opened.state)}"
        return answered(text + "".join(f"\ngame_id of seat {seat}: {ids[seat]}" for seat in others), facts)

    async def state(
        self, game_id: GameId, picture: Picture = "none", observation: StrictBool = False
    ) -> Annotated[CallToolResult, GameView]:
        """Show a game as your seat sees it: the board in words, the newest moves, whose turn it is, the legal moves.

        `observation` adds all numbers that a trained agent reads, and lists all legal moves, for programs.
        """
        seat = seat_of(game_id)
        state = await self.games.state(*seat)
        pictures = [] if picture == "none" else [await self._picture(seat, picture)]
        return answered(state_text(state), view_of(state, game_id, observation), *pictures)

    async def _picture(self, seat: Seat, kind: str) -> ImageContent:
        shapes, frame = await self.games.scene(*seat)
        return await self.games.look(picture_of, shapes, frame, kind)

    async def legal_moves(
        self, game_id: GameId, contains: Annotated[str, Field(max_length=100)] = "",
        start: Annotated[int, Field(ge=0, lt=2**31)] = 0, limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 200,
    ) -> Annotated[CallToolResult, LegalMoves]:  # fmt: skip
        """List the legal moves of your seat; empty if it is not its turn. `contains` keeps those whose name has it."""
        state = await self.games.state(*seat_of(game_id))
        found = [one for one in state.legal if contains.casefold() in one.name.casefold()]
        some = found[start : start + limit]
        facts = {
            "move": state.move, "count": len(found), "start": start,
            "moves": [{"action": one.action, "name": one.name} for one in some], "low": state.low, "high": state.high,
        }  # fmt: skip
        text = "\n".join(f"{one.action}: {one.name}" for one in some) or "No legal moves."
        return answered(text if not state.low else state_text(state), facts)

    async def play(
        self, game_id: GameId, move: Action | Numbers | MoveName, at_move: MoveNumber | None = None,
        picture: Picture = "none", observation: StrictBool = False,
    ) -> Annotated[CallToolResult, GameView]:  # fmt: skip
        """Play a move by its name or its action number; a list of numbers if actions are continuous.

        The agents answer at once, and the result is the state after their moves. `at_move` is the number of moves
        played so far: with it, repeating a call whose answer was lost cannot play twice.
        """
        seat = own_seat(game_id)
        number = at_move
        if number is None:
            number = (await self.games.state(*seat)).move
        action, name = (None, move) if isinstance(move, str) else (move, None)
        wanted = messages.Move(number, seat.seat, action, name, seat.key)
        state = await self.games.move(seat.id, wanted)
        pictures = [] if picture == "none" else [await self._picture(Seat(*seat), picture)]
        return answered(state_text(state), view_of(state, game_id, observation), *pictures)

    async def undo(self, game_id: GameId) -> Annotated[CallToolResult, GameView]:
        """Take back your newest move and the agents' answers to it, for practice.

        Only in games without hidden information and without chance, against agents: there a move reveals nothing.
        """
        seat = own_seat(game_id)
        state = await self.games.undo(seat.id, seat.seat, seat.key)
        return answered(state_text(state), view_of(state, game_id))

    async def advise(self, game_id: GameId, agent: AgentName = "best") -> Annotated[CallToolResult, AdviceView]:
        """What an agent would play in your place, with its value of the position and its rating of the moves.

        The agent sees only what your seat may see. Ratings are probabilities (networks, tree search) or values
        (tables, perfect players, lookahead); agents with fixed rules give only a move.
        """
        seat = own_seat(game_id)
        found = await compiled(lambda: self.games.advise(seat.id, seat.seat, seat.key, agent))
        moves = [{"action": one.action, "name": one.name, "rating": finite(one.rating)} for one in found.moves]
        facts = {
            "agent": found.agent, "move": found.move, "action": found.action, "name": found.name,
            "value": finite(found.value), "unit": found.unit, "moves": moves,
        }  # fmt: skip
        return answered(advice_text(found), facts)


class OwnSeat(NamedTuple):
    """A seat that a person plays."""

    id: str
    seat: int
    key: str


def own_seat(game_id: str) -> OwnSeat:
    """The seat of a game_id that may play."""
    name, seat, key = seat_of(game_id)
    if seat is None:
        raise Problem(403, "not_your_seat", "this id only watches; use the game_id of a seat")
    return OwnSeat(name, seat, key)


async def compiled(work: Callable[[], Awaitable[Result]]) -> Result:
    """The result of some work, which waits if its game has to be compiled; a model cannot wait by itself."""
    deadline = time.monotonic() + COMPILING
    while True:
        try:
            return await work()
        except Problem as problem:
            if problem.code != "compiling" or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.5)


def usual_seats(name: str, opponent: str) -> list[str]:
    """A person in the first seat, and the same opponent in all others."""
    with interpreted():
        game = games.load(check_name(name))
    return [PERSON, *[opponent] * (game.spec.seats - 1)]


def check_name(name: str) -> str:
    """The name of a game of Ludus; other libraries and engines are refused, because they could load files."""
    if ":" in name or "@" in name:
        raise Problem(404, "game_not_found", "only games that list_games lists can be used here")
    return name


def facts_of(name: str) -> GameFacts:
    """What a client needs to know about a game."""
    with interpreted():
        game = games.load(name)
    actions, hidden = game.spec.actions, has_hidden_information(game)
    if isinstance(actions, Discrete):
        kind = f"one of {actions.n} actions"
    else:
        kind = f"{len(actions.low)} numbers from {list(actions.low)} to {list(actions.high)}"
    return {
        "name": game.name, "title": game.title, "summary": game.summary, "seats": game.spec.seats,
        "turns": game.spec.turns, "actions": kind, "hidden": hidden,
        "undo": not hidden and not draws_random_numbers(game),
        "parameters": {key: one.meaning for key, one in games.parameters_of(game.rules).items()},
        "agents": [*agents.kinds_for(game.name), *agents.shipped_kinds(game.name)], "runs": [],
    }  # fmt: skip


def advice_text(found: messages.Advice) -> str:
    """Advice in words."""
    lines = [f"{found.agent} would play {found.name}."]
    if found.value is not None:
        lines.append(f"It expects the seat to get {found.value:.3g} from here.")
    if found.moves:
        what = "probability" if found.unit == "chance" else "value"
        rated = ", ".join(f"{one.name} {one.rating:.3g}" for one in found.moves[:12])
        lines.append(f"Its {what} of each move, the best first: {rated}.")
    return "\n".join(lines)


__all__ = ["GameTools", "Seat", "check_name", "legal_text", "seat_of"]
