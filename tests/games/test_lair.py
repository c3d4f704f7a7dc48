"""Lair compared with a reference on a text map; breadth-first search finds the path, random play does not."""

import functools
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import CUT, OVER, PLAYING
from ludus.dsl.draw import new_canvas
from ludus.evaluation.conformance.picture_checks import canvas_complaint
from ludus.evaluation.golden import golden_path
from ludus.pool import Pool

UP, RIGHT, DOWN, LEFT = range(4)
FIELDS = ("row", "column", "key_held", "doors_open")
SHORTEST = {1: 20, 2: 36, 3: 52}
"""length of the shortest path, by number of locks"""
RECORDED = golden_path("lair").read_text().partition("step 0\n")[2]
DRAWN = [line.strip() for line in RECORDED.splitlines()[:9]]
"""the map as text, as it was once recorded; the reference does not use the game's own map"""


@functools.cache
def pool() -> Pool:
    return Pool("lair", 1, threads=1)


def facts(state) -> tuple[int, ...]:
    return tuple(int(state[name]) for name in FIELDS)


@functools.cache
def search(locks: int) -> tuple[list[int], set[tuple[int, ...]]]:
    """The shortest path to the treasure and all reachable states, by breadth-first search through the pool."""
    four = Pool(f"lair(locks={locks})", 4, threads=1)
    waiting, reached, way = deque([(four.states[:1].copy(), ())]), {facts(four.states[0])}, ()
    while waiting:
        state, moves = waiting.popleft()
        four.states[:] = state
        four.states["moves"] = 0
        four.advance(range(4))
        for action, after in enumerate(four.states):
            if facts(after) in reached:
                continue
            reached.add(facts(after))
            if after["status"] == OVER:
                way = way or (*moves, action)
            else:
                waiting.append((four.states[action : action + 1].copy(), (*moves, action)))
    return list(way), reached


class Referee:
    """The same game with characters on a map: keys are picked up, opened doors become floor."""

    def __init__(self) -> None:
        self.map = {(row, column): mark for row, line in enumerate(DRAWN) for column, mark in enumerate(line)}
        self.place = next(place for place, mark in self.map.items() if mark == "@")
        self.hand, self.opened = "", 0

    def move(self, action: int) -> None:
        down, across = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
        there = self.place[0] + down, self.place[1] + across
        mark = self.map[there]
        if mark == "#" or (mark in "ABC" and mark.lower() != self.hand):
            return
        self.place = there
        if mark in "abc":
            self.hand, self.map[there] = mark, "."
        elif mark in "ABC":
            self.hand, self.map[there] = "", "."
            self.opened += 1

    def facts(self) -> tuple[int, ...]:
        return *self.place, " abc".index(self.hand or " "), self.opened


@given(st.integers(0, SHORTEST[3] - 1), st.lists(st.integers(0, 3), max_size=100))
def test_games_that_leave_the_shortest_path_agree_with_the_reference(followed, strayed):
    pool().reset()
    referee = Referee()
    for action in [*search(3)[0][:followed], *strayed]:
        step = pool().advance([action])
        referee.move(action)
        seen = tuple(int(step.observation[name][0]) for name in FIELDS)
        assert seen == facts(pool().states[0]) == referee.facts()
        found = referee.map[referee.place] == "$"
        assert step.reward[0, 0] == found and step.discount[0] == 1 - found
        assert pool().status[0] == (OVER if found else PLAYING)
        assert step.mask.all()
        if found:
            break


@pytest.mark.parametrize("locks", SHORTEST)
def test_the_treasure_is_reachable_and_the_only_reward(locks):
    way, _ = search(locks)
    assert len(way) == SHORTEST[locks]
    one = Pool(f"lair(locks={locks})", 1, threads=1)
    assert [float(one.advance([action]).reward[0, 0]) for action in way] == [0.0] * (len(way) - 1) + [1.0]
    assert one.status[0] == OVER and one.step.discount[0] == 0


@pytest.mark.parametrize("locks", SHORTEST)
def test_there_is_one_chain_of_keys_and_doors(locks):
    _, reached = search(locks)
    assert {(key, doors) for _, _, key, doors in reached} == {
        *((0, doors) for doors in range(3 - locks, 4)),
        *((doors + 1, doors) for doors in range(3 - locks, 3)),
    }
    assert {doors for row, column, _, doors in reached if DRAWN[row][column] == "$"} == {3}


def test_time_runs_out():
    pool().reset()
    for _ in range(200):
        assert pool().status[0] == PLAYING
        step = pool().advance([UP])
    assert pool().status[0] == CUT
    assert step.reward[0, 0] == 0 and step.discount[0] == 1


def test_the_last_move_still_counts():
    pool().reset()
    against_a_locked_door = [UP] * 147 + [DOWN]
    for action in [*against_a_locked_door, *search(3)[0]]:
        assert pool().status[0] == PLAYING
        step = pool().advance([action])
    assert pool().states["moves"][0] == 200
    assert pool().status[0] == OVER and step.reward[0, 0] == 1


@pytest.mark.parametrize(("name", "found"), [("lair", False), ("lair(locks=1)", True)])
def test_random_play_finds_only_the_easy_treasure(name, found):
    many = Pool(name, 4096, 1)
    many.play_randomly(200)
    # After a win a new game starts in the row, which then has fewer moves.
    early = (many.states["moves"] < 200) | (many.status == OVER)
    assert early.any() == found
    many.close()


def test_every_position_of_the_shortest_path_can_be_drawn():
    pool().reset()
    pictures = set()
    for action in search(3)[0]:
        canvas, shapes = new_canvas(), pool().scene()
        canvas["count"] = len(shapes)
        canvas[0]["shapes"][: len(shapes)] = shapes
        assert canvas_complaint(canvas[0], pool().spec) == ""
        pictures.add(np.asarray(shapes).tobytes())
        pool().advance([action])
    assert len(pictures) == SHORTEST[3]


def test_the_map_as_text():
    pool().reset()
    assert pool().describe().splitlines() == [*DRAWN, "step 0: no key in hand, 0 of 3 doors open"]
    for action in [LEFT] * 4 + [UP] * 4:
        pool().advance([action])
    assert pool().describe().splitlines()[2] == "#.@.#.c.#.b.#.$.#"
    assert pool().describe().splitlines()[6] == "#.......A...C...#"
    assert pool().describe().splitlines()[-1] == "step 8: red key in hand, 0 of 3 doors open"
    for action in [DOWN] * 4 + [RIGHT] * 7:
        pool().advance([action])
    assert pool().describe().splitlines()[2] == "#...#.c.#.b.#.$.#"
    assert pool().describe().splitlines()[6] == "#........@..C...#"
    assert pool().describe().splitlines()[-1] == "step 19: no key in hand, 1 of 3 doors open"
