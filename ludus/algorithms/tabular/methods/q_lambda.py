"""Watkins's Q(λ) (1989) with replacing traces: Q(k) ← Q(k) + α e(k) δ for all k on the trail,
δ = r + γ max_b Q(s', b) - Q(s, a), e(s, a) = 1 where we just were, e ← γ λ e with every step since.

Q-learning with a memory: an error is shared with all that led to it by best play. An exploring action cuts the trail,
because what follows it is nothing that best play would have met. 256 steps at most, down to e = 0.0001.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.algorithms.tabular.trail import fields, remember, share_error
from ludus.dsl import part

LONGEST = 256
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    remember(desk, reward, sign, LONGEST)
    target = reward
    if place >= 0:
        target += settings.gamma * sign * np.float64(best)
    # Asked before anything is learned: the choice was made by these values.
    explored = not ended and b.rows[place].values[action] < best
    error = target - np.float64(b.rows[desk.place].values[desk.action])
    share_error(b, desk, settings, error, LONGEST)
    if ended or explored:
        desk.trail_length = 0
