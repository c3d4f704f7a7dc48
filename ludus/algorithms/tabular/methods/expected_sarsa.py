"""Expected SARSA (van Seijen et al., 2009): Q(s, a) ← Q(s, a) + α [r + γ Σ_b π(b | s') Q(s', b) - Q(s, a)].

Like SARSA it learns the values of the policy that is played, exploration included. It averages over all next actions
instead of using one sample, which has less variance and allows larger learning rates. π is the policy of the run.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from ludus.agents.table import improve
from ludus.dsl import part

EXPECTED = True


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    target = reward
    if place >= 0:
        target += settings.gamma * sign * best
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
