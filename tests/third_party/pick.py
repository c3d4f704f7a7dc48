"""Pick: take one or two stones from a pile of seven; who takes the last stone wins."""

from ludus.dsl import HEAD, OVER, Discrete, Spec, i8, record, rule, within

SPEC = Spec(seats=2, actions=Discrete(2), horizon=7, zero_sum=True)
STATE = record(**HEAD, stones=i8)
OBSERVATION = record(stones=within(0, 7, i8))


@rule
def init(state):
    state.seat = 0
    state.stones = 7


@rule
def step(state, action, reward):
    seat = state.seat
    state.stones -= action + 1
    if state.stones == 0:
        reward[seat] = 1.0
        reward[1 - seat] = -1.0
        state.status = OVER
    state.seat = 1 - seat


@rule
def legal(state, seat, mask):
    mask[0] = 1
    mask[1] = state.stones >= 2


@rule
def observe(state, seat, out):
    out.stones = state.stones


def action_name(action):
    return f"take {action + 1}"
