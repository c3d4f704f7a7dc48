"""Monte Carlo control (Barto and Duff, 1994; every visit): at the end of a game Q(s, a) ← Q(s, a) + α [G - Q(s, a)].

G = r₁ + γ r₂ + γ² r₃ + … is the observed return, without bootstrapping. This suits short games with one reward at the
end, and games whose observations do not show the whole state. Of games longer than 512 steps, the last 512 are learned
from, each from its full return. α is constant, so that returns of older policies are forgotten.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from ludus.algorithms.tabular.trail import append, bootstrap_value, fields, learn_returns
from ludus.dsl import part

LONGEST = 512
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    append(desk, reward, sign, LONGEST)
    if ended:
        # A truncated game has no full return: it is bootstrapped from the best action.
        learn_returns(b, desk, settings, bootstrap_value(b, place, action, best, ended), LONGEST)
