"""Q-learning (Watkins, 1989): Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)].

Off-policy: the target uses the best next action, regardless of the action that is played next.
"""

import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    target = reward
    if place >= 0:
        target += settings.gamma * sign * np.float64(best)
    improve(b.rows[desk.place], desk.action, target, settings.learning_rate)
