"""Small games of known results."""

import pytest
from small_games import plant, small_game

PATIENCE = small_game('''
"""Patience: half of the games end at once and pay 1, the others take forty steps and pay nothing."""
SPEC = Spec(seats=1, actions=Discrete(2), horizon=40)
STATE = record(**HEAD, wait=i8, moves=i8)
OBSERVATION = record(moves=within(0, 40, i8))

@rule
def init(state):
    state.wait = 1 if random.below(state, 2) == 0 else 40

@rule
def step(state, action, reward):
    state.moves += 1
    if state.moves == state.wait:
        reward[0] = 1.0 if state.wait == 1 else 0.0
        state.status = OVER
''')

TRIO = small_game('''
"""Trio: three seats pick a number in turn and get it, and ten times their seat."""
SPEC = Spec(seats=3, actions=Discrete(3), horizon=3)
STATE = record(**HEAD, moves=i8)
OBSERVATION = record(moves=within(0, 3, i8))

@rule
def step(state, action, reward):
    reward[state.seat] = action + 10 * state.seat
    state.moves += 1
    if state.moves == 3:
        state.status = OVER
    else:
        state.seat += 1
''')

STONES = small_game('''
"""Stones: take one to three of a pile, a quarter point each; who takes the last one wins."""
PARAMETERS = {
    "pile": integer(7, 1, 30, "how many stones there are"),
    "twist": choice("none", ("none", "deal", "roll", "circle"), "what spoils the lines of play"),
}
SPEC = Spec(seats=2, actions=Discrete(3))
STATE = record(**HEAD, pile=i8, twist=i8)
OBSERVATION = record(pile=within(0, 30, i8))

@rule
def init(state):
    state.seat = 0
    if state.twist == 1:
        state.pile += random.below(state, 2)

@rule
def step(state, action, reward):
    reward[state.seat] = 0.25 * (action + 1)
    state.pile -= action + 1
    if state.twist == 2 and state.pile == 3:
        state.pile -= random.below(state, 2)
    if state.twist == 3 and state.pile == 2:
        state.pile += 2
    if state.pile == 0:
        reward[state.seat] += 1.0
        reward[1 - state.seat] -= 1.0
        state.status = OVER
    state.seat = 1 - state.seat

@rule
def legal(state, seat, mask):
    for action in range(3):
        mask[action] = action < state.pile

def action_name(action):
    return f"take {action + 1}"
''')


@pytest.fixture(autouse=True, scope="session")
def small_games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    plant(folder, patience=PATIENCE, trio=TRIO, stones=STONES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LUDUS_GAMES", str(folder))
        yield
