"""Connect Four: drop stones into seven columns; four in a line win.

Stones are two bitboards with seven bits per column, the topmost always empty, so that shifts find a line of four.
The winner gets 1, the loser -1, a draw 0.
"""

import numpy as np

from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, record, rule, u64, within

WIDTH, HEIGHT = 7, 6
SPEC = Spec(seats=2, actions=Discrete(WIDTH), horizon=WIDTH * HEIGHT, zero_sum=True, frame=(420, 380))
STATE = record(**HEAD, moves=i8, heights=(i8, WIDTH), stones=(u64, 2))
OBSERVATION = record(board=within(0, 2, i8, HEIGHT, WIDTH))
"""0 empty, 1 mine, 2 theirs; the top row first"""

ONE = np.uint64(1)
SHIFTS = np.array([1, HEIGHT, HEIGHT + 1, HEIGHT + 2], np.uint64)
"""vertical, falling diagonal, horizontal, rising diagonal"""
SYMBOLS = ".XO"


@rule
def wins(stones):
    """Whether four of the stones are in a line."""
    for direction in range(4):
        shift = SHIFTS[direction]
        pairs = stones & (stones >> shift)
        if pairs & (pairs >> (shift + shift)):
            return True
    return False


@rule
def init(state):
    state.seat = 0


@rule
def step(state, action, reward):
    seat = state.seat
    state.stones[seat] |= ONE << np.uint64(action * (HEIGHT + 1) + state.heights[action])
    state.heights[action] += 1
    state.moves += 1
    if wins(state.stones[seat]):
        reward[seat] = 1.0
        reward[1 - seat] = -1.0
        state.status = OVER
    elif state.moves == WIDTH * HEIGHT:
        state.status = OVER
    state.seat = 1 - seat


@rule
def legal(state, seat, mask):
    for column in range(WIDTH):
        mask[column] = state.heights[column] < HEIGHT


@rule
def observe(state, seat, out):
    mine = state.stones[seat]
    theirs = state.stones[1 - seat]
    for row in range(HEIGHT):
        for column in range(WIDTH):
            bit = np.uint64(column * (HEIGHT + 1) + HEIGHT - 1 - row)
            out.board[row, column] = np.int8((mine >> bit) & ONE) + 2 * np.int8((theirs >> bit) & ONE)


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 420, 380, 0x1E2430)
    draw.rect(canvas, 10, 10, 400, 360, 0x2F5FB3, 18.0)
    for column in range(WIDTH):
        draw.area(canvas, 16 + 55.5 * column, 10, 55, 360, column)
        for row in range(HEIGHT):
            bit = np.uint64(column * (HEIGHT + 1) + row)
            color = 0x1E2430
            if (state.stones[0] >> bit) & ONE:
                color = 0xFFD23F
            elif (state.stones[1] >> bit) & ONE:
                color = 0xEE4266
            draw.circle(canvas, 43 + 55.5 * column, 337 - 58.5 * row, 23, color)


def action_name(action: int) -> str:
    return "abcdefg"[action]


def text(state) -> str:
    first, second = (int(stones) for stones in state["stones"])
    bits = [[column * (HEIGHT + 1) + row for column in range(WIDTH)] for row in reversed(range(HEIGHT))]
    rows = [" ".join(SYMBOLS[((first >> bit) & 1) + 2 * ((second >> bit) & 1)] for bit in row) for row in bits]
    return "\n".join([*rows, "a b c d e f g"])
