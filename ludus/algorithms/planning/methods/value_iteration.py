"""Value iteration (Bellman 1957), swept in place from the last state to the first.

V(s) <- max_a sum_k p(k | s, a) [r + gamma * sign * V(s')], where nothing follows an end. States found by visiting
come after those that lead to them, so going backwards solves a game without cycles in one sweep.
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
"""values closer than this are equal: the difference may be what iteration left over"""


class Sweep(NamedTuple):
    """How far an iteration has come."""

    number: int
    change: float
    """the largest change of a value in this sweep"""
    values: Array
    """[S] the values themselves, which the next sweep goes on to improve: copy what you keep"""


class Plan(NamedTuple):
    """What planning found."""

    values: Array
    """[S] to the seat that moves"""
    action_values: Array
    """[S, A], minus infinity where an action is not legal"""
    policy: Array
    """[S] a best action; of equal ones one that brings the game nearer to its end, and 0 where it has ended"""
    sweeps: int


class Stage(NamedTuple):
    """How far planning has come."""

    sweeps: int
    """over all states, so far"""
    change: float
    """the largest change of a value in the last sweep"""
    finished: bool
    plan: Callable[[], Plan]
    """computes the plan of this stage"""


LONGEST = 100_000
"""sweeps after which values that still change are an error"""


def plans(dynamics: Dynamics, gamma: float, tolerance: float) -> Iterator[Stage]:
    """A stage after every sweep, until no value changes by more than `tolerance`."""
    for sweep in value_sweeps(dynamics, gamma):
        finished = sweep.change <= tolerance
        yield Stage(sweep.number, sweep.change, finished, lambda sweep=sweep: plan_of(dynamics, sweep, gamma))  # type: ignore[misc]
        if finished:
            return
        if sweep.number >= LONGEST:
            raise LudusError(f"values still change by {sweep.change:g} after {LONGEST:,} sweeps; use gamma below 1")


def plan_of(dynamics: Dynamics, sweep: Sweep, gamma: float) -> Plan:
    """The plan that acts by the values of a sweep."""
    worth = action_values(dynamics, sweep.values, gamma)
    return Plan(sweep.values, worth, best_policy(dynamics, worth), sweep.number)


def value_iteration(
    dynamics: Dynamics, gamma: float = 1.0, tolerance: float = 1e-10, max_sweeps: int = 100_000
) -> Plan:
    """The value of best play: sweep until no value changes by more than `tolerance`.

    With gamma 1 this needs games that end: values that grow for ever are refused after `max_sweeps`.
    """
    for sweep in value_sweeps(dynamics, gamma):
        if sweep.change <= tolerance:
            return plan_of(dynamics, sweep, gamma)
        if sweep.number >= max_sweeps:
            raise LudusError(
                f"values still change by {sweep.change:g} after {max_sweeps:,} sweeps with gamma {gamma:g}; "
                "allow more sweeps, or use gamma below 1 if this play need not end"
            )
    raise AssertionError("sweeps never run out")


def value_sweeps(dynamics: Dynamics, gamma: float = 1.0) -> Iterator[Sweep]:
    """Sweep after sweep for as long as the caller wants; it may show each, and stop at any."""
    check(dynamics, gamma)
    tables, values = _tables(dynamics), np.zeros(len(dynamics.legal))
    for number in itertools.count(1):
        yield Sweep(number, _sweep(*tables, values, float(gamma)), values)


def action_values(dynamics: Dynamics, values: Array, gamma: float) -> Array:
    """[S, A] the value of each action if the states that follow are worth `values`; minus infinity if not legal."""
    out = np.full(dynamics.legal.shape, -np.inf)
    _action_values(*_tables(dynamics), np.asarray(values, np.float64), float(gamma), out)
    return out


def best_policy(dynamics: Dynamics, worth: Array) -> Array:
    """[S] the best actions by their worth [S, A], none of which walks in circles where as good a one does not.

    With gamma 1 waiting is often worth as much as arriving, and who always waits gets nothing.
    """
    best = worth >= worth.max(axis=1, keepdims=True) - MARGIN
    return ending_policy(dynamics._replace(legal=best & np.asarray(dynamics.legal, bool)))


def ending_policy(dynamics: Dynamics) -> Array:
    """[S] a policy that comes to an end from every state that can: each of its actions may lead one step nearer."""
    possible, legal = dynamics.probability > 0, np.asarray(dynamics.legal, bool)
    policy, ending = legal.argmax(axis=1), np.zeros(len(legal), bool)
    ends = np.asarray(dynamics.ends, bool)
    while True:
        nearer = (possible & (ends | ending[dynamics.next])).any(axis=2) & legal
        reached = nearer.any(axis=1) & ~ending
        if not reached.any():
            return policy
        policy[reached] = nearer.argmax(axis=1)[reached]
        ending |= reached


def check(dynamics: Dynamics, gamma: float) -> None:
    """Compiled code trusts its tables, so they are looked at before."""
    shape = np.shape(dynamics.next)
    tables = (dynamics.probability, dynamics.reward, dynamics.ends, dynamics.sign)
    if len(shape) != 3 or any(np.shape(table) != shape for table in tables):
        raise LudusError("next, probability, reward, ends and sign must be tables of one shape [S, A, K]")
    if np.shape(dynamics.legal) != shape[:2]:
        raise LudusError(f"legal must be a table of shape {shape[:2]}, not {np.shape(dynamics.legal)}")
    if dynamics.next.size and not (dynamics.next.min() >= 0 and dynamics.next.max() < shape[0]):
        raise LudusError(f"states that follow must be numbers from 0 to {shape[0] - 1}")
    total = np.asarray(dynamics.probability).sum(axis=2)[np.asarray(dynamics.legal, bool)]
    if not np.allclose(total, 1.0, atol=1e-6):
        raise LudusError("the probabilities of the outcomes of a legal action must sum to 1")
    if not 0 <= gamma <= 1:
        raise LudusError(f"gamma is a number from 0 to 1, not {gamma}")


def _tables(dynamics: Dynamics) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The tables one by one and of fixed types: inside a tuple each access would count references."""
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
    """Replace every value by that of the best action; returns the largest change."""
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
    """What one action is worth."""
    total = 0.0
    for k in range(following.shape[2]):
        chance = probability[state, action, k]
        if chance > 0.0:
            total += chance * reward[state, action, k]
            if not ends[state, action, k]:
                total += chance * gamma * sign[state, action, k] * values[following[state, action, k]]
    return total
