"""Imagined against real: what an agent with a world in its head expects of the next steps, and what then came."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.studio.thoughts import one_row, unwrapped
from ludus.types import Array, Step
from ludus.words.draw import CIRCLE, LINE, SHAPE
from ludus.words.rows import bare, new_rows

HORIZON = 20
DREAM_COLOR, TIP_COLOR, REAL_COLOR = 0xC792EA, 0x8E6BB0, 0xF5F5F5


class Imagination:
    """The last dream of row 0, and the way that was really taken since."""

    def __init__(self) -> None:
        self.points, self.tips = np.zeros((0, 2)), np.zeros((0, 0, 2))
        self.real: list[tuple[float, float]] = []

    def notice(self, player: Any, rules: Any, state: Any, step: Step) -> None:
        """The state and the step of row 0 now; every HORIZON steps, and when a game opens, a new dream begins."""
        here = (float(state["x"]), float(state["y"]))
        if not self.real or len(self.real) > HORIZON or step.first[0]:
            dream = unwrapped(player.agent).imagine(player.params, one_row(step, 0), HORIZON, player.key())
            observations, actions = np.asarray(dream.observations)[1:, 0], np.asarray(dream.actions)[:, 0]
            self.points, self.tips = rules.dream(state, observations, actions)
            self.real = []
        self.real.append(here)

    def shapes(self) -> Array:
        """The imagined way with the tips of its rays, and the real way beside it."""
        if not self.real:
            return new_rows(0, bare(SHAPE))
        tips = self.tips[::4].reshape(-1, 2)
        ways = [path(self.points, 3, DREAM_COLOR), dots(tips, 1.5, TIP_COLOR), path(np.array(self.real), 2, REAL_COLOR)]
        return np.concatenate(ways)


def can_imagine(player: Any, rules: Any) -> bool:
    """Whether an agent has a world in its head and the game can draw what is there."""
    return player is not None and hasattr(unwrapped(player.agent), "imagine") and hasattr(rules, "dream")


def path(points: Array, width: float, color: int) -> Array:
    """A line through points [N, 2]."""
    shapes = new_rows(max(len(points) - 1, 0), bare(SHAPE))
    shapes["kind"], shapes["color"], shapes["size"] = LINE, color, width
    for name, column in zip("xywh", np.concatenate([points[:-1], points[1:]], axis=1).T, strict=True):
        shapes[name] = column
    return shapes


def dots(points: Array, radius: float, color: int) -> Array:
    """A disc at each of the points [N, 2]."""
    shapes = new_rows(len(points), bare(SHAPE))
    shapes["kind"], shapes["color"], shapes["w"], shapes["h"] = CIRCLE, color, radius, radius
    shapes["x"], shapes["y"] = points[:, 0], points[:, 1]
    return shapes
