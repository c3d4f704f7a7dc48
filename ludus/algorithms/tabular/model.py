"""A learned model of the game: the last observed outcome of each action that was tried in each row of the table."""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import highest
from ludus.dsl import part


def fields(actions):
    """The fields of the record of each row; `following` is -1 if the game ended."""
    return (
        ("following", np.int64, (actions,)), ("reward", np.float64, (actions,)), ("sign", np.float64, (actions,)),
        ("tried", np.int64, (actions,)),
    )  # fmt: skip


@part
def store(b, place, action, reward, following, sign):
    """Store a transition; it replaces the previous outcome of this action."""
    model = b.memory[place]
    model.following[action] = following
    model.reward[action] = reward
    model.sign[action] = sign
    model.tried[action] = 1


@part
def model_target(b, place, action, settings, actions):
    """The target r + γ max_b Q(s', b) according to the model."""
    model = b.memory[place]
    target = model.reward[action]
    if model.following[action] >= 0:
        best = np.float64(highest(b.rows[model.following[action]], actions))
        target += settings.gamma * model.sign[action] * best
    return target
