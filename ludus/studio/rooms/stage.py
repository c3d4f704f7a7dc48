"""What is seen of a table: the scene of row 0, then whoever else is on the road; as frames, each made once for all."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.pool import Pool
from ludus.studio import wire
from ludus.studio.rooms import imagining, swarm
from ludus.studio.rooms.players import PERSON
from ludus.studio.rooms.table import Table
from ludus.types import Array, Continuous
from ludus.words.draw import SHAPE
from ludus.words.rows import bare, new_rows

CONTROLS = ("steering", "throttle")
Frame = wire.Frame | wire.PixelFrame


class Stage:
    """Draws a table; keeps what it drew last, as the next frame tells only what changed."""

    def __init__(self, room: int) -> None:
        self.room, self.number = room, 0
        self.ghost, self.imagination = swarm.Ghost(), imagining.Imagination()
        self.shapes: Array = new_rows(0, bare(SHAPE))
        self.rows: Array | None = None
        self.gauges: tuple[float, ...] = ()

    def empty(self) -> Frame:
        """A picture of nothing yet."""
        return wire.Frame(self.room, 0, 0, wire.pack(self.shapes), None)

    def new_road(self) -> None:
        """Another track: the old ghost would drive through the fields."""
        self.ghost, self.imagination = swarm.Ghost(), imagining.Imagination()

    def new_game(self) -> None:
        """The same track again."""
        self.ghost.begin()
        self.imagination = imagining.Imagination()

    def notice(self, table: Table, imagine: bool) -> None:
        """Look at row 0 after a step."""
        pool = table.pool
        if can_ghost(table) and isinstance(pool, Pool):
            self.ghost.notice(pool.states[:1])
        player = table.players.get(0)
        if imagine and not table.over and isinstance(pool, Pool) and imagining.can_imagine(player, table.game.rules):
            self.imagination.notice(player, table.game.rules, pool.states[0], pool.step)

    def draw(self, table: Table, tick: int, ghost: bool, imagine: bool) -> Frame:
        """The next frame."""
        self.number += 1
        if isinstance(table.pool, Pool) and not hasattr(table.game.rules, "scene"):
            shapes = new_rows(0, bare(SHAPE))
        else:
            shapes = table.pool.scene(0, seen_by(table))
        if shapes.dtype.names is None:
            self.shapes = shapes
            return wire.PixelFrame(self.room, self.number, tick, shapes)
        self.shapes = np.concatenate([shapes, *self._others(table, ghost, imagine)])
        before, self.rows = self.rows, wire.pack(self.shapes)
        return wire.Frame(self.room, self.number, tick, self.rows, before, self.gauges)

    def _others(self, table: Table, ghost: bool, imagine: bool) -> list[Array]:
        """Whoever is on the road besides the car of row 0."""
        rules, pool, extras = table.game.rules, table.pool, []
        if ghost and (state := self.ghost.state()) is not None:
            extras.append(swarm.tokens(rules, state, swarm.GHOST_COLOR))
        if pool.rows > 1 and isinstance(pool, Pool):
            extras.append(swarm.tokens(rules, pool.states[1:], swarm.SWARM_COLOR))
        if imagine:
            extras.append(self.imagination.shapes())
        return extras

    def measure(self, table: Table, value: float, action: Array) -> None:
        """What the gauges show from now on."""
        speed = [float(table.pool.states["speed"][0])] if has_field(table, "speed") else []  # type: ignore[attr-defined]
        self.gauges = (value, *(float(part) for part in action), *speed)


def gauge_names(table: Table) -> list[str]:
    """The numbers that come with every frame."""
    actions = table.spec.actions
    if not isinstance(actions, Continuous):
        return []
    count = len(actions.low)
    controls = list(CONTROLS) if count == 2 else [f"action {k + 1}" for k in range(count)]
    return ["value", *controls, *(["speed"] if has_field(table, "speed") else [])]


def has_field(table: Table, name: str) -> bool:
    return name in (getattr(table.game.rules, "STATE", np.dtype([])).names or ())


def can_ghost(table: Table) -> bool:
    return hasattr(table.game.rules, "token") and has_field(table, "laps")


def seen_by(table: Table) -> int:
    """Whose view is drawn: that of the one person, of the person who is to act among several, else of seat 0."""
    persons: list[int] = [seat for seat, name in enumerate(table.seats) if name == PERSON]
    if len(persons) == 1:
        return persons[0]
    waiting: Any = table.waiting_for()
    return int(waiting) if waiting is not None else 0
