"""Small games for the methods on the shelf, and plain looking on while a worker learns."""

from typing import NamedTuple

import numpy as np
import small_games
from small_games import small_game

from ludus.algorithms.protocol import Desk
from ludus.algorithms.tabular import Tabular
from ludus.algorithms.tabular.worker import Worker
from ludus.bridges import open_pool
from ludus.dsl import CUT, PLAYING

WALK = small_game('''
"""Walk: six places in a row; every step costs something, and the last place pays 1."""
PARAMETERS = {
    "slip": integer(0, 0, 100, "how many steps of a hundred go astray"),
    "horizon": integer(1000, 1, 1000, "steps after which a game is cut off"),
}
SPEC = Spec(seats=1, actions=Discrete(3), horizon=1000)
STATE = record(**HEAD, slip=i8, horizon=i16, moves=i16, place=i8)
OBSERVATION = record(place=within(0, 5, i8))

@rule
def init(state):
    state.place = 1

@rule
def step(state, action, reward):
    if random.below(state, 100) < state.slip:
        action = 0 if state.place > 0 else 1
    reward[0] = -0.1 - 0.013 * state.place - 0.05 * action
    state.place += -1 if action == 0 else action
    state.moves += 1
    if state.place >= 5:
        state.place = 5
        reward[0] += 1.0
        state.status = OVER
    elif state.moves >= state.horizon:
        state.status = CUT

@rule
def legal(state, seat, mask):
    mask[0] = state.place > 0
    mask[1] = 1
    mask[2] = state.place % 2 == 1

def action_name(action):
    return ("back", "on", "jump")[action]
''')

STONES = small_game('''
"""Stones: take one to three of a pile; who takes the last one wins. With `again`, who takes two moves once more."""
PARAMETERS = {
    "pile": integer(7, 1, 20, "how many stones there are"),
    "again": integer(0, 0, 1, "who takes two moves once more, and every stone counts"),
    "horizon": integer(20, 1, 20, "steps after which a game is cut off"),
}
SPEC = Spec(seats=2, actions=Discrete(3), horizon=20, zero_sum=True)
STATE = record(**HEAD, again=i8, horizon=i16, moves=i16, pile=i8)
OBSERVATION = record(pile=within(0, 20, i8))

@rule
def step(state, action, reward):
    mover = state.seat
    won = 0.0
    if state.again:
        won += 0.03 * (action + 1) + 0.011 * state.pile
    state.pile -= action + 1
    state.moves += 1
    if state.pile == 0:
        won += 1.0
        state.status = OVER
    elif state.moves >= state.horizon:
        state.status = CUT
    reward[mover] = won
    reward[1 - mover] = -won
    if not (state.again and action == 1):
        state.seat = 1 - mover

@rule
def legal(state, seat, mask):
    for action in range(3):
        mask[action] = action < state.pile

def action_name(action):
    return f"take {action + 1}"
''')

TRIO = small_game('''
"""Trio: three seats in turn add one or two to a pile and are paid by it, until it is full."""
SPEC = Spec(seats=3, actions=Discrete(2), horizon=12)
STATE = record(**HEAD, pile=i8)
OBSERVATION = record(pile=within(0, 13, i8))

@rule
def step(state, action, reward):
    reward[state.seat] = 0.1 * (action + 1)
    reward[(state.seat + 1) % 3] = -0.01 * state.pile
    state.pile += action + 1
    if state.pile >= 12:
        reward[(state.seat + 2) % 3] += 1.0
        state.status = OVER
    state.seat = (state.seat + 1) % 3

def action_name(action):
    return str(action + 1)
''')

LURE = small_game('''
"""Lure: go home for nothing, or to a place with ten doors that cost 0.1 on average but promise more."""
SPEC = Spec(seats=1, actions=Discrete(10), horizon=2)
STATE = record(**HEAD, place=i8)
OBSERVATION = record(place=within(0, 1, i8))

@rule
def step(state, action, reward):
    if state.place == 0 and action == 0:
        state.place = 1
    else:
        reward[0] = -0.1 + random.normal(state) if state.place == 1 else 0.0
        state.status = OVER

@rule
def legal(state, seat, mask):
    for action in range(10):
        mask[action] = state.place == 1 or action < 2
''')


def plant(folder):
    """Write the games where LUDUS_GAMES may point."""
    small_games.plant(folder, walk=WALK, stones=STONES, trio=TRIO, lure=LURE)


class Seen(NamedTuple):
    """What a desk did at one time, and what came of it, as somebody sees it who only looks at the games."""

    desk: int
    seat: int
    """who acted"""
    place: int
    action: int
    rewards: np.ndarray
    """[P] since it acted"""
    following: int
    """the place that follows, -1 where none does or none is known"""
    next_seat: int
    chosen: int
    ended: bool
    bits: int
    found: tuple[int, ...]
    """places in the order of their discovery, until now"""


def hired(game, seed=5, rows=1, **settings):
    """A worker and its empty table."""
    worker = Worker(open_pool(game, rows, seed), Tabular(**settings), Desk(seed, 0, 1, 1))
    return worker, worker.new_table()


def learned(game, steps, seed=5, rows=8, **settings):
    """The table after so many steps."""
    worker, table = hired(game, seed, rows, **settings)
    worker.learn(table, steps)
    return table


def watch(worker, table, steps, field):
    """Let the worker learn step by step; yields what each desk has seen. The games show their place in `field`."""
    states, games, desks = worker.pool.states, worker.games, worker.kernel.DESKS
    gained, found = np.zeros((len(worker.desks), worker.spec.seats)), []
    for _ in range(steps):
        before, movers, playing = worker.desks.copy(), states["seat"].copy(), states["status"] == PLAYING
        time = worker.time
        worker.learn(table, 1)
        for row in range(worker.rows):
            own = range(row * desks, (row + 1) * desks)
            gained[own] += games["reward"][row] if playing[row] else 0.0
            status, seat = states["status"][row], int(states["seat"][row])
            here = int(states[field][row])
            if status == PLAYING and here not in found:
                found.append(here)
            known = here if status == PLAYING or (status == CUT and here in found) else -1
            for desk in own:
                acts = desks == 1 or desk - row * desks == seat
                if before["pending"][desk] and (status != PLAYING or acts):
                    mover = int(movers[row]) if desks == 1 else desk - row * desks
                    yield Seen(
                        desk, mover, int(before["place"][desk]), int(before["action"][desk]), gained[desk].copy(),
                        known if acts else -1, seat, int(worker.desks["action"][desk]) if status == PLAYING else -1,
                        bool(status != PLAYING), scatter(int(worker.dice) - time * GOLDEN - desk), tuple(found),
                    )  # fmt: skip
                if acts or status != PLAYING:
                    gained[desk] = 0.0


GOLDEN, ALL = 0x9E3779B97F4A7C15, 2**64 - 1


def scatter(bits):
    """SplitMix64, in whole numbers."""
    bits &= ALL
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & ALL
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & ALL
    return bits ^ bits >> 31


def greedy_path(table, name, longest=60):
    """The places that the greedy policy visits in a game of Gymnasium's, until it ends or has lasted too long."""
    pool = open_pool(name, 1, 0)
    path = [int(pool.step.observation["observation"][0])]
    for _ in range(longest):
        step = pool.advance([int(table.rows["values"][path[-1]].argmax())])
        path.append(int(step.observation["observation"][0]))
        if step.discount[0] == 0:
            break
    return path
