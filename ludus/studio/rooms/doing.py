"""What each command does to a room, in the room's own thread."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.studio.rooms.players import PERSON
from ludus.types import Continuous, LudusError

if TYPE_CHECKING:
    from ludus.studio.rooms.room import Listener, Room

REPLY = 0.4
"""seconds until an agent answers a person, at most"""


def act(room: Room, who: Listener | None, action: int, move: int) -> None:
    """A person's move, if it was chosen in this very position."""
    if room.table.continuous:
        raise LudusError("this game is steered and not played move by move; take the wheel")
    if move != room.table.moves:
        raise LudusError(f"that move was chosen at move {move}, and the game is at move {room.table.moves}")
    if room.table.pick(action):
        room.next_move = time.monotonic() + min(room.period(), REPLY) - room.period()
        room.play(room.table.decide())
    else:
        room.settle(urgent=True)


def undo(room: Room, who: Listener | None) -> None:
    """Take the last move of a person back, and with it the result that it led to."""
    over = room.table.over
    room.table.undo()
    if over:
        room.games, room.result = room.games - 1, None
        room.scores.pop()
    room.settle(urgent=True)


def hint(room: Room, who: Listener | None) -> None:
    """Ask the strongest agent that the game has; where nobody else thinks aloud, it says what it thinks besides."""
    room.thinking = True
    room.tell(urgent=True)
    try:
        if room.thoughts is None and room.table.waiting_for() is not None and room.table.advise():
            room.ponder()
        action = room.table.hint()
        room.hint = {"action": action, "name": room.table.pool.action_name(action)}
    finally:
        room.thinking = False
        room.tell(urgent=True)


def again(room: Room, who: Listener | None, seed: int | None = None) -> None:
    """A new game, on another track where the room chose the track."""
    room.table.open(secrets.randbelow(2**31) if seed is None else seed)
    if room.table.drawn_track:
        room.stage.new_road()
    room.slow = True
    room.begin()


def change(room: Room, who: Listener | None, **settings: Any) -> None:
    """Other players, another pace, another view."""
    if "seats" in settings:
        room.table.set_seats(settings["seats"])
        room.take_seats()
    if "cars" in settings:
        room.table.set_cars(settings["cars"])
    for name in {"speed", "paused", "ghost", "imagine"} & set(settings):
        setattr(room, name, settings[name])
    room.next_move = time.monotonic() + room.period()
    if {"seats", "cars"} & set(settings):
        room.slow = True
        room.settle(urgent=True)
    else:
        room.refresh()


def tick(room: Room, who: Listener | None) -> None:
    """One step of a room that is paused."""
    if not room.paused:
        raise LudusError("step by step goes only while the room is paused; pause it first")
    if room.table.waiting_for() is not None:
        raise LudusError("it is a person's turn; choose a move")
    if room.table.over:
        room.open_next()
    elif room.table.continuous:
        room.drive()
    else:
        if room.plan is None:
            room.ponder()
        assert room.plan
        room.play(room.plan)
    room.tell(urgent=True)


def wheel(room: Room, who: Listener | None, hands: str) -> None:
    """Take the wheel, or hand it back; whoever took it and leaves hands it back too."""
    if not room.table.continuous:
        raise LudusError("this game has no wheel; choose a move instead")
    room.wheel, room.holder = hands, who if hands == PERSON else None
    room.driven = room.driven or hands == PERSON
    room.steering = room.neutral()
    room.tell(urgent=True)


def steer(room: Room, who: Listener | None, action: list[float]) -> None:
    """Counts from the next step on, until something else is said."""
    bounds = room.table.spec.actions
    if room.wheel != PERSON or not isinstance(bounds, Continuous):
        raise LudusError("the agent has the wheel, if there is one; take it first")
    if len(action) != len(bounds.low):
        raise LudusError(f"steering is {len(bounds.low)} numbers, not {len(action)}")
    room.steering = np.clip(np.array(action, np.float64), bounds.low, bounds.high)


DOING: dict[str, Callable[..., None]] = {
    "act": act, "undo": undo, "hint": hint, "again": again, "set": change, "tick": tick, "wheel": wheel, "steer": steer
}  # fmt: skip
