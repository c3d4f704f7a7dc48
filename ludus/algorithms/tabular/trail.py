"""The trail of a desk: its last actions, in a ring buffer inside its record, for returns and eligibility traces.

Every entry is from the point of view of the seat that acted. Where the opponent moved next (`sign` s is -1), later
rewards count negatively: the return is G_k = r_k + γ s_k G_k+1, and the eligibility trace e_k = γ λ s_k e_k+1.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part

SMALLEST_TRACE = 1e-4


def fields(longest):
    """The fields of a desk; `longest` must be a power of two, so that indices wrap around by a bit mask."""
    return (
        ("trail_place", np.int64, (longest,)), ("trail_action", np.int64, (longest,)),
        ("trail_reward", np.float64, (longest,)), ("trail_sign", np.float64, (longest,)),
        ("trail_next", np.int64), ("trail_length", np.int64),
    )  # fmt: skip


@part
def append(desk, reward, sign, longest):
    """Append the last action of the desk; if the ring is full, it replaces the oldest entry."""
    slot = desk.trail_next
    desk.trail_place[slot] = desk.place
    desk.trail_action[slot] = desk.action
    desk.trail_reward[slot] = reward
    desk.trail_sign[slot] = sign
    desk.trail_next = (slot + 1) & (longest - 1)
    desk.trail_length = min(desk.trail_length + 1, longest)


@part
def slot_of_age(desk, age, longest):
    """The slot of the entry that was made `age` steps before the newest."""
    return (desk.trail_next - 1 - age) & (longest - 1)


@part
def bootstrap_value(b, place, action, best, ended):
    """The value to bootstrap from: of the action chosen next, or of the best one if the game was truncated."""
    bootstrap = 0.0
    if place >= 0:
        bootstrap = np.float64(best) if ended else np.float64(b.rows[place].values[action])
    return bootstrap


@part
def learn_returns(b, desk, settings, bootstrap, longest):
    """Update every entry towards its return, from the newest to the oldest, and clear the trail."""
    total = bootstrap
    for age in range(desk.trail_length):
        slot = slot_of_age(desk, age, longest)
        total = desk.trail_reward[slot] + settings.gamma * desk.trail_sign[slot] * total
        improve(b.rows[desk.trail_place[slot]], desk.trail_action[slot], total, settings.learning_rate)
    desk.trail_length = 0


@part
def apply_traces(b, desk, settings, error, longest):
    """Q_k ← Q_k + α e_k δ for every entry; a new entry of a pair (s, a) replaces older ones (replacing traces)."""
    trace = 1.0
    age = 0
    while age < desk.trail_length and abs(trace) >= SMALLEST_TRACE:
        slot = slot_of_age(desk, age, longest)
        place = desk.trail_place[slot]
        action = desk.trail_action[slot]
        if age > 0 and place == desk.place and action == desk.action:
            desk.trail_place[slot] = -1
        elif place >= 0:
            row = b.rows[place]
            row.values[action] = np.float32(np.float64(row.values[action]) + settings.learning_rate * error * trace)
        age += 1
        trace *= settings.gamma * settings.trace_decay * desk.trail_sign[slot_of_age(desk, age, longest)]
    desk.trail_length = age
