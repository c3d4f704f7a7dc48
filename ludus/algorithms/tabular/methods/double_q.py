"""Double Q-learning (van Hasselt, 2010): A(s, a) ← A(s, a) + α [r + γ B(s', argmax_b A(s', b)) - A(s, a)], or B by A.

A random bit decides which of the two estimates is updated. One selects the action and the other evaluates it, which
removes the maximisation bias of Q-learning in games with random outcomes. `values` is the mean of both.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL
from ludus.dsl import part

EXTRA = (("first", np.float32), ("second", np.float32))
HIGHEST_BIT = np.uint64(1 << 63)


@part
def estimate(row, action, first):
    return row.first[action] if first else row.second[action]


@part
def best_action(row, actions, first):
    """The best legal action according to one estimate."""
    best = ILLEGAL
    found = 0
    for action in range(actions):
        value = estimate(row, action, first)
        if row.values[action] >= ANY_LEGAL and value > best:
            best = value
            found = action
    return found


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    first = bits >= HIGHEST_BIT
    target = reward
    if place >= 0:
        chosen = best_action(b.rows[place], actions, first)
        target += settings.gamma * sign * np.float64(estimate(b.rows[place], chosen, not first))
    row = b.rows[desk.place]
    old = np.float64(estimate(row, desk.action, first))
    new = np.float32(old + settings.learning_rate * (target - old))
    if first:
        row.first[desk.action] = new
    else:
        row.second[desk.action] = new
    row.values[desk.action] = np.float32(
        0.5 * (np.float64(row.first[desk.action]) + np.float64(row.second[desk.action]))
    )
