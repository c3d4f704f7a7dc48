"""Exact comparison of a policy with the optimal one, for games with known dynamics."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ludus.types import Array, Step


class Dynamics(Protocol):
    """The known dynamics of a game with S states, A actions and K outcomes of each; see `ludus.algorithms.planning`."""

    @property
    def legal(self) -> Array: ...
    @property
    def observations(self) -> Array: ...
    @property
    def start(self) -> Array: ...
    @property
    def next(self) -> Array: ...
    @property
    def probability(self) -> Array: ...
    @property
    def reward(self) -> Array: ...
    @property
    def ends(self) -> Array: ...


class Nearness(NamedTuple):
    """Expected returns from the opening of a policy and of the optimal policy, with the same discount and horizon."""

    policy: float
    optimum: float

    @property
    def ratio(self) -> float:
        """policy / optimum; for negative returns (costs) optimum / policy, so that 1 is optimal in both cases."""
        return self.policy / self.optimum if self.optimum >= 0 else self.optimum / self.policy


def nearness(dynamics: Dynamics, choices: Array, best: Array, horizon: int, gamma: float = 1.0) -> Nearness:
    """Compare a policy ([S, A] actions that it chooses uniformly among) with the optimal one ([S] actions)."""
    only = np.zeros(choices.shape, bool)
    only[np.arange(len(best)), best] = True
    values = (value_within(dynamics, allowed, horizon, gamma) @ dynamics.start for allowed in (choices, only))
    return Nearness(*(float(value) for value in values))


def value_within(dynamics: Dynamics, choices: Array, horizon: int, gamma: float) -> Array:
    """[S] V_h(s) = Σ_a π(a|s) Σ_k p [r + γ V_{h-1}(s')]: the value of a policy over `horizon` steps, for one seat."""
    share = choices / np.maximum(choices.sum(axis=1, keepdims=True), 1)
    reward = (dynamics.probability * dynamics.reward).sum(axis=2)
    onward = dynamics.probability * ~np.asarray(dynamics.ends, bool)
    values = np.zeros(len(choices))
    for _ in range(horizon):
        worth = reward + gamma * (onward * values[dynamics.next]).sum(axis=2)
        values = (share * worth).sum(axis=1)
    return values


def step_of(dynamics: Dynamics) -> Step:
    """All states as one step, as the seat to move observes them."""
    states = len(dynamics.legal)
    observations = dynamics.observations
    fields = {name: observations[name].copy() for name in observations.dtype.names or ()}
    zeros = np.zeros(states, np.float32)
    return Step(
        fields, np.asarray(dynamics.legal, bool), np.zeros(states, np.int8), zeros[:, None], zeros + 1, zeros > 0
    )
