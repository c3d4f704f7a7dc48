"""Policy iteration (Howard, 1960): evaluate a policy and improve it in every state, until it no longer changes."""

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
    """A single stage with the finished plan."""
    plan = policy_iteration(dynamics, gamma, tolerance)
    yield Stage(plan.sweeps, 0.0, True, lambda: plan)


def policy_iteration(
    dynamics: Dynamics,
    gamma: float = 1.0,
    tolerance: float = 1e-12,
    max_sweeps: int = 100_000,
    policy: Array | None = None,
) -> Plan:
    """The optimal plan, by a sequence of improving policies; `sweeps` counts the sweeps of all evaluations.

    With gamma 1 the value of a policy that loses points forever is unbounded. The default initial policy therefore ends
    the game from every state where that is possible, and an evaluation that has not converged after `max_sweeps` raises
    LudusError. With two seats both improve at the same time, which is certain to converge only in games without cycles;
    after `max_sweeps` improvements this raises LudusError too.
    """
    check(dynamics, gamma)
    policy = ending_policy(dynamics) if policy is None else np.array(policy, np.int64)
    sweeps = 0
    for _ in range(max_sweeps):
        evaluated = evaluate(dynamics, policy, gamma, tolerance, max_sweeps)
        sweeps += evaluated.sweeps
        q_values = action_values(dynamics, evaluated.values, gamma)
        better = improved(policy, q_values)
        if np.array_equal(better, policy):
            return Plan(evaluated.values, q_values, policy, sweeps)
        policy = better
    raise LudusError(f"the policy still changes after {max_sweeps:,} improvements; use value iteration for this game")


def evaluate(dynamics: Dynamics, policy: Array, gamma: float, tolerance: float, max_sweeps: int) -> Plan:
    """The value of a policy [S]: value iteration with a single legal action in each state."""
    states, actions = dynamics.legal.shape
    if policy.shape != (states,) or not ((policy >= 0) & (policy < actions)).all():
        raise LudusError(f"a policy must be {states} actions from 0 to {actions - 1}, one for each state")
    rows, running = np.arange(states), dynamics.legal.any(axis=1)
    if not dynamics.legal[rows, policy][running].all():
        raise LudusError("the policy chooses an action that is not legal in its state; `legal` marks the legal ones")
    only = np.zeros((states, actions), bool)
    only[rows, policy] = running
    return value_iteration(dynamics._replace(legal=only), gamma, tolerance, max_sweeps)


def improved(policy: Array, q_values: Array) -> Array:
    """The best action of every state; the policy's own if no other is clearly better, so that ties do not alternate."""
    best, rows = q_values.argmax(axis=1), np.arange(len(policy))
    return np.where(q_values[rows, best] > q_values[rows, policy] + MARGIN, best, policy)
