"""Policy iteration (Howard 1960): evaluate a policy, let every state take its best action, until none wants another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ludus.algorithms.planning.dynamics import Dynamics
from ludus.algorithms.planning.methods.value_iteration import (
    MARGIN,
    Plan,
    Stage,
    action_values,
    check,
    ending_policy,
    value_iteration,
)
from ludus.types import Array, LudusError


def plans(dynamics: Dynamics, gamma: float, tolerance: float) -> Iterator[Stage]:
    """One stage: the plan itself."""
    plan = policy_iteration(dynamics, gamma, tolerance)
    yield Stage(plan.sweeps, 0.0, True, lambda: plan)


def policy_iteration(
    dynamics: Dynamics,
    gamma: float = 1.0,
    tolerance: float = 1e-12,
    max_sweeps: int = 100_000,
    policy: Array | None = None,
) -> Plan:
    """The value of best play, from one policy to the next better one; `sweeps` counts those of all evaluations.

    With gamma 1 the value of a policy that loses points for ever has no bound. So the first policy is, unless one is
    given, one that ends wherever the game can end, and an evaluation that is not done after `max_sweeps` is refused.
    Two seats improve at once, which is sure to arrive only in games without cycles, and is given up after `max_sweeps`.
    """
    check(dynamics, gamma)
    policy = ending_policy(dynamics) if policy is None else np.array(policy, np.int64)
    sweeps = 0
    for _ in range(max_sweeps):
        evaluated = evaluate(dynamics, policy, gamma, tolerance, max_sweeps)
        sweeps += evaluated.sweeps
        worth = action_values(dynamics, evaluated.values, gamma)
        better = improved(policy, worth)
        if np.array_equal(better, policy):
            return Plan(evaluated.values, worth, policy, sweeps)
        policy = better
    raise LudusError(f"the policy still changes after {max_sweeps:,} improvements; use value iteration for this game")


def evaluate(dynamics: Dynamics, policy: Array, gamma: float, tolerance: float, max_sweeps: int) -> Plan:
    """The value of one policy [S]: value iteration where each state is left with one action."""
    states, actions = dynamics.legal.shape
    if policy.shape != (states,) or not ((policy >= 0) & (policy < actions)).all():
        raise LudusError(f"a policy is {states} actions from 0 to {actions - 1}, one for each state")
    rows, running = np.arange(states), dynamics.legal.any(axis=1)
    if not dynamics.legal[rows, policy][running].all():
        raise LudusError(
            "the policy plays an action that is not legal in its state; use only actions that `legal` marks"
        )
    only = np.zeros((states, actions), bool)
    only[rows, policy] = running
    return value_iteration(dynamics._replace(legal=only), gamma, tolerance, max_sweeps)


def improved(policy: Array, worth: Array) -> Array:
    """The best action in every state; the present one where no other is clearly better, or ties would never end."""
    best, rows = worth.argmax(axis=1), np.arange(len(policy))
    return np.where(worth[rows, best] > worth[rows, policy] + MARGIN, best, policy)
