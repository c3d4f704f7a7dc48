"""n-step SARSA (Sutton, 1988): Q(s, a) ← Q(s, a) + α [r₁ + γ r₂ + … + γⁿ⁻¹ rₙ + γⁿ Q(sₙ, aₙ) - Q(s, a)].

A reward reaches n steps back at once, so late rewards are learned of sooner, at the price of more noise. n is
`n_steps`, at most 64; where a game ends earlier, what is left of the return counts.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from ludus.agents.table import improve
from ludus.algorithms.tabular.trail import entry, fields, remember, settle, what_follows
from ludus.dsl import part

LONGEST = 64
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    remember(desk, reward, sign, LONGEST)
    total = what_follows(b, place, action, best, ended)
    steps = min(settings.n_steps, LONGEST)
    if ended:
        settle(b, desk, settings, total, LONGEST)
    elif desk.trail_length == steps:
        for age in range(steps):
            slot = entry(desk, age, LONGEST)
            total = desk.trail_reward[slot] + settings.gamma * desk.trail_sign[slot] * total
        oldest = entry(desk, steps - 1, LONGEST)
        improve(b.rows[desk.trail_place[oldest]], desk.trail_action[oldest], total, settings.learning_rate)
        desk.trail_length = steps - 1
