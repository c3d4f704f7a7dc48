"""Boltzmann (softmax): π(a) = exp(Q(a) / τ) / Σ_b exp(Q(b) / τ), where the temperature τ is `exploration`.

Actions with similar values are chosen about equally often, much worse ones rarely. Near τ = 0 the policy is greedy,
with ties broken at random; choose τ about as large as the differences between values that matter.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import math

from ludus.agents.table import ANY_LEGAL, highest, unit
from ludus.dsl import part
from ludus.dsl.random import GOLDEN, mix

COLDEST = 1e-30
"""minimum temperature, to avoid a division of 0 by 0"""


@part
def weight(row, action, best, settings):
    """exp((Q(a) - max Q) / τ): 1 for the best action, so that it cannot overflow; 0 for illegal actions."""
    heat = max(settings.exploration, COLDEST)
    return math.exp((float(row.values[action]) - float(best)) / heat) if row.values[action] >= ANY_LEGAL else 0.0


@part
def choose(row, actions, best, settings, bits):
    # Weighted reservoir sampling in one pass: each action replaces the chosen one with probability share / total.
    total = 0.0
    chosen = 0
    for action in range(actions):
        share = weight(row, action, best, settings)
        total += share
        bits = mix(bits + GOLDEN)
        if unit(bits) * total < share:
            chosen = action
    return chosen


@part
def expected(row, actions, settings):
    """Σ_a π(a) Q(a)."""
    best = highest(row, actions)
    total = 0.0
    weights = 0.0
    for action in range(actions):
        share = weight(row, action, best, settings)
        weights += share
        total += share * row.values[action]
    return total / weights
