"""SARSA(λ) with replacing traces (Singh and Sutton, 1996): Q(k) ← Q(k) + α e(k) δ for all k on the trail,
δ = r + γ Q(s', a') - Q(s, a), e(s, a) = 1 for the newest pair, and e ← γ λ e with every step after that.

SARSA with eligibility traces: every error also changes the values of the steps before it, which averages n-step returns
of all lengths with weights given by `trace_decay` (λ). The trail has at most 256 steps and ends where e falls below
0.0001.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.algorithms.tabular.trail import append, apply_traces, bootstrap_value, fields
from ludus.dsl import part

LONGEST = 256
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    append(desk, reward, sign, LONGEST)
    target = reward + settings.gamma * sign * bootstrap_value(b, place, action, best, ended)
    error = target - np.float64(b.rows[desk.place].values[desk.action])
    apply_traces(b, desk, settings, error, LONGEST)
    if ended:
        desk.trail_length = 0
