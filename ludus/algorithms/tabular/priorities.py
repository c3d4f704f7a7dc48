"""A priority queue of actions tried, largest first: a binary heap inside the records beside the rows.

An action is numbered place * actions + action. Each stands in the heap once at most, so the heap, with room for one
number an action, never overflows; `standing` tells where (0: nowhere), `queued` of the first record how many there are.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from typing import Any

import numpy as np

from ludus.dsl import part


def fields(actions: int) -> tuple[tuple[Any, ...], ...]:
    """What stands beside each row."""
    return (
        ("heap", np.int64, (actions,)), ("standing", np.int64, (actions,)), ("priority", np.float64, (actions,)),
        ("queued", np.int64),
    )  # fmt: skip


@part
def read(memory, actions, slot):
    return memory[slot // actions].heap[slot % actions]


@part
def write(memory, actions, slot, number):
    memory[slot // actions].heap[slot % actions] = number
    memory[number // actions].standing[number % actions] = slot + 1


@part
def priority_of(memory, actions, number):
    return memory[number // actions].priority[number % actions]


@part
def push(memory, actions, number, priority):
    """Enter an action, or raise it where it stands lower; it never falls."""
    model = memory[number // actions]
    slot = model.standing[number % actions] - 1
    if slot < 0:
        slot = memory[0].queued
        memory[0].queued += 1
        model.priority[number % actions] = priority
    elif priority > model.priority[number % actions]:
        model.priority[number % actions] = priority
    while slot > 0:
        above = (slot - 1) // 2
        other = read(memory, actions, above)
        if priority_of(memory, actions, other) >= model.priority[number % actions]:
            break
        write(memory, actions, slot, other)
        slot = above
    write(memory, actions, slot, number)


@part
def pop(memory, actions):
    """The action of the highest priority, -1 where none is left."""
    count = memory[0].queued
    if count == 0:
        return np.int64(-1)
    first = read(memory, actions, 0)
    memory[first // actions].standing[first % actions] = 0
    memory[0].queued = count - 1
    if count > 1:
        sink(memory, actions, read(memory, actions, count - 1), count - 1)
    return first


@part
def sink(memory, actions, number, count):
    """Put an action in at the top, and let it down until nothing below it is larger."""
    priority = priority_of(memory, actions, number)
    slot = np.int64(0)
    while 2 * slot + 1 < count:
        below = 2 * slot + 1
        larger = read(memory, actions, below)
        if below + 1 < count:
            right = read(memory, actions, below + 1)
            if priority_of(memory, actions, right) > priority_of(memory, actions, larger):
                below += 1
                larger = right
        if priority_of(memory, actions, larger) <= priority:
            break
        write(memory, actions, slot, larger)
        slot = below
    write(memory, actions, slot, number)
