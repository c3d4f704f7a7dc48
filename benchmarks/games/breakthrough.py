"""Breakthrough on 4 x 5: pawns step forward, capture diagonally; whoever reaches the far row wins."""

from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

WIDE, HIGH = 4, 5
CELLS = WIDE * HIGH
SPEC = Spec(seats=2, actions=Discrete(CELLS * 3), horizon=60, zero_sum=True)
STATE = record(**HEAD, board=(i8, CELLS), left=(i8, 2))
OBSERVATION = record(board=within(0, 2, i8, CELLS))
"""from the view of the observing seat, which moves up: 0 empty, 1 mine, 2 theirs"""


@rule
def init(state):
    state.seat = 0
    for cell in range(WIDE):
        state.board[cell] = 1
        state.board[CELLS - 1 - cell] = 2
    state.left[0] = WIDE
    state.left[1] = WIDE


@rule
def turned(seat, cell):
    return cell if seat == 0 else CELLS - 1 - cell


@rule
def step(state, action, reward):
    seat = state.seat
    begin = action // 3
    end = begin + WIDE + action % 3 - 1
    taken = state.board[turned(seat, end)] != 0
    state.board[turned(seat, begin)] = 0
    state.board[turned(seat, end)] = seat + 1
    if taken:
        state.left[1 - seat] -= 1
    if end // WIDE == HIGH - 1 or state.left[1 - seat] == 0:
        reward[seat] = 1.0
        reward[1 - seat] = -1.0
        state.status = OVER
    state.seat = 1 - seat


@rule
def legal(state, seat, mask):
    for action in range(CELLS * 3):
        begin = action // 3
        side = action % 3 - 1
        column = begin % WIDE + side
        mask[action] = 0
        if state.board[turned(seat, begin)] == seat + 1 and begin // WIDE < HIGH - 1 and 0 <= column < WIDE:
            there = state.board[turned(seat, begin + WIDE + side)]
            mask[action] = there == 0 or (side != 0 and there == 2 - seat)


@rule
def observe(state, seat, out):
    for cell in range(CELLS):
        owner = state.board[turned(seat, cell)]
        out.board[cell] = 0 if owner == 0 else 1 if owner == seat + 1 else 2


def action_name(action):
    begin = action // 3
    return f"{'abcd'[begin % WIDE]}{begin // WIDE + 1}{'<^>'[action % 3]}"
