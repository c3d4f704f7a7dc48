"""n-step SARSA (Sutton, 1988): Q(s, a) ← Q(s, a) + α [r₁ + γ r₂ + … + γⁿ⁻¹ rₙ + γⁿ Q(sₙ, aₙ) - Q(s, a)].

A reward changes the values of the last n steps at once, so late rewards are learned sooner, with more variance. n is
`n_steps`, at most 64; if the game ends earlier, the return ends there too.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from ludus.agents.table import improve
from ludus.algorithms.tabular.trail import append, bootstrap_value, fields, learn_returns, slot_of_age
from ludus.dsl import part

LONGEST = 64
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    append(desk, reward, sign, LONGEST)
    total = bootstrap_value(b, place, action, best, ended)
    steps = min(settings.n_steps, LONGEST)
    if ended:
        learn_returns(b, desk, settings, total, LONGEST)
    elif desk.trail_length == steps:
        for age in range(steps):
            slot = slot_of_age(desk, age, LONGEST)
            total = desk.trail_reward[slot] + settings.gamma * desk.trail_sign[slot] * total
        oldest = slot_of_age(desk, steps - 1, LONGEST)
        improve(b.rows[desk.trail_place[oldest]], desk.trail_action[oldest], total, settings.learning_rate)
        desk.trail_length = steps - 1
