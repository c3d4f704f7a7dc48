"""Double Q-learning (van Hasselt, 2010): A(s, a) ← A(s, a) + α [r + γ B(s', argmax_b A(s', b)) - A(s, a)], or B by A.

A coin says which of the two estimates learns; one picks the action and the other says what it is worth, so luck is not
mistaken for skill. For games with dice, where the maximum of Q-learning promises too much. `values` is their mean.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL
from ludus.dsl import part

EXTRA = (("first", np.float32), ("second", np.float32))
COIN = np.uint64(1 << 63)


@part
def estimate(row, action, heads):
    return row.first[action] if heads else row.second[action]


@part
def favourite(row, actions, heads):
    """The best legal action in the eyes of one estimate."""
    best = ILLEGAL
    found = 0
    for action in range(actions):
        value = estimate(row, action, heads)
        if row.values[action] >= ANY_LEGAL and value > best:
            best = value
            found = action
    return found


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    heads = bits >= COIN
    target = reward
    if place >= 0:
        chosen = favourite(b.rows[place], actions, heads)
        target += settings.gamma * sign * np.float64(estimate(b.rows[place], chosen, not heads))
    row = b.rows[desk.place]
    old = np.float64(estimate(row, desk.action, heads))
    new = np.float32(old + settings.learning_rate * (target - old))
    if heads:
        row.first[desk.action] = new
    else:
        row.second[desk.action] = new
    row.values[desk.action] = np.float32(
        0.5 * (np.float64(row.first[desk.action]) + np.float64(row.second[desk.action]))
    )
