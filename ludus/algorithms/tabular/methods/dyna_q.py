"""Dyna-Q (Sutton, 1990): Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)], from real and from imagined steps.

Each real step enters a model, what came after (s, a) when it was last tried, and `planning_steps` steps drawn from the model
are learned like real ones. For games where a step costs more than thinking, and where dice do not rule: of each action
the model knows one outcome, the last.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import improve
from ludus.algorithms.tabular.model import fields, imagined, notice
from ludus.dsl import part
from ludus.dsl.random import GOLDEN, S32, mix, scale

MEMORY = fields


@part
def any_tried(tried, actions, bits):
    """One of the actions that were tried here, each as likely as the other; -1 where none was."""
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
    notice(b, desk.place, desk.action, reward, place, sign)
    target = imagined(b, desk.place, desk.action, settings, actions)
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
    for _ in range(settings.planning_steps):
        bits = mix(bits + GOLDEN)
        number = scale(bits, b.used[0])
        # Rows that are found by hash lie in the order of discovery themselves.
        somewhere = number if len(b.index) > 0 else np.int64(b.known[number])
        tried = any_tried(b.memory[somewhere].tried, actions, bits << S32)
        if tried >= 0:
            target = imagined(b, somewhere, tried, settings, actions)
            improve(b.rows[somewhere], tried, target, settings.learning_rate)
