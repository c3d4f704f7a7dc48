"""Prioritized sweeping (Moore and Atkeson, 1993): Dyna-Q that learns simulated steps in the order of their error.

Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)]; then each (p, c) that led to s when last tried is queued by
its error |r + γ max_b Q(s, b) - Q(p, c)| if that exceeds `priority_threshold`, and the first `planning_steps` pairs of
the queue are learned in the same way. Changes propagate backwards through the game at once, which suits deterministic
games with late rewards.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import highest, improve
from ludus.algorithms.tabular.model import fields as model_fields
from ludus.algorithms.tabular.model import model_target, store
from ludus.algorithms.tabular.priorities import fields as queue_fields
from ludus.algorithms.tabular.priorities import pop, push
from ludus.dsl import part


def MEMORY(actions):  # noqa: N802
    """The model, the queue, and for each row a doubly linked list of the state-action pairs that lead to it.

    A link is the number of a pair plus 1; 0 means none.
    """
    links = (("leading", np.int64), ("before", np.int64, (actions,)), ("after", np.int64, (actions,)))
    return (*model_fields(actions), *queue_fields(actions), *links)


@part
def unlink(memory, actions, place, action):
    """Remove a pair from the list of the row that it used to lead to."""
    mine = memory[place]
    if mine.tried[action] and mine.following[action] >= 0:
        before = mine.before[action] - 1
        after = mine.after[action] - 1
        if before >= 0:
            memory[before // actions].after[before % actions] = after + 1
        else:
            memory[mine.following[action]].leading = after + 1
        if after >= 0:
            memory[after // actions].before[after % actions] = before + 1


@part
def link(memory, actions, place, action, following):
    """Insert a pair at the front of the list of the row that it leads to."""
    if following >= 0:
        first = memory[following].leading - 1
        memory[place].before[action] = 0
        memory[place].after[action] = first + 1
        memory[following].leading = place * actions + action + 1
        if first >= 0:
            memory[first // actions].before[first % actions] = place * actions + action + 1


@part
def queue_leading(b, place, settings, actions):
    """Queue the pairs that lead to this row and whose error exceeds the threshold."""
    best = settings.gamma * np.float64(highest(b.rows[place], actions))
    number = b.memory[place].leading - 1
    while number >= 0:
        source = number // actions
        action = number % actions
        model = b.memory[source]
        target = model.reward[action] + model.sign[action] * best
        error = abs(target - np.float64(b.rows[source].values[action]))
        if error > settings.priority_threshold:
            push(b.memory, actions, number, error)
        number = model.after[action] - 1


@part
def backup(b, desk, settings, actions, reward, place, action, best, sign, ended, bits):
    model = b.memory[desk.place]
    if not model.tried[desk.action] or model.following[desk.action] != place:
        unlink(b.memory, actions, desk.place, desk.action)
        link(b.memory, actions, desk.place, desk.action, place)
    store(b, desk.place, desk.action, reward, place, sign)
    number = desk.place * actions + desk.action
    for planned in range(settings.planning_steps + 1):
        if planned > 0:
            number = pop(b.memory, actions)
        if number >= 0:
            source = number // actions
            target = model_target(b, source, number % actions, settings, actions)
            improve(b.rows[source], number % actions, target, settings.learning_rate)
            queue_leading(b, source, settings, actions)
