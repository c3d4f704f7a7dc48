"""A priority queue of state-action pairs, largest first: a binary heap inside the records of the rows.

A pair has the number place * actions + action. Each pair is in the heap at most once, so the heap, with one slot for
each pair, never overflows. `standing` is the slot of a pair plus 1, or 0 if it is not in the heap; `queued` of the
first record is the number of pairs in the heap.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.dsl import part


def fields(actions):
    """The fields of the record of each row."""
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
    """Add a pair, or raise its priority if it is in the heap with a lower one; priorities are never lowered."""
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
    """Remove and return the pair with the highest priority; -1 if the heap is empty."""
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
    """Insert a pair at the top and move it down until no pair below it has a higher priority."""
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
