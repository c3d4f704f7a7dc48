"""What a foreign MCP server says about a game, checked: a state that cannot be one of the game is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ludus import games
from ludus.dsl import bounds
from ludus.types import Array, Discrete, LudusError

MOST_MOVES = 1_000_000
CUT = "cut"
"""the result of a game that ended at its limit of moves"""


class Legal(msgspec.Struct, frozen=True):
    """A legal move."""

    action: int
    name: str


class View(msgspec.Struct, frozen=True):
    """The part of a state that this side reads; other fields are ignored."""

    game: str
    move: int
    turn: list[int]
    over: bool
    scores: list[float]
    legal: list[Legal]
    legal_count: int
    observation: dict[str, Any]
    seat: int | None = None
    text: str | None = None
    result: str | None = None


class RemoteState(NamedTuple):
    """A checked state of a game behind an MCP server."""

    move: int
    over: bool
    cut: bool
    """whether the game ended at its limit of moves"""
    score: float
    """sum of the rewards of this seat"""
    reward: float
    """since the last state"""
    observation: dict[str, Array]
    """the fields of the game's observation, as our own pool gives them"""
    mask: Array
    """[A] legal actions; all False if the game is over"""
    legal: dict[str, int]
    """the legal actions by name"""
    text: str


class Lie(LudusError):  # noqa: N818 - it is what the server has told
    """The server says something that cannot be; the game cannot go on."""


def read(facts: object, game: games.Game, before: RemoteState | None) -> RemoteState:
    """The state in the structured content of an answer; raises Lie if it is not one that can follow `before`."""
    try:
        view = msgspec.convert(facts, View)
    except msgspec.ValidationError as error:
        raise Lie(f"the state has another form than that of {game.name}: {error}") from None
    _check_progress(view, game, before)
    legal, mask = _moves(view, game)
    score = view.scores[view.seat or 0]
    reward = score - (before.score if before else 0.0)
    return RemoteState(
        view.move, view.over, view.result == CUT, score, reward, _observation(view.observation, game), mask, legal,
        view.text or "",
    )  # fmt: skip


def _check_progress(view: View, game: games.Game, before: RemoteState | None) -> None:
    if games.plain_name(view.game) != game.name:
        raise Lie(f"it plays {view.game[:60]}, not {game.name}")
    if not (0 <= view.move <= MOST_MOVES and (before is None or view.move > before.move)):
        last = "none" if before is None else f"{before.move:,}"
        raise Lie(f"it says that {view.move:,} moves have been played, after {last} before")
    seat = 0 if view.seat is None else view.seat
    if len(view.scores) != game.spec.seats or not 0 <= seat < game.spec.seats or not np.isfinite(view.scores).all():
        raise Lie(f"{game.name} has {game.spec.seats} finite scores, not {view.scores[:8]}")
    if view.over != (not view.turn) or (not view.over and seat not in view.turn):
        raise Lie(f"over is {view.over}, but the seats to move are {view.turn[:8]}; this is seat {seat}")
    if view.result == CUT and not view.over:
        raise Lie("it says that the game was cut off, but it goes on")


def _moves(view: View, game: games.Game) -> tuple[dict[str, int], Array]:
    """The legal actions by name and as a mask."""
    assert isinstance(game.spec.actions, Discrete)
    mask = np.zeros(game.spec.actions.n, bool)
    legal = {one.name: one.action for one in view.legal}
    actions = list(legal.values())
    if not all(0 <= action < len(mask) for action in actions):
        raise Lie(f"{game.name} has the actions 0 to {len(mask) - 1}, but others are said to be legal")
    mask[actions] = True
    if not len(view.legal) == view.legal_count == int(mask.sum()):
        raise Lie(f"{view.legal_count} moves are announced, but {int(mask.sum())} different ones listed")
    if bool(view.legal) == view.over:
        raise Lie(f"over is {view.over}, but {len(view.legal)} moves are said to be legal")
    return legal, mask


def _observation(given: Mapping[str, Any], game: games.Game) -> dict[str, Array]:
    """The observation in the types and shapes of the game, within its declared ranges."""
    form = game.rules.OBSERVATION
    if set(given) != set(form.names):
        different = ", ".join(sorted(set(given) ^ set(form.names))[:6])
        raise Lie(f"the observation has other fields than that of {game.name}: {different}")
    return {name: _field(name, given[name], form) for name in form.names}


def _field(name: str, value: object, form: np.dtype[Any]) -> Array:
    try:
        found = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise Lie(f"the field {name} of the observation is not made of numbers") from None
    kind, shape = form[name].base, form[name].shape
    low, high = bounds(form, name)
    if found.shape != shape or not ((found >= low) & (found <= high)).all():
        raise Lie(f"the field {name} of the observation has another shape or range than {shape} numbers")
    return found.astype(np.dtype(kind.str))
