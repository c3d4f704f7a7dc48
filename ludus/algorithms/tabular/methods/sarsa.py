"""SARSA (Rummery and Niranjan, 1994): Q(s, a) ← Q(s, a) + α [r + γ Q(s', a') - Q(s, a)].

On-policy: the target uses the action that is played next, so the values include the cost of exploration.
"""

import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    target = reward
    if place >= 0:
        # After a truncated game no action was chosen, so the best one is used.
        next_value = best if ended else b.rows[place].values[action]
        target += settings.gamma * sign * np.float64(next_value)
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
