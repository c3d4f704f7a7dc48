"""A game defined by tables of transition probabilities. `gymnasium_tables` runs a copy of this module for each
environment, with the tables already bound, so that they are compiled in and part of the key of the compile cache.
"""

# ruff: noqa: F821  (`gymnasium_tables` defines the tables before this module runs)
# Rules are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from ludus.dsl import CUT, HEAD, OVER, Discrete, Spec, i32, i64, random, record, rule, within
from ludus.types import Array

SIZES: Array
"""number of states, of actions and of outcomes per action, and steps after which a game is truncated (0: never)"""
NEXT: Array
"""[states, actions, outcomes] the next state"""
CUMULATIVE: Array
"""[states, actions, outcomes] cumulative probability; 2 from the last possible outcome on"""
REWARD: Array
ENDS: Array
STARTS: Array
"""the possible initial states"""
START_CUMULATIVE: Array
LEGAL: Array
"""[states, actions] whether the action is legal"""

STATES, ACTIONS, OUTCOMES, HORIZON = (int(size) for size in SIZES)
SPEC = Spec(seats=1, actions=Discrete(ACTIONS), horizon=HORIZON)
STATE = record(**HEAD, position=i32, moves=i32)
OBSERVATION = record(observation=within(0, STATES - 1, i64))


@rule
def init(state):
    chance = random.uniform(state, 0.0, 1.0)
    low = 0
    high = len(STARTS) - 1
    while low < high:
        middle = (low + high) // 2
        if START_CUMULATIVE[middle] > chance:
            high = middle
        else:
            low = middle + 1
    state.position = STARTS[low]


@rule
def step(state, action, reward):
    position = state.position
    outcome = 0
    if OUTCOMES > 1:
        chance = random.uniform(state, 0.0, 1.0)
        while CUMULATIVE[position, action, outcome] <= chance:
            outcome += 1
    reward[0] = REWARD[position, action, outcome]
    state.position = NEXT[position, action, outcome]
    state.moves += 1
    if ENDS[position, action, outcome]:
        state.status = OVER
    elif HORIZON > 0 and state.moves >= HORIZON:
        state.status = CUT


@rule
def legal(state, seat, mask):
    for action in range(ACTIONS):
        mask[action] = LEGAL[state.position, action]


@rule
def observe(state, seat, out):
    out.observation = state.position


def action_name(action: int) -> str:
    return str(action)


def text(state) -> str:
    return f"state {state['position']} after {state['moves']} moves"
