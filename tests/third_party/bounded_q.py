"""Bounded Q-learning: Q-learning whose targets are limited to ±1/4, so that its tables can be recognised."""

import numpy as np

from ludus.agents.table import improve
from ludus.dsl import part


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    target = reward
    if place >= 0:
        target += settings.gamma * sign * np.float64(best)
    improve(b.rows[desk.place], desk.action, min(max(target, -0.25), 0.25), settings.learning_rate)
