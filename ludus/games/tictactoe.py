"""Tic-tac-toe: three in a row wins.

Squares are numbered row by row, a1 to c3. The winner gets 1, the loser -1, a draw 0.
"""

import numpy as np

from ludus.dsl import HEAD, OVER, Discrete, Spec, draw, i8, record, rule, u16, within

SPEC = Spec(seats=2, actions=Discrete(9), horizon=9, zero_sum=True, frame=(300, 300))
STATE = record(**HEAD, moves=i8, stones=(u16, 2))
OBSERVATION = record(board=within(0, 2, i8, 9))
"""0 empty, 1 mine, 2 theirs"""

FULL = 0b111_111_111
LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)
WINS = np.array([any(stones & line == line for line in LINES) for stones in range(512)])
SPREAD = np.array([sum((stones >> cell & 1) << 8 * cell for cell in range(8)) for stones in range(512)], np.uint64)
"""a byte for each of the first eight cells: the compiler stores the bytes of one word at once, but not bits"""
POSITIONS = 3**9
"""number of values of `position`; not all of them occur"""
TWO, BYTE = np.uint64(2), np.uint64(255)
SYMBOLS = ".XO"


@rule
def init(state):
    state.seat = 0


@rule
def step(state, action, reward):
    seat = state.seat
    state.stones[seat] |= 1 << action
    state.moves += 1
    if WINS[state.stones[seat]]:
        reward[seat] = 1.0
        reward[1 - seat] = -1.0
        state.status = OVER
    elif state.moves == 9:
        state.status = OVER
    state.seat = 1 - seat


@rule
def legal(state, seat, mask):
    free = FULL ^ (state.stones[0] | state.stones[1])
    for cell in range(8):
        mask[cell] = (SPREAD[free] >> np.uint64(8 * cell)) & BYTE
    mask[8] = free >> 8


@rule
def observe(state, seat, out):
    mine = state.stones[seat]
    theirs = state.stones[1 - seat]
    board = SPREAD[mine] + TWO * SPREAD[theirs]
    for cell in range(8):
        out.board[cell] = (board >> np.uint64(8 * cell)) & BYTE
    out.board[8] = (mine >> 8) + 2 * (theirs >> 8)


@rule
def scene(state, seat, canvas):
    draw.rect(canvas, 0, 0, 300, 300, 0x1E2430)
    for edge in range(1, 3):
        draw.line(canvas, 100 * edge, 20, 100 * edge, 280, 5, 0x55617A)
        draw.line(canvas, 20, 100 * edge, 280, 100 * edge, 5, 0x55617A)
    for cell in range(9):
        x = 50 + 100 * (cell % 3)
        y = 50 + 100 * (cell // 3)
        draw.area(canvas, x - 50, y - 50, 100, 100, cell)
        if (state.stones[0] >> cell) & 1:
            draw.line(canvas, x - 25, y - 25, x + 25, y + 25, 12, 0xFFB454)
            draw.line(canvas, x - 25, y + 25, x + 25, y - 25, 12, 0xFFB454)
        elif (state.stones[1] >> cell) & 1:
            draw.circle(canvas, x, y, 34, 0x59C2FF)
            draw.circle(canvas, x, y, 22, 0x1E2430)


def position(states):
    """[N] the board as one number, the sum of cell i times 3^i: 0 empty, 1 first player, 2 second player."""
    cells = states["stones"][:, :, None] >> np.arange(9) & 1
    return (cells[:, 0] + 2 * cells[:, 1]) @ 3 ** np.arange(9)


def action_name(action: int) -> str:
    return "abc"[action % 3] + "123"[action // 3]


def text(state) -> str:
    cells = [SYMBOLS[((int(state["stones"][0]) >> c) & 1) + 2 * ((int(state["stones"][1]) >> c) & 1)] for c in range(9)]
    rows = [f"{row + 1} {' '.join(cells[3 * row : 3 * row + 3])}" for row in range(3)]
    return "\n".join([*rows, "  a b c"])
