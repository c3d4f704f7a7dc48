"""Many cars on one road: the other rows of a pool, and the ghost of the last lap, drawn by the game's `token`."""

from __future__ import annotations

import functools
import pathlib
from types import ModuleType
from typing import Any

import numpy as np

from ludus.pool import binding
from ludus.types import Array
from ludus.words.cache import telling_first_time
from ludus.words.draw import new_canvas
from ludus.words.rows import compiling, new_rows

KERNEL = pathlib.Path(__file__).with_name("swarm_kernel.py")
SWARM_COLOR, GHOST_COLOR = 0x9DB2CE, 0xC9CED6
LONGEST_LAP = 5000
"""steps of a lap that is remembered"""


@functools.cache
def bound(rules: ModuleType) -> Any:
    """The loop with a game's `token` in it, compiled or loaded from the cache."""
    name = rules.__name__.rpartition(".")[2]
    with binding._lock:  # the folder of the compile cache is a setting of the whole process
        kernel = binding.instantiate(KERNEL, f"ludus_tokens_{name}", rules=rules)
        if compiling():
            with telling_first_time(f"swarms of {name}", kernel.CACHE / "tokens"):
                kernel.draw_tokens(new_rows(0, rules.STATE), np.zeros(0, np.int64), new_canvas())
    return kernel


def tokens(rules: ModuleType, states: Array, color: int) -> Array:
    """The shapes of what moves in these states, all in one colour."""
    canvas = new_canvas()
    bound(rules).draw_tokens(states, np.full(len(states), color, np.int64), canvas)
    shapes: Array = canvas[0]["shapes"][: canvas[0]["count"]]
    return shapes


class Ghost:
    """The states of the last full lap of row 0, to be raced against."""

    def __init__(self) -> None:
        self.lap: list[Array] = []
        """the lap that is being driven"""
        self.last: list[Array] = []
        self.laps = 0

    def notice(self, state: Array) -> None:
        """The state [1] of row 0 after a step."""
        laps = int(state["laps"][0])
        if laps < self.laps:
            self.begin()
        elif laps > self.laps:
            self.last, self.lap, self.laps = self.lap, [], laps
        if len(self.lap) < LONGEST_LAP:
            self.lap.append(state.copy())

    def begin(self) -> None:
        """A new game: what was driven since the last line was no lap."""
        self.lap, self.laps = [], 0

    def state(self) -> Array | None:
        """[1] where the ghost is at this time since the start of the lap; None before the first lap."""
        return self.last[min(len(self.lap), len(self.last) - 1)] if self.last else None
