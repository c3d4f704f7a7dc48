"""Hex on 4 x 4: seat 0 connects top and bottom, seat 1 left and right."""

from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

SIDE = 4
CELLS = SIDE * SIDE
SPEC = Spec(seats=2, actions=Discrete(CELLS), horizon=CELLS, zero_sum=True)
STATE = record(**HEAD, board=(i8, CELLS))
OBSERVATION = record(board=within(0, 2, i8, CELLS), across=within(0, 1, i8))
"""board: 0 empty, 1 mine, 2 theirs; across: 1 for the seat that connects left and right"""


@rule
def init(state):
    state.seat = 0


@rule
def step(state, action, reward):
    seat = state.seat
    state.board[action] = seat + 1
    if connected(state, seat):
        reward[seat] = 1.0
        reward[1 - seat] = -1.0
        state.status = OVER
    state.seat = 1 - seat


@rule
def connected(state, seat):
    """Whether the stones of a seat connect its two sides, by flood fill from the first side."""
    reached = 0
    for cell in range(CELLS):
        along = cell // SIDE if seat == 0 else cell % SIDE
        if state.board[cell] == seat + 1 and along == 0:
            reached |= 1 << cell
    grown = True
    while grown:
        grown = False
        for cell in range(CELLS):
            if state.board[cell] == seat + 1 and not reached >> cell & 1 and touches(reached, cell):
                reached |= 1 << cell
                grown = True
    for cell in range(CELLS):
        along = cell // SIDE if seat == 0 else cell % SIDE
        if reached >> cell & 1 and along == SIDE - 1:
            return True
    return False


@rule
def touches(reached, cell):
    row, column = cell // SIDE, cell % SIDE
    for down, right in ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)):
        y, x = row + down, column + right
        if 0 <= y < SIDE and 0 <= x < SIDE and reached >> (y * SIDE + x) & 1:
            return True
    return False


@rule
def legal(state, seat, mask):
    for cell in range(CELLS):
        mask[cell] = state.board[cell] == 0


@rule
def observe(state, seat, out):
    for cell in range(CELLS):
        owner = state.board[cell]
        out.board[cell] = 0 if owner == 0 else 1 if owner == seat + 1 else 2
    out.across = seat


def action_name(action):
    return f"{'abcd'[action % SIDE]}{action // SIDE + 1}"
