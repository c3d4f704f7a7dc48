"""The shortest path through the lair from any position, computed once, because the map is known."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from ludus.agents.players.scripted import Scripted
from ludus.agents.protocol import Key
from ludus.games.lair import ACROSS, DOORS, DOWN, HEIGHT, KEYS, LOCKS, TREASURE, WALLS, WIDTH
from ludus.types import Array, Step

Place = tuple[int, int, int, int]
"""(row, column, key in hand, number of open doors)"""


@functools.cache
def shortest_path() -> Array:
    """[row, column, key in hand, doors open] the first action of the shortest path to the treasure."""
    before: dict[Place, list[tuple[Place, int]]] = {}
    for place in places():
        for action in range(len(DOWN)):
            before.setdefault(after(place, action), []).append((place, action))
    actions = np.zeros((HEIGHT, WIDTH, LOCKS + 1, LOCKS + 1), np.int64)
    reached = [place for place in places() if TREASURE[place[:2]]]
    seen = set(reached)
    for place in reached:  # grows during the loop: breadth-first search from the treasure
        for earlier, action in before.get(place, []):
            if earlier not in seen:
                seen.add(earlier)
                reached.append(earlier)
                actions[earlier] = action
    return actions


def places() -> list[Place]:
    """All combinations of floor cell, key in hand and open doors."""
    floor = [(int(row), int(column)) for row, column in np.argwhere(WALLS == 0)]
    held = range(LOCKS + 1)
    return [(*spot, key, doors) for spot, key, doors in itertools.product(floor, held, held)]


def after(place: Place, action: int) -> Place:
    """The place after an action: walls and locked doors block, keys are taken, and a door uses up its key."""
    key, doors = place[2:]
    spot = place[0] + int(DOWN[action]), place[1] + int(ACROSS[action])
    door, key_here = int(DOORS[spot]), int(KEYS[spot])
    if WALLS[spot] or (door > doors and door != key):
        return place
    if key_here > doors:
        return *spot, key_here, doors
    return (*spot, 0, door) if door > doors else (*spot, key, doors)


def choose(step: Step, key: Key) -> Array:
    seen = step.observation
    found: Array = shortest_path()[seen["row"], seen["column"], seen["key_held"], seen["doors_open"]]
    return found


AGENT = Scripted(choose)
