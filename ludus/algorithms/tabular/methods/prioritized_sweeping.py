"""Prioritized sweeping (Moore and Atkeson, 1993): Dyna-Q that thinks first about what would surprise it most.

Q(s, a) ← Q(s, a) + α [r + γ max_b Q(s', b) - Q(s, a)]; then each (p, c) that led to s when last tried is queued by
its error |r + γ max_b Q(s, b) - Q(p, c)| if that exceeds `priority_threshold`, and the `planning_steps` first of the queue are learned
in the same way. News run backwards through the game at once: for games without dice that pay late.
"""

# Parts are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
import numpy as np

from ludus.agents.table import highest, improve
from ludus.algorithms.tabular.model import fields as model_fields
from ludus.algorithms.tabular.model import imagined, notice
from ludus.algorithms.tabular.priorities import fields as queue_fields
from ludus.algorithms.tabular.priorities import pop, push
from ludus.dsl import part


def MEMORY(actions):  # noqa: N802
    """The model, the queue, and of each place a list of the actions that lead to it, chained in both directions.

    Links are numbers of actions + 1, so that 0 is none.
    """
    links = (("leading", np.int64), ("before", np.int64, (actions,)), ("after", np.int64, (actions,)))
    return (*model_fields(actions), *queue_fields(actions), *links)


@part
def unlink(memory, actions, place, action):
    """Take an action out of the list of the place that it used to lead to."""
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
    """Put an action in front of the list of the place that it leads to."""
    if following >= 0:
        first = memory[following].leading - 1
        memory[place].before[action] = 0
        memory[place].after[action] = first + 1
        memory[following].leading = place * actions + action + 1
        if first >= 0:
            memory[first // actions].before[first % actions] = place * actions + action + 1


@part
def queue_leading(b, place, settings, actions):
    """Queue what leads here and now promises something else than its value says."""
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
    notice(b, desk.place, desk.action, reward, place, sign)
    number = desk.place * actions + desk.action
    for thought in range(settings.planning_steps + 1):
        if thought > 0:
            number = pop(b.memory, actions)
        if number >= 0:
            source = number // actions
            target = imagined(b, source, number % actions, settings, actions)
            improve(b.rows[source], number % actions, target, settings.learning_rate)
            queue_leading(b, source, settings, actions)
