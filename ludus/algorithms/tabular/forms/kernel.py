"""The loops of the compiled form; a template, so that the name of their cache is a hash of all compiled sources.

`masks` has no rows if all actions are legal, `signs` none if there is no opponent.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from typing import NamedTuple

import numpy as np

from ludus.agents.table import ANY_LEGAL, ILLEGAL, highest, improve, unit
from ludus.dsl import kernel, part
from ludus.dsl.intrinsics import borrowed, prefetch
from ludus.dsl.random import GOLDEN, mix, scale
from ludus.types import Array

AHEAD = 12
"""updates between the prefetch of a row and its use; memory has a high latency but serves many requests at once"""


class Updates(NamedTuple):
    """A table and the updates to make, one per row."""

    rows: Array
    states: Array
    actions: Array
    rewards: Array
    next_states: Array
    terminated: Array
    masks: Array
    signs: Array


class Choices(NamedTuple):
    """A table, states, and the actions chosen for them (`out`)."""

    rows: Array
    states: Array
    masks: Array
    out: Array


@part
def best_legal(row, actions, masks, i):
    """The highest value of the actions that the i-th mask allows."""
    if len(masks) == 0:
        return highest(row, actions)
    best = ILLEGAL
    for action in range(actions):
        best = max(best, row.values[action] if masks[i, action] else ILLEGAL)
    return best


@part
def choose(row, actions, masks, i, exploration, bits):
    """With probability ε a random legal action, else the best one, with ties broken at random."""
    threshold = ANY_LEGAL if unit(bits) < exploration else best_legal(row, actions, masks, i)
    all_legal = len(masks) == 0
    count = 0
    for action in range(actions):
        count += (all_legal or masks[i, action]) and row.values[action] >= threshold
    skip = scale(bits, count)
    chosen = 0
    passed = 0
    for action in range(actions):
        passed += (all_legal or masks[i, action]) and row.values[action] >= threshold
        chosen += passed <= skip
    return chosen


@part
def learn(rows, state, action, reward, next_state, terminated, masks, i, sign, learning_rate, gamma):
    """Q(s, a) ← Q(s, a) + α [r ± γ max_b Q(s', b) - Q(s, a)]."""
    target = reward
    if not terminated:
        following = rows[next_state]
        target += gamma * sign * np.float64(best_legal(following, len(following.values), masks, i))
    improve(rows[state], action, target, learning_rate)


@part
def fetch(b, i):
    """Prefetch the rows of the i-th update into the cache."""
    prefetch(b.rows, b.states[i])
    prefetch(b.rows, b.next_states[i])


@kernel
def learn_all(updates, learning_rate, gamma):
    """Make all updates in sequence."""
    b = borrowed(updates)
    count = len(b.states)
    for i in range(min(AHEAD, count)):
        fetch(b, i)
    for i in range(count):
        if i + AHEAD < count:
            fetch(b, i + AHEAD)
        sign = b.signs[i] if len(b.signs) else 1.0
        learn(b.rows, b.states[i], b.actions[i], b.rewards[i], b.next_states[i], b.terminated[i], b.masks, i, sign,
              learning_rate, gamma)  # fmt: skip


@kernel
def learn_one(rows, state, action, reward, next_state, terminated, masks, sign, learning_rate, gamma):
    """Make one update."""
    learn(rows, state, action, reward, next_state, terminated, masks, 0, sign, learning_rate, gamma)


@kernel
def choose_all(choices, exploration, key):
    """Choose an action for every state."""
    b = borrowed(choices)
    for i in range(len(b.states)):
        row = b.rows[b.states[i]]
        bits = mix(key + np.uint64(i + 1) * GOLDEN)
        b.out[i] = choose(row, len(row.values), b.masks, i, exploration, bits)


@kernel
def choose_one(rows, state, masks, exploration, key):
    """Choose an action for one state."""
    row = rows[state]
    return choose(row, len(row.values), masks, 0, exploration, mix(key + GOLDEN))
