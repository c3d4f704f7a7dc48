"""Lair: fetch keys, open doors and find the treasure; the only reward is at the end, so it needs exploration.

Eight rooms and three doors; each key opens the door of its colour and is behind the previous door. The map never
changes. With fewer `locks` the first doors are already open. The treasure is worth 1 and ends the game; the horizon
truncates it. The shortest path has 52 moves (36 with two locks, 20 with one); random play with all three locks finds
the treasure in fewer than one game in a million.
"""

import numpy as np

from ludus.dsl import CUT, HEAD, OVER, Discrete, Spec, draw, i8, i16, integer, record, rule, within

MAP = (
    "#################",
    "#...#...#...#...#",
    "#.a.#.c.#.b.#.$.#",
    "#...#...#...#...#",
    "##.###B###.###.##",
    "#...#...#...#...#",
    "#.....@.A...C...#",
    "#...#...#...#...#",
    "#################",
)
"""wall #, floor ., keys a to c and their doors A to C, treasure $, start @"""
LOCKS, HEIGHT, WIDTH, TILE = 3, len(MAP), len(MAP[0]), 32


def _places(marks: str) -> np.ndarray:
    """[HEIGHT, WIDTH] 1, 2, … at the positions of the first, second, … mark on the map, 0 elsewhere."""
    return np.array([[marks.find(mark) + 1 for mark in row] for row in MAP], np.int8)


WALLS, KEYS, DOORS, TREASURE, START = (_places(marks) for marks in ("#", "abc", "ABC", "$", "@"))
START_ROW, START_COLUMN = (int(place) for place in np.argwhere(START)[0])
DOWN, ACROSS = np.array([-1, 0, 1, 0]), np.array([0, 1, 0, -1])
COLORS = np.array([0x8A94A6, 0xEE4266, 0x7BD88F, 0x59C2FF])
COLOR_NAMES = ("no", "red", "green", "blue")

PACE = 6
SPEC = Spec(seats=1, actions=Discrete(4), horizon=200, frame=(WIDTH * TILE, HEIGHT * TILE))
PARAMETERS = {"locks": integer(LOCKS, 1, LOCKS, "how many of the three doors are locked")}
STATE = record(**HEAD, locks=i8, row=i8, column=i8, key_held=i8, doors_open=i8, moves=i16)
OBSERVATION = record(
    row=within(1, HEIGHT - 2, i8), column=within(1, WIDTH - 2, i8), key_held=within(0, LOCKS, i8),
    doors_open=within(0, LOCKS, i8),
)  # fmt: skip
"""position; the key held, 0 for none; number of open doors (they open in order)"""


@rule
def init(state):
    state.row = START_ROW
    state.column = START_COLUMN
    state.doors_open = LOCKS - state.locks


@rule
def step(state, action, reward):
    row = state.row + DOWN[action]
    column = state.column + ACROSS[action]
    if passable(state, row, column):
        enter(state, row, column)
    state.moves += 1
    if TREASURE[state.row, state.column]:
        reward[0] = 1.0
        state.status = OVER
    elif state.moves == SPEC.horizon:
        state.status = CUT


@rule
def passable(state, row, column):
    """Neither a wall nor a locked door whose key is not held."""
    return not WALLS[row, column] and (not locked(state, row, column) or DOORS[row, column] == state.key_held)


@rule
def locked(state, row, column):
    return DOORS[row, column] > state.doors_open


@rule
def key_lies(state, row, column):
    """Whether a key is still here: neither held nor used."""
    return KEYS[row, column] > state.doors_open and KEYS[row, column] != state.key_held


@rule
def enter(state, row, column):
    """Step onto a tile: take its key, or open its door, which uses the key."""
    state.row = row
    state.column = column
    if key_lies(state, row, column):
        state.key_held = KEYS[row, column]
    elif locked(state, row, column):
        state.doors_open = DOORS[row, column]
        state.key_held = 0


@rule
def legal(state, seat, mask):
    # Walking into a wall is legal and only costs a step: the player has to learn where the walls are.
    for action in range(4):
        mask[action] = 1


@rule
def observe(state, seat, out):
    out.row = state.row
    out.column = state.column
    out.key_held = state.key_held
    out.doors_open = state.doors_open


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, WIDTH * TILE, HEIGHT * TILE, 0x141924)
    for row in range(HEIGHT):
        for column in range(WIDTH):
            draw_tile(state, canvas, row, column)
    x = TILE * int(state.column) + 16
    y = TILE * int(state.row) + 16
    draw.circle(canvas, x, y, 12, 0xFFB454)
    draw.circle(canvas, x - 4, y - 3, 2.5, 0x141924)
    draw.circle(canvas, x + 4, y - 3, 2.5, 0x141924)
    if state.key_held:
        draw_key(canvas, x - 2, y - 17, COLORS[state.key_held])
    for action in range(4):
        draw.area(canvas, x - 16 + TILE * ACROSS[action], y - 16 + TILE * DOWN[action], TILE, TILE, action)
    draw.line(canvas, 20, 278, 524, 278, 4, 0x2C2838)
    draw.line(canvas, 20, 278, 524 - 504 * state.moves / SPEC.horizon, 278, 4, 0xFFB454)


@rule
def draw_tile(state, canvas, row, column):
    x = TILE * column
    y = TILE * row
    if WALLS[row, column]:
        draw.rect(canvas, x + 1, y + 1, 30, 30, 0x443D57, 4.0)
        draw.rect(canvas, x + 1, y + 1, 30, 24, 0x655B80, 4.0)
        return
    draw.rect(canvas, x, y, TILE, TILE, 0x252C3C if (row + column) % 2 else 0x2C3548)
    if DOORS[row, column]:
        draw_door(canvas, x, y, COLORS[DOORS[row, column]], locked(state, row, column))
    elif key_lies(state, row, column):
        draw_key(canvas, x + 16, y + 16, COLORS[KEYS[row, column]])
    elif TREASURE[row, column]:
        draw_chest(canvas, x, y)


@rule
def draw_door(canvas, x, y, color, is_locked):
    draw.rect(canvas, x + 1, y + 1, 30, 30, color, 5.0)
    if is_locked:
        draw.circle(canvas, x + 16, y + 13, 4.5, 0x141924)
        draw.line(canvas, x + 16, y + 14, x + 16, y + 22, 4, 0x141924)
    else:
        draw.rect(canvas, x + 4, y + 4, 24, 24, 0x252C3C, 3.0)


@rule
def draw_key(canvas, x, y, color):
    draw.line(canvas, x - 2, y, x + 10, y, 3.5, color)
    draw.line(canvas, x + 5, y, x + 5, y + 5, 3, color)
    draw.line(canvas, x + 10, y, x + 10, y + 5, 3, color)
    draw.circle(canvas, x - 6, y, 6, color)
    draw.circle(canvas, x - 6, y, 2.5, 0x141924)


@rule
def draw_chest(canvas, x, y):
    draw.rect(canvas, x + 4, y + 7, 24, 19, 0xFFD23F, 4.0)
    draw.line(canvas, x + 5, y + 15, x + 27, y + 15, 2.5, 0x8A5A1C)
    draw.rect(canvas, x + 13, y + 12, 6, 8, 0x8A5A1C, 2.0)


def action_name(action: int) -> str:
    return ("up", "right", "down", "left")[action]


def text(state) -> str:
    rows = ["".join(_letter(state, row, column) for column in range(WIDTH)) for row in range(HEIGHT)]
    held = f"{COLOR_NAMES[state['key_held']]} key in hand"
    return "\n".join([*rows, f"step {state['moves']}: {held}, {state['doors_open']} of {LOCKS} doors open"])


def _letter(state, row: int, column: int) -> str:
    if (row, column) == (state["row"], state["column"]):
        return "@"
    mark = KEYS[row, column] or DOORS[row, column]
    gone = START[row, column] or 0 < mark <= state["doors_open"] or 0 < KEYS[row, column] == state["key_held"]
    return "." if gone else MAP[row][column]
