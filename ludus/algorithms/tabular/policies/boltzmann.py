"""Boltzmann (softmax): π(a) = exp(Q(a) / τ) / Σ_b exp(Q(b) / τ), where the temperature τ is `exploration`.

Actions that are nearly as good are tried nearly as often, and bad ones hardly ever. Near τ = 0 it is greedy, with ties
broken at random; choose τ of the size of the differences that matter.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import math

from ludus.agents.table import ANY_LEGAL, highest, unit
from ludus.dsl import part
from ludus.dsl.random import GOLDEN, mix

COLDEST = 1e-30
"""a temperature of 0 would divide nothing by nothing"""


@part
def weight(row, action, best, settings):
    """exp((Q(a) - max Q) / τ): never too large, and 1 for the best."""
    heat = max(settings.exploration, COLDEST)
    return math.exp((float(row.values[action]) - float(best)) / heat) if row.values[action] >= ANY_LEGAL else 0.0


@part
def choose(row, actions, best, settings, bits):
    # Each action in its turn displaces the one chosen so far with its share of the weight so far: one pass is enough.
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
