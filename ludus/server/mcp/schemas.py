"""Types of the arguments and results of the tools; the JSON Schemas that clients see are made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, StrictInt
from typing_extensions import TypedDict

GameName = Annotated[
    str, Field(min_length=1, max_length=200, description="Name of a game, optionally with parameters: lair(locks=2).")
]
GameId = Annotated[str, Field(min_length=1, max_length=200, description="The game_id that new_game returned.")]
AgentName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="An agent from list_games (best, expert, trained, random, mcts(200), ...) or the name of a run.",
    ),
]
RunName = Annotated[str, Field(min_length=1, max_length=100, description="Name of a run, such as connect4-0001.")]
Seed = Annotated[StrictInt, Field(ge=0, le=2**63 - 1, description="The same seed gives the same game.")]
Picture = Annotated[Literal["none", "png", "svg"], Field(description="Add a picture of the game.")]
Action = Annotated[StrictInt, Field(ge=0, lt=2**31)]
Numbers = Annotated[list[float], Field(max_length=64)]
MoveName = Annotated[str, Field(min_length=1, max_length=500)]
MoveNumber = Annotated[StrictInt, Field(ge=0, lt=2**31)]


class GameFacts(TypedDict):
    """A game that can be played here."""

    name: str
    title: str
    summary: str
    seats: int
    turns: str
    actions: str
    hidden: bool
    """whether seats see different things"""
    undo: bool
    """whether a move can be taken back: only in games without hidden information and without chance"""
    parameters: dict[str, str]
    agents: list[str]
    runs: list[str]
    """runs of this game, whose agents can be named too"""


class GameList(TypedDict):
    """All games."""

    games: list[GameFacts]


class LegalMove(TypedDict):
    """A move that may be played now."""

    action: int
    name: str


class PlayedMove(TypedDict):
    """A move that was played, as the seat that looks may know it."""

    move: int
    seat: int
    name: str


class GameView(TypedDict):
    """A game as one seat sees it."""

    game_id: str
    game: str
    seats: list[str]
    seat: int | None
    move: int
    """number of moves played"""
    turn: list[int]
    """seats that are to move; empty if the game is over"""
    over: bool
    result: str | None
    scores: list[float | None]
    """sum of the rewards of each seat"""
    text: str | None
    legal_count: int
    legal: list[LegalMove]
    """the first legal moves; legal_moves lists all"""
    low: list[float]
    high: list[float]
    """bounds of each component of a continuous action"""
    last: list[PlayedMove]
    observation: NotRequired[dict[str, Any]]


class OpenedGame(TypedDict):
    """A new game."""

    game_id: str
    """for the first person's seat; keep it secret from other players"""
    other_game_ids: dict[str, str]
    """for the seats of further persons, by the number of the seat"""
    watch_id: str
    """shows what everybody may see"""
    state: GameView


class LegalMoves(TypedDict):
    """Some of the legal moves."""

    move: int
    count: int
    """number of legal moves that match"""
    start: int
    moves: list[LegalMove]
    low: list[float]
    high: list[float]


class RatedMove(TypedDict):
    """A move and its rating."""

    action: int
    name: str
    rating: float | None


class AdviceView(TypedDict):
    """What an agent would do."""

    agent: str
    move: int
    action: int | list[float]
    name: str
    value: float | None
    """the agent's estimate of the rewards that the seat will still get"""
    unit: str | None
    """chance: ratings are probabilities; value: ratings are expected rewards"""
    moves: list[RatedMove]


class Report(TypedDict):
    """Facts as JSON."""

    facts: dict[str, Any]


class RunFacts(TypedDict):
    """A training run."""

    name: str
    game: str
    algorithm: str
    status: str
    """new, training, paused, stopped, finished or failed"""
    problem: str | None
    steps: int
    of: int
    score: float | None
    low: float | None
    high: float | None
    """the newest score with its 95 % confidence interval"""
    seconds: float


class RunList(TypedDict):
    """Training runs."""

    runs: list[RunFacts]
