"""Value iteration (Bellman, 1957), in place from the last state to the first.

V(s) <- max_a sum_k p(k | s, a) [r + gamma * sign * V(s')], with V(s') = 0 after the end of a game. States found by
breadth-first search come after those that lead to them, so one backward sweep solves a game without cycles.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ludus.algorithms.planning.dynamics import Dynamics
from ludus.dsl import kernel
from ludus.types import Array, LudusError

MARGIN = 1e-8
"""values that differ by less count as equal, because iteration leaves small errors"""


class Sweep(NamedTuple):
    """The state of value iteration after a sweep."""

    number: int
    change: float
    """the largest change of a value in this sweep"""
    values: Array
    """[S] the array that the next sweep overwrites; copy it to keep it"""


class Plan(NamedTuple):
    """The result of planning."""

    values: Array
    """[S] for the seat that moves"""
    action_values: Array
    """[S, A], minus infinity for illegal actions"""
    policy: Array
    """[S] a best action; among equal ones, one that leads towards the end of the game; 0 in terminal states"""
    sweeps: int


class Stage(NamedTuple):
    """The progress of planning."""

    sweeps: int
    """over all states, so far"""
    change: float
    """the largest change of a value in the last sweep"""
    finished: bool
    plan: Callable[[], Plan]
    """computes the plan of this stage"""


MAX_SWEEPS = 100_000
"""maximum number of sweeps; if values still change then, it is an error"""


def plans(dynamics: Dynamics, gamma: float, tolerance: float) -> Iterator[Stage]:
    """One stage per sweep, until no value changes by more than `tolerance`."""
    for sweep in value_sweeps(dynamics, gamma):
        finished = sweep.change <= tolerance
        yield Stage(sweep.number, sweep.change, finished, lambda sweep=sweep: plan_of(dynamics, sweep, gamma))  # type: ignore[misc]
        if finished:
            return
        if sweep.number >= MAX_SWEEPS:
            raise LudusError(f"values still change by {sweep.change:g} after {MAX_SWEEPS:,} sweeps; use gamma below 1")


def plan_of(dynamics: Dynamics, sweep: Sweep, gamma: float) -> Plan:
    """The greedy plan for the values of a sweep."""
    q_values = action_values(dynamics, sweep.values, gamma)
    return Plan(sweep.values, q_values, best_policy(dynamics, q_values), sweep.number)


def value_iteration(
    dynamics: Dynamics, gamma: float = 1.0, tolerance: float = 1e-10, max_sweeps: int = 100_000
) -> Plan:
    """The optimal plan: sweep until no value changes by more than `tolerance`.

    With gamma 1 all play must end: values that still change after `max_sweeps` raise LudusError.
    """
    for sweep in value_sweeps(dynamics, gamma):
        if sweep.change <= tolerance:
            return plan_of(dynamics, sweep, gamma)
        if sweep.number >= max_sweeps:
            raise LudusError(
                f"values still change by {sweep.change:g} after {max_sweeps:,} sweeps with gamma {gamma:g}; "
                "allow more sweeps, or use gamma below 1 if games may never end"
            )
    raise AssertionError("sweeps never run out")


def value_sweeps(dynamics: Dynamics, gamma: float = 1.0) -> Iterator[Sweep]:
    """An infinite iterator of sweeps; the caller decides when to stop."""
    check(dynamics, gamma)
    tables, values = _tables(dynamics), np.zeros(len(dynamics.legal))
    for number in itertools.count(1):
        yield Sweep(number, _sweep(*tables, values, float(gamma)), values)


def action_values(dynamics: Dynamics, values: Array, gamma: float) -> Array:
    """[S, A] the value of each action if next states have these values [S]; minus infinity for illegal actions."""
    out = np.full(dynamics.legal.shape, -np.inf)
    _action_values(*_tables(dynamics), np.asarray(values, np.float64), float(gamma), out)
    return out


def best_policy(dynamics: Dynamics, q_values: Array) -> Array:
    """[S] the best actions by their values [S, A]; among equally good ones, actions that lead to the end of the game.

    With gamma 1, waiting often has the same value as reaching the goal, but a policy that only waits never gets there.
    """
    best = q_values >= q_values.max(axis=1, keepdims=True) - MARGIN
    return ending_policy(dynamics._replace(legal=best & np.asarray(dynamics.legal, bool)))


def ending_policy(dynamics: Dynamics) -> Array:
    """[S] a policy that ends the game from every state where that is possible: each action may lead one step closer."""
    possible, legal = dynamics.probability > 0, np.asarray(dynamics.legal, bool)
    policy, ending = legal.argmax(axis=1), np.zeros(len(legal), bool)
    ends = np.asarray(dynamics.ends, bool)
    while True:
        closer = (possible & (ends | ending[dynamics.next])).any(axis=2) & legal
        reached = closer.any(axis=1) & ~ending
        if not reached.any():
            return policy
        policy[reached] = closer.argmax(axis=1)[reached]
        ending |= reached


def check(dynamics: Dynamics, gamma: float) -> None:
    """Raise LudusError for tables or a gamma that are not valid; compiled code does not check indices."""
    shape = np.shape(dynamics.next)
    tables = (dynamics.probability, dynamics.reward, dynamics.ends, dynamics.sign)
    if len(shape) != 3 or any(np.shape(table) != shape for table in tables):
        raise LudusError("next, probability, reward, ends and sign must have the same shape [S, A, K]")
    if np.shape(dynamics.legal) != shape[:2]:
        raise LudusError(f"legal must have the shape {shape[:2]}, not {np.shape(dynamics.legal)}")
    if dynamics.next.size and not (dynamics.next.min() >= 0 and dynamics.next.max() < shape[0]):
        raise LudusError(f"next states must be numbers from 0 to {shape[0] - 1}")
    total = np.asarray(dynamics.probability).sum(axis=2)[np.asarray(dynamics.legal, bool)]
    if not np.allclose(total, 1.0, atol=1e-6):
        raise LudusError("the probabilities of the outcomes of a legal action must sum to 1")
    if not 0 <= gamma <= 1:
        raise LudusError(f"gamma must be between 0 and 1, not {gamma}")


def _tables(dynamics: Dynamics) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The tables in fixed types, as separate arguments: access through a tuple would count references in the loop."""
    return (
        np.ascontiguousarray(dynamics.next, np.int64), np.ascontiguousarray(dynamics.probability, np.float64),
        np.ascontiguousarray(dynamics.reward, np.float64), np.ascontiguousarray(dynamics.ends, np.bool_),
        np.ascontiguousarray(dynamics.sign, np.int8), np.ascontiguousarray(dynamics.legal, np.bool_),
    )  # fmt: skip


@kernel
def _sweep(
    following: Array, probability: Array, reward: Array, ends: Array, sign: Array, legal: Array, values: Array,
    gamma: float,
) -> float:  # fmt: skip
    """Set every value to that of the best action; returns the largest change."""
    largest = 0.0
    states, actions = legal.shape
    for back in range(states):
        state = states - 1 - back
        best = -np.inf
        for action in range(actions):
            if legal[state, action]:
                value = _value(following, probability, reward, ends, sign, values, gamma, state, action)
                best = max(best, value)
        if best > -np.inf:
            largest = max(largest, abs(best - values[state]))
            values[state] = best
    return largest


@kernel
def _action_values(
    following: Array, probability: Array, reward: Array, ends: Array, sign: Array, legal: Array, values: Array,
    gamma: float, out: Array,
) -> None:  # fmt: skip
    for state in range(legal.shape[0]):
        for action in range(legal.shape[1]):
            if legal[state, action]:
                value = _value(following, probability, reward, ends, sign, values, gamma, state, action)
                out[state, action] = value


@kernel
def _value(
    following: Array, probability: Array, reward: Array, ends: Array, sign: Array, values: Array, gamma: float,
    state: int, action: int,
) -> float:  # fmt: skip
    """The value of one action."""
    total = 0.0
    for k in range(following.shape[2]):
        chance = probability[state, action, k]
        if chance > 0.0:
            total += chance * reward[state, action, k]
            if not ends[state, action, k]:
                total += chance * gamma * sign[state, action, k] * values[following[state, action, k]]
    return total
