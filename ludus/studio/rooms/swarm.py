"""Many games in one picture: the other rows of a pool, drawn by the game's `token` or blended as pixels."""

from __future__ import annotations

import functools
import pathlib
from types import ModuleType

import numpy as np

from ludus.dsl.cache import telling_first_time
from ludus.dsl.draw import new_canvas
from ludus.dsl.rows import compiling, new_rows
from ludus.pool import binding
from ludus.types import Array

KERNEL = pathlib.Path(__file__).with_name("swarm_kernel.py")
SWARM_COLOR, GHOST_COLOR = 0x9DB2CE, 0xC9CED6
MIDDLE_GREY, OPACITY = 128, 0.4


@functools.cache
def bound(rules: ModuleType) -> ModuleType:
    """The kernel with a game's `token` in it, compiled or loaded from the cache."""
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


def blended(pictures: list[Array]) -> Array:
    """Pictures [H, W, 3] of games that draw pixels as one: the first, and faintly what differs in the others.

    On a bright background what is darker than it counts, on a dark one what is brighter.
    """
    background = np.median(pictures[0])
    combine = np.minimum if background > MIDDLE_GREY else np.maximum
    others: Array = combine.reduce(pictures[1:])
    faint = background + OPACITY * (others - background)
    return combine(pictures[0], faint).astype(np.uint8)
