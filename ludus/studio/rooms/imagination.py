"""Imagined against real: the next steps as an agent's world model predicts them, and the steps that followed."""

from __future__ import annotations

from types import ModuleType
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ludus.agents.player import Player
from ludus.agents.protocol import Key, Params
from ludus.agents.thoughts import one_row, unwrapped
from ludus.dsl.draw import CIRCLE, LINE, SHAPE
from ludus.dsl.rows import bare, new_rows
from ludus.types import Array, Step

HORIZON = 20
DREAM_COLOR, TIP_COLOR, REAL_COLOR = 0xC792EA, 0x8E6BB0, 0xF5F5F5


class Dream(Protocol):
    """An imagined rollout: observations [T+1, N, ...] and actions [T, N, ...]."""

    @property
    def observations(self) -> ArrayLike: ...
    @property
    def actions(self) -> ArrayLike: ...


@runtime_checkable
class Imagining(Protocol):
    """An agent with a world model."""

    def imagine(self, params: Params, step: Step, horizon: int, key: Key = 0) -> Dream: ...


class Imagination:
    """The last prediction for row 0, and the path really taken since."""

    def __init__(self) -> None:
        self.points, self.tips = np.zeros((0, 2)), np.zeros((0, 0, 2))
        self.real: list[tuple[float, float]] = []
        self._no_steps = (np.zeros((0, 0)), np.zeros((0, 0)))

    def notice(self, player: Player, rules: ModuleType, state: np.void, step: Step) -> None:
        """Record the state and step of row 0; make a new prediction every HORIZON steps and when a game opens."""
        if not self.real or len(self.real) > HORIZON or step.first[0]:
            agent = unwrapped(player.agent)
            assert isinstance(agent, Imagining)
            dream = agent.imagine(player.params, one_row(step, 0), HORIZON, player.key())
            observations, actions = np.asarray(dream.observations)[1:, 0], np.asarray(dream.actions)[:, 0]
            self.points, self.tips = rules.dream(state, observations, actions)
            self._no_steps = observations[:0], actions[:0]
            self.real = []
        # The path of no steps begins and ends where the game is now.
        x, y = rules.dream(state, *self._no_steps)[0][0]
        self.real.append((float(x), float(y)))

    def shapes(self) -> Array:
        """The imagined path with the points that the game draws beside it, and the real path."""
        if not self.real:
            return new_rows(0, bare(SHAPE))
        tips = self.tips[::4].reshape(-1, 2)
        paths = [path(self.points, 3, DREAM_COLOR), dots(tips, 1.5, TIP_COLOR)]
        return np.concatenate([*paths, path(np.array(self.real), 2, REAL_COLOR)])


def can_imagine(player: Player | None, rules: ModuleType) -> TypeGuard[Player]:
    """Whether an agent has a world model and the game can draw its predictions."""
    return player is not None and isinstance(unwrapped(player.agent), Imagining) and hasattr(rules, "dream")


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
