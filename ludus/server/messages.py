"""Bodies of requests and answers; msgspec reads, checks and writes them, and the OpenAPI is made from them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

Seat = Annotated[int, Meta(ge=0, lt=64)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Index = Annotated[int, Meta(ge=0, lt=2**53)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Numbers = Annotated[list[float], Meta(max_length=64)]
Choice = Annotated[int, Meta(ge=0, lt=2**31)]


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Open an agent session: the caller plays the game and asks for decisions."""

    model: Name
    seat: Seat = 0
    """the seat that the agent plays"""
    seed: Seed | None = None


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the decision for one observation."""

    index: Index
    """0 for the first observation, then the index of the last answer; repeating the last request is safe"""
    observation: Any
    """all fields by name, or the array of a game with one field"""
    mask: Any = None
    """one number or boolean for each action, true if it is legal; without it all are legal"""


class SessionInfo(msgspec.Struct, frozen=True):
    """A new session."""

    id: str
    model: str
    version: str
    seat: int
    index: int
    """the index of the next request"""


class Answer(msgspec.Struct, frozen=True):
    """The decision for one observation."""

    action: int | list[float]
    name: str
    probabilities: list[float]
    """one for each action; empty for continuous actions"""
    value: float
    """expected return of the seat that acts"""
    index: int
    """the index of the next request"""
    degraded: bool = False
    """the network failed, and the action is a legal default"""


class NewGame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Open a game session: the server plays the rules and the agents."""

    game: Name
    seats: Annotated[list[Name], Meta(min_length=1, max_length=64)]
    """for each seat "person", the name of a model, or an agent of the game such as mcts(200)"""
    seed: Seed | None = None


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Play a move by its action or its name."""

    move: Index
    """the number of moves played before this one, as in the state; repeating the last request is safe"""
    seat: Seat = 0
    action: Choice | Numbers | None = None
    name: Annotated[str, Meta(max_length=500)] | None = None
    key: Annotated[str, Meta(max_length=100)] = ""
    """the key of the seat, if the game hides information or has several persons; or in the header X-Seat-Key"""


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the state, in the WebSocket of a game."""

    seat: Seat | None = None
    key: Annotated[str, Meta(max_length=100)] = ""


class Legal(msgspec.Struct, frozen=True):
    """A move that may be played now."""

    action: int
    name: str


class Played(msgspec.Struct, frozen=True):
    """A move that was played, named so that it reveals nothing hidden from the seat that reads it."""

    move: int
    seat: int
    name: str


class State(msgspec.Struct, frozen=True):
    """A game as one seat sees it."""

    id: str
    game: str
    seats: list[str]
    move: int
    """the number of moves played"""
    turn: list[int]
    """the seats that are to move; empty if the game is over"""
    over: bool
    result: str | None
    """"over" if the game ended by its rules, "cut" if it reached its maximum length; null while it goes on"""
    scores: list[float]
    """the sum of the rewards of each seat"""
    hidden: bool
    """whether the game has hidden information, so that a seat is shown only to those with its key"""
    seat: int | None = None
    """the seat whose view follows; null if no seat was asked for in a game with hidden information"""
    text: str | None = None
    observation: dict[str, Any] | None = None
    legal: list[Legal] = []
    """the moves that the seat may play; empty if it is not its turn, or if actions are continuous"""
    low: list[float] = []
    high: list[float] = []
    """bounds of each component of a continuous action"""
    last: list[Played] = []
    """the newest moves, the oldest first"""


class Rated(msgspec.Struct, frozen=True):
    """A move with the probability or the value that an agent gives it."""

    action: int
    name: str
    rating: float


class Advice(msgspec.Struct, frozen=True):
    """What an agent would do in the place of a seat."""

    agent: str
    move: int
    """the number of moves played before the advice"""
    action: int | list[float]
    name: str
    value: float | None = None
    """expected return of the seat; null if the agent has no estimate"""
    unit: str | None = None
    """"chance" if ratings are probabilities, "value" if they are expected returns; null without ratings"""
    moves: list[Rated] = []
    """the best rated moves first; empty if the agent rates none"""


class OpenedGame(msgspec.Struct, frozen=True):
    """A new game: its state, and the secret key of each seat of a person."""

    id: str
    keys: dict[str, str]
    """by the number of the seat; needed in games with hidden information"""
    state: State
