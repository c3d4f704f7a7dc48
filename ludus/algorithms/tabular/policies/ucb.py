"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): argmax_a Q(a) + c √(ln N / n(a)), with untried actions first.

n(a) is how often a was chosen here and N the number of all choices; c is `exploration`, about as large as the returns.
Uncertain actions are tried until their values are known, instead of exploring at random forever. This suits small
tables whose rows are visited often.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import math

import numpy as np

from ludus.agents.table import ANY_LEGAL
from ludus.dsl import part
from ludus.dsl.random import GOLDEN, mix, scale

EXTRA = (("counts", np.float32),)


@part
def log_of_choices(row, actions):
    total = 0.0
    for action in range(actions):
        total += row.counts[action]
    return math.log(max(total, 1.0))


@part
def score(row, action, log_total, settings):
    """The upper confidence bound; -inf for illegal actions."""
    if row.values[action] < ANY_LEGAL:
        return -math.inf
    if row.counts[action] == 0.0:
        return math.inf
    return float(row.values[action]) + settings.exploration * math.sqrt(log_total / row.counts[action])


@part
def choose(row, actions, best, settings, bits):
    log_total = log_of_choices(row, actions)
    highest = -math.inf
    chosen = 0
    ties = 0
    for action in range(actions):
        bound = score(row, action, log_total, settings)
        ties = ties + 1 if bound == highest else 1 if bound > highest else ties
        bits = mix(bits + GOLDEN)
        if bound > highest or (bound == highest and scale(bits, ties) == 0):
            chosen = action
        highest = max(highest, bound)
    row.counts[chosen] += np.float32(1.0)
    return chosen


@part
def expected(row, actions, settings):
    """The value of the action that would be chosen next; the mean of all candidates in case of a tie."""
    log_total = log_of_choices(row, actions)
    highest = -math.inf
    total = 0.0
    ties = 0
    for action in range(actions):
        bound = score(row, action, log_total, settings)
        if bound > highest:
            highest = bound
            total = 0.0
            ties = 0
        if bound == highest and bound > -math.inf:
            total += row.values[action]
            ties += 1
    return total / ties
