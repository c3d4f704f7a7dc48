"""Nim: take any number of objects from one heap; whoever takes the last object wins."""

from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

HEAPS = (3, 5, 7)
MOST = 7
SPEC = Spec(seats=2, actions=Discrete(21), horizon=15, zero_sum=True)
STATE = record(**HEAD, heaps=(i8, 3))
OBSERVATION = record(heaps=within(0, 7, i8, 3))


@rule
def init(state):
    state.seat = 0
    for heap in range(3):
        state.heaps[heap] = HEAPS[heap]


@rule
def step(state, action, reward):
    state.heaps[action // MOST] -= action % MOST + 1
    if state.heaps[0] + state.heaps[1] + state.heaps[2] == 0:
        reward[state.seat] = 1.0
        reward[1 - state.seat] = -1.0
        state.status = OVER
    state.seat = 1 - state.seat


@rule
def legal(state, seat, mask):
    for action in range(21):
        mask[action] = action % MOST < state.heaps[action // MOST]


@rule
def observe(state, seat, out):
    for heap in range(3):
        out.heaps[heap] = state.heaps[heap]


def action_name(action):
    return f"{action % MOST + 1} from {action // MOST + 1}"
