"""SARSA (Rummery and Niranjan, 1994): Q(s, a) ← Q(s, a) + α [r + γ Q(s', a') - Q(s, a)].

The target follows the action that will really be played next, so exploration is part of what is valued.
"""

import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    target = reward
    if place >= 0:
        # After a cut-off nothing was chosen: the best action stands for it.
        follows = best if ended else b.rows[place].values[action]
        target += settings.gamma * sign * np.float64(follows)
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
