"""ε-greedy: with probability ε a random legal action, else the best one, with ties broken at random."""

from ludus.agents.table import ANY_LEGAL, highest, lower_half, one_above
from ludus.dsl import part


@part
def choose(row, actions, best, settings, bits):
    threshold = ANY_LEGAL if lower_half(bits) < settings.explore_below else best
    return one_above(row, actions, threshold, bits)


@part
def expected(row, actions, settings):
    """Σ_a π(a) Q(a)."""
    total = 0.0
    count = 0
    for action in range(actions):
        legal = row.values[action] >= ANY_LEGAL
        total += row.values[action] if legal else 0.0
        count += legal
    return (1.0 - settings.exploration) * highest(row, actions) + settings.exploration * total / count
