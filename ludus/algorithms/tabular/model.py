"""A model of the game, learned beside the table: of each action tried in a place, what it brought when last seen."""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from typing import Any

import numpy as np

from ludus.agents.table import highest
from ludus.dsl import part


def fields(actions: int) -> tuple[tuple[Any, ...], ...]:
    """What stands beside each row; `following` is -1 where the game ended."""
    return (
        ("following", np.int64, (actions,)), ("reward", np.float64, (actions,)), ("sign", np.float64, (actions,)),
        ("tried", np.int64, (actions,)),
    )  # fmt: skip


@part
def notice(b, place, action, reward, following, sign):
    """What was seen last is what the model says."""
    model = b.memory[place]
    model.following[action] = following
    model.reward[action] = reward
    model.sign[action] = sign
    model.tried[action] = 1


@part
def imagined(b, place, action, settings, actions):
    """r + γ max_b Q(s', b), as the model has it."""
    model = b.memory[place]
    target = model.reward[action]
    if model.following[action] >= 0:
        best = np.float64(highest(b.rows[model.following[action]], actions))
        target += settings.gamma * model.sign[action] * best
    return target
