"""Dyna-Q (Sutton, 1990): Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)], from real and simulated steps.

The model stores the last outcome of each (s, a) that was tried. After each real step, `planning_steps` steps are drawn
from the model and learned like real ones. This suits deterministic games whose steps are expensive: the model knows
only one outcome of each action.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import improve
from ludus.algorithms.tabular.model import fields, model_target, store
from ludus.dsl import part
from ludus.dsl.random import GOLDEN, S32, mix, scale

MEMORY = fields


@part
def any_tried(tried, actions, bits):
    """A random one of the actions that were tried here; -1 if there is none."""
    count = 0
    for action in range(actions):
        count += tried[action]
    skip = scale(bits, count)
    chosen = -1
    passed = 0
    for action in range(actions):
        passed += tried[action]
        if chosen < 0 and passed > skip:
            chosen = action
    return chosen


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    store(b, desk.place, desk.action, reward, place, sign)
    target = model_target(b, desk.place, desk.action, settings, actions)
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
    for _ in range(settings.planning_steps):
        bits = mix(bits + GOLDEN)
        number = scale(bits, b.used[0])
        # The rows of hashed positions are in the order of discovery, so that they are numbered by `number` itself.
        drawn = number if len(b.index) > 0 else np.int64(b.known[number])
        tried = any_tried(b.memory[drawn].tried, actions, bits << S32)
        if tried >= 0:
            target = model_target(b, drawn, tried, settings, actions)
            improve(b.rows[drawn], tried, target, settings.learning_rate)
