"""How near a policy comes to the best there is, reckoned exactly where the dynamics of a game are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ludus.types import Array, Step


class Nearness(NamedTuple):
    """The expected return of an opening, with the same discount and time limit for both."""

    policy: float
    optimum: float

    @property
    def ratio(self) -> float:
        """What share of the optimum is reached; for costs, what share of the costs is needed."""
        return self.policy / self.optimum if self.optimum >= 0 else self.optimum / self.policy


def nearness(dynamics: Any, choices: Array, best: Array, horizon: int, discount: float = 1.0) -> Nearness:
    """Compare a policy, [S, A] the actions it chooses among evenly, with the best one, [S] its actions."""
    only = np.zeros(choices.shape, bool)
    only[np.arange(len(best)), best] = True
    values = (value_within(dynamics, allowed, horizon, discount) @ dynamics.start for allowed in (choices, only))
    return Nearness(*(float(value) for value in values))


def value_within(dynamics: Any, choices: Array, horizon: int, discount: float) -> Array:
    """[S] V_h(s) = Σ_a π(a|s) Σ_k p [r + γ V_{h-1}(s')]: what a policy gets in `horizon` steps, a solo game's."""
    share = choices / np.maximum(choices.sum(axis=1, keepdims=True), 1)
    reward = (dynamics.probability * dynamics.reward).sum(axis=2)
    onward = dynamics.probability * ~np.asarray(dynamics.ends, bool)
    values = np.zeros(len(choices))
    for _ in range(horizon):
        worth = reward + discount * (onward * values[dynamics.next]).sum(axis=2)
        values = (share * worth).sum(axis=1)
    return values


def step_of(dynamics: Any) -> Step:
    """Every state at once, as the seat to move sees it."""
    states = len(dynamics.legal)
    observations = dynamics.observations
    fields = {name: observations[name].copy() for name in observations.dtype.names}
    zeros = np.zeros(states, np.float32)
    return Step(
        fields, np.asarray(dynamics.legal, bool), np.zeros(states, np.int8), zeros[:, None], zeros + 1, zeros > 0
    )
