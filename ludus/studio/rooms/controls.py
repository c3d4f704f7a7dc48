"""Continuous control by a person: the controls of a game, and who operates them at the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ludus.dsl.interfaces import HORIZONTAL, VERTICAL, Control
from ludus.studio.foreign import AnyGame
from ludus.studio.rooms.players import PERSON
from ludus.types import Array, Continuous, JsonObject, LudusError, Spec

if TYPE_CHECKING:
    from ludus.studio.rooms.audience import Listener
    from ludus.studio.rooms.table import Table

AGENT = "agent"
KEYS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("ArrowLeft", "KeyA"), ("ArrowRight", "KeyD")), (("ArrowDown", "KeyS"), ("ArrowUp", "KeyW")),
    (("KeyQ",), ("KeyE",)), (("KeyZ",), ("KeyC",)),
)  # fmt: skip
"""default keys of the first components of an action; further ones have a slider only"""


def controls_of(game: AnyGame) -> list[Control]:
    """One control for each component of a continuous action: those that the game declares, else defaults."""
    actions = game.spec.actions
    if not isinstance(actions, Continuous):
        return []
    count = len(actions.low)
    declared = getattr(game.rules, "CONTROLS", None)
    if declared is None:
        return [Control(f"action {k + 1}", VERTICAL if k % 2 else HORIZONTAL) for k in range(count)]
    if len(declared) != count:
        raise LudusError(
            f"{game.name} declares {len(declared)} CONTROLS, but its actions have {count} components; "
            "declare one Control for each"
        )
    return list(declared)


def describe(game: AnyGame) -> list[JsonObject]:
    """The controls as the page reads them, with bounds and keys filled in."""
    bounds, rest = game.spec.actions, neutral(game.spec)
    if not isinstance(bounds, Continuous):
        return []
    found = []
    for k, control in enumerate(controls_of(game)):
        keys = control.keys or (KEYS[k] if k < len(KEYS) else ((), ()))
        limits = {"low": bounds.low[k], "neutral": float(rest[k]), "high": bounds.high[k]}
        found.append(control._asdict() | limits | {"keys": keys})
    return found


def neutral(spec: Spec) -> Array:
    """[k] the action at rest: zero, or the bound next to it."""
    if not isinstance(spec.actions, Continuous):
        return np.zeros(0)
    return np.clip(np.zeros(len(spec.actions.low)), spec.actions.low, spec.actions.high)


class Takeover:
    """Who controls row 0 of a continuous game: the agent, or a person."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.used = False
        """whether a person had control at some time in this game"""
        self.reset()

    def reset(self) -> None:
        """A person who has the seat has control; else the agent."""
        seated = self._table.continuous and PERSON in self._table.seats
        self.owner = PERSON if seated else AGENT
        self.holder: Listener | None = None
        """the listener that took control; it goes back to the agent when that listener leaves"""
        self._action = neutral(self._table.spec)

    def begin(self) -> None:
        """A new game."""
        self.used = self.owner == PERSON

    def give(self, hands: str, listener: Listener | None) -> None:
        """Give control to "person" or "agent"."""
        if not self._table.continuous:
            raise LudusError("this game has no continuous control; choose a move instead")
        self.owner, self.holder = hands, listener if hands == PERSON else None
        self.used = self.used or hands == PERSON
        self._action = neutral(self._table.spec)

    def set(self, action: list[float]) -> None:
        """The person's action from the next step on; values are clipped to their bounds."""
        bounds = self._table.spec.actions
        if self.owner != PERSON or not isinstance(bounds, Continuous):
            raise LudusError("the agent has control; take control first")
        if len(action) != len(bounds.low):
            raise LudusError(f"an action of this game has {len(bounds.low)} numbers, not {len(action)}")
        self._action = np.clip(np.array(action, np.float64), bounds.low, bounds.high)

    def release(self, listener: Listener) -> bool:
        """Give control back if this listener held it and no person has the seat; return whether it did."""
        if self.holder is not listener or PERSON in self._table.seats:
            return False
        self.owner, self.holder = AGENT, None
        return True

    @property
    def action(self) -> Array | None:
        """[k] the action of the person; None while the agent has control."""
        return self._action if self.owner == PERSON else None
