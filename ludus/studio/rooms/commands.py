"""The effect of each command on a room, in the room's thread."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.studio.rooms.audience import Listener
    from ludus.studio.rooms.runner import Runner


def act(runner: Runner, listener: Listener | None, action: int, move: int) -> None:
    """Play a person's move, if it was chosen in the present position."""
    table = runner.table
    if table.continuous:
        raise LudusError("this game is controlled continuously, not move by move; take control instead")
    if move != table.moves:
        raise LudusError(f"that move was chosen at move {move}, but the game is at move {table.moves}; choose again")
    if table.pick(action):
        runner.schedule.reply()
        runner.play(table.decide())
    else:
        runner.settle(urgent=True)


def undo(runner: Runner, listener: Listener | None) -> None:
    """Take back the last move of a person, and the result if it ended the game."""
    over = runner.table.over
    runner.table.undo()
    if over:
        runner.scores.take_back()
    runner.settle(urgent=True)


def hint(runner: Runner, listener: Listener | None) -> None:
    """Ask the strongest agent of the game for a move."""
    deliberation = runner.deliberation
    deliberation.busy = True
    runner.send_state(urgent=True)
    try:
        deliberation.give_hint()
    finally:
        deliberation.busy = False
        runner.send_state(urgent=True)


def again(runner: Runner, listener: Listener | None, seed: int | None = None) -> None:
    """Open a new game, with another layout if the room chooses the layout."""
    runner.table.open(secrets.randbelow(2**31) if seed is None else seed)
    if runner.table.layout:
        runner.stage.new_layout()
    runner.deliberation.slow = True
    runner.begin()


def change(runner: Runner, listener: Listener | None, seats: list[str] | None = None, swarm: int | None = None,
           **settings: float | bool) -> None:  # fmt: skip
    """Change players, the size of the swarm, or `settings`: speed, paused, ghost, imagine."""
    if seats is not None:
        runner.table.set_seats(seats)
        runner.takeover.reset()
    if swarm is not None:
        runner.table.set_swarm(swarm)
    for name, value in settings.items():
        setattr(runner.settings, name, value)
    runner.schedule.restart()
    if seats is not None or swarm is not None:
        runner.deliberation.slow = True
        runner.settle(urgent=True)
    else:
        runner.refresh()


def tick(runner: Runner, listener: Listener | None) -> None:
    """One step of a paused room."""
    if not runner.settings.paused:
        raise LudusError("single steps need a paused room; pause it first")
    if runner.table.waiting_for() is not None:
        raise LudusError("it is a person's turn; choose a move")
    if runner.table.over:
        runner.open_next()
    elif runner.table.continuous:
        runner.advance()
    else:
        runner.play(runner.plan())
    runner.send_state(urgent=True)


def control(runner: Runner, listener: Listener | None, hands: str) -> None:
    """Take control of a continuous game, or give it back; the agent also gets it back when the listener leaves."""
    runner.takeover.give(hands, listener)
    runner.send_state(urgent=True)


def set_input(runner: Runner, listener: Listener | None, action: list[float]) -> None:
    """The action of the person in control from the next step on."""
    runner.takeover.set(action)


COMMANDS: dict[str, Callable[..., None]] = {
    "act": act, "undo": undo, "hint": hint, "again": again, "set": change, "tick": tick, "control": control,
    "input": set_input,
}  # fmt: skip
