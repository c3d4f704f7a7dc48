"""The trail of a desk: what it did lately, in a ring inside its record, and how what followed is credited to it.

Every entry is seen from the seat that made it. Where the opponent moved next (`sign` -1), what followed counts against
it: both the return, G_k = r_k + γ s_k G_k+1, and the trace of an error, e_k = γ λ s_k e_k+1, change sides on the way.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from typing import Any

import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part

SMALLEST_TRACE = 1e-4


def fields(longest: int) -> tuple[tuple[Any, ...], ...]:
    """What a desk keeps; `longest` is a power of two, so that a ring is walked round by a mask."""
    return (
        ("trail_place", np.int64, (longest,)), ("trail_action", np.int64, (longest,)),
        ("trail_reward", np.float64, (longest,)), ("trail_sign", np.float64, (longest,)),
        ("trail_next", np.int64), ("trail_length", np.int64),
    )  # fmt: skip


@part
def remember(desk, reward, sign, longest):
    """Write down what the desk did; where there is no more room, the oldest entry goes."""
    slot = desk.trail_next
    desk.trail_place[slot] = desk.place
    desk.trail_action[slot] = desk.action
    desk.trail_reward[slot] = reward
    desk.trail_sign[slot] = sign
    desk.trail_next = (slot + 1) & (longest - 1)
    desk.trail_length = min(desk.trail_length + 1, longest)


@part
def entry(desk, age, longest):
    """Where the entry stands that was made `age` steps before the newest."""
    return (desk.trail_next - 1 - age) & (longest - 1)


@part
def what_follows(b, place, action, best, ended):
    """The value of what the desk sees next: of the action chosen there, or of the best one after a cut-off."""
    follows = 0.0
    if place >= 0:
        follows = np.float64(best) if ended else np.float64(b.rows[place].values[action])
    return follows


@part
def settle(b, desk, settings, follows, longest):
    """Teach every entry its return, from the newest to the oldest, and begin a new trail."""
    total = follows
    for age in range(desk.trail_length):
        slot = entry(desk, age, longest)
        total = desk.trail_reward[slot] + settings.gamma * desk.trail_sign[slot] * total
        improve(b.rows[desk.trail_place[slot]], desk.trail_action[slot], total, settings.learning_rate)
    desk.trail_length = 0


@part
def share_error(b, desk, settings, error, longest):
    """Q_k ← Q_k + α e_k δ for every entry; an older entry of the newest action is replaced by it."""
    trace = 1.0
    age = 0
    while age < desk.trail_length and abs(trace) >= SMALLEST_TRACE:
        slot = entry(desk, age, longest)
        place = desk.trail_place[slot]
        action = desk.trail_action[slot]
        if age > 0 and place == desk.place and action == desk.action:
            desk.trail_place[slot] = -1
        elif place >= 0:
            row = b.rows[place]
            row.values[action] = np.float32(np.float64(row.values[action]) + settings.learning_rate * error * trace)
        age += 1
        trace *= settings.gamma * settings.trace_decay * desk.trail_sign[entry(desk, age, longest)]
    desk.trail_length = age
