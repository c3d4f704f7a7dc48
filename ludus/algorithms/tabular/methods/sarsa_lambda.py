"""SARSA(λ) with replacing traces (Singh and Sutton, 1996): Q(k) ← Q(k) + α e(k) δ for all k on the trail,
δ = r + γ Q(s', a') - Q(s, a), e(s, a) = 1 where we just were, and e ← γ λ e with every step since.

Every error is shared with all that led to it: n-step returns of every length at once, weighed by `trace_decay` (λ). The trail
goes back to where e falls below 0.0001, and 256 steps at most.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.algorithms.tabular.trail import fields, remember, share_error, what_follows
from ludus.dsl import part

LONGEST = 256
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    remember(desk, reward, sign, LONGEST)
    target = reward + settings.gamma * sign * what_follows(b, place, action, best, ended)
    error = target - np.float64(b.rows[desk.place].values[desk.action])
    share_error(b, desk, settings, error, LONGEST)
    if ended:
        desk.trail_length = 0
