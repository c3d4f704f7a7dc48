"""Watkins's Q(λ) (1989) with replacing traces: Q(k) ← Q(k) + α e(k) δ for all k on the trail,
δ = r + γ max_b Q(s', b) - Q(s, a), e(s, a) = 1 for the newest pair, e ← γ λ e with every step after that.

Q-learning with eligibility traces: an error also changes the values of the greedy actions before it. An exploratory
action ends the trail, because greedy play would not have led to what follows. The trail has at most 256 steps and ends
where e falls below 0.0001.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.algorithms.tabular.trail import append, apply_traces, fields
from ludus.dsl import part

LONGEST = 256
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    append(desk, reward, sign, LONGEST)
    target = reward
    if place >= 0:
        target += settings.gamma * sign * np.float64(best)
    # Computed before the update, because the action was chosen by these values.
    explored = not ended and b.rows[place].values[action] < best
    error = target - np.float64(b.rows[desk.place].values[desk.action])
    apply_traces(b, desk, settings, error, LONGEST)
    if ended or explored:
        desk.trail_length = 0
