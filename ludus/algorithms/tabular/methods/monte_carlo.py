"""Monte Carlo control (Barto and Duff, 1994; every visit): at the end of a game Q(s, a) ← Q(s, a) + α [G - Q(s, a)].

G = r₁ + γ r₂ + γ² r₃ + … is what was really gained, so nothing is built on guesses: good for short games with one
reward at their end, and where a position does not tell all. Of games longer than 512 steps the last 512 are learned
from, each from its whole return. α is constant, so what a policy of long ago gained is forgotten, as a mean would not.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from ludus.algorithms.tabular.trail import fields, remember, settle, what_follows
from ludus.dsl import part

LONGEST = 512
DESK, PLACES = fields(LONGEST), ("trail_place",)


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    remember(desk, reward, sign, LONGEST)
    if ended:
        # A game that was cut off has no whole return: the best action there stands for the rest.
        settle(b, desk, settings, what_follows(b, place, action, best, ended), LONGEST)
