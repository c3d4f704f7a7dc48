"""The picture of a table: the scene of row 0 and what is drawn over it, as frames that are encoded only once."""

from __future__ import annotations

import numpy as np

from ludus.dsl.draw import SHAPE
from ludus.dsl.rows import bare, new_rows
from ludus.studio import wire
from ludus.studio.rooms import gauges, ghost, imagination, swarm
from ludus.studio.rooms.table import Table
from ludus.types import Array

Frame = wire.Frame | wire.PixelFrame


class Stage:
    """Draws a table; keeps the last frame, because the next one contains only changes."""

    def __init__(self, room: int) -> None:
        self.room, self.number = room, 0
        self.shapes: Array = new_rows(0, bare(SHAPE))
        self.rows: Array | None = None
        self.gauges: tuple[float, ...] = ()
        self.new_layout()

    def empty(self) -> Frame:
        """A frame without shapes."""
        return wire.Frame(self.room, 0, 0, wire.pack(self.shapes), None)

    def new_layout(self) -> None:
        """Forget ghost and imagined path, which belong to the old layout."""
        self.ghost, self.imagination = ghost.GhostTrail(), imagination.Imagination()

    def new_game(self) -> None:
        """A new game on the same layout."""
        self.ghost.begin()
        self.imagination = imagination.Imagination()

    def notice(self, table: Table, imagine: bool) -> None:
        """Record row 0 after a step, for the ghost and the imagined path."""
        pool, rules = table.pool.compiled, table.game.rules
        if pool is None:
            return
        if ghost.part_of(table.game):
            self.ghost.add(table.game, pool.states[:1], table.over)
        player = table.players.get(0)
        if imagine and not table.over and imagination.can_imagine(player, rules):
            self.imagination.notice(player, rules, pool.states[0], pool.step)

    def measure(self, table: Table, value: float, action: Array) -> None:
        """Set the gauges of the next frames."""
        self.gauges = gauges.readings(table, value, action)

    def draw(self, table: Table, tick: int, with_ghost: bool, imagine: bool) -> Frame:
        """The next frame."""
        self.number += 1
        scene = _scene(table)
        if scene.dtype.names is None:
            self.shapes = scene
            return wire.PixelFrame(self.room, self.number, tick, scene, self.gauges)
        self.shapes = np.concatenate([scene, *self._overlays(table, with_ghost, imagine)])
        before, self.rows = self.rows, wire.pack(self.shapes)
        return wire.Frame(self.room, self.number, tick, self.rows, before, self.gauges)

    def _overlays(self, table: Table, with_ghost: bool, imagine: bool) -> list[Array]:
        """The ghost, the other rows of a swarm, and what the agent imagines."""
        rules, pool, extras = table.game.rules, table.pool.compiled, []
        if with_ghost and (state := self.ghost.state()) is not None:
            extras.append(swarm.tokens(rules, state, swarm.GHOST_COLOR))
        if pool is not None and pool.rows > 1:
            extras.append(swarm.tokens(rules, pool.states[1:], swarm.SWARM_COLOR))
        if imagine:
            extras.append(self.imagination.shapes())
        return extras


def _scene(table: Table) -> Array:
    """The shapes of row 0, or the pixels of all rows in one picture."""
    pool = table.pool
    if not pool.can_draw:
        return new_rows(0, bare(SHAPE))
    scene = pool.scene(0, seen_by(table))
    if scene.dtype.names is None and pool.rows > 1:
        return swarm.blended([scene, *(pool.scene(row) for row in range(1, pool.rows))])
    return scene


def seen_by(table: Table) -> int:
    """The seat whose view is drawn: the only person's, that of the person to act among several, else seat 0."""
    persons = table.person_seats()
    if len(persons) == 1:
        return persons[0]
    waiting = table.waiting_for()
    return 0 if waiting is None else waiting
