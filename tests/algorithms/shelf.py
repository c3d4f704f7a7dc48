"""Small games for tests of tabular methods, and an observer that records what a worker sees while it learns."""

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
"""Walk: six places in a row; every step has a cost, and the last place gives 1."""
PARAMETERS = {
    "slip": integer(0, 0, 100, "percentage of steps that go in the wrong direction"),
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
"""Stones: take one to three of a pile; the player who takes the last one wins."""
PARAMETERS = {
    "pile": integer(7, 1, 20, "number of stones"),
    "again": integer(0, 0, 1, "a player who takes two moves again, and every stone gives a reward"),
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
"""Trio: three seats in turn add one or two to a pile, with rewards that depend on it, until it is full."""
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
"""Lure: end the game with reward 0, or go to a place with ten actions of mean reward -0.1 and high variance."""
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
    """Write the games into a folder for LUDUS_GAMES."""
    small_games.plant(folder, walk=WALK, stones=STONES, trio=TRIO, lure=LURE)


class Seen(NamedTuple):
    """An action of a desk and its outcome, derived from the games alone."""

    desk: int
    seat: int
    """the seat that acted"""
    place: int
    action: int
    rewards: np.ndarray
    """[P] since it acted"""
    following: int
    """the next place, -1 if there is none or it is unknown"""
    next_seat: int
    chosen: int
    ended: bool
    bits: int
    found: tuple[int, ...]
    """places in the order of their discovery so far"""


def new_worker(game, seed=5, rows=1, **settings):
    """A worker and its empty table."""
    worker = Worker(open_pool(game, rows, seed), Tabular(**settings), Desk(seed, 0, 1, 1))
    return worker, worker.new_table()


def learned(game, steps, seed=5, rows=8, **settings):
    """The table after so many steps."""
    worker, table = new_worker(game, seed, rows, **settings)
    worker.learn(table, steps)
    return table


def watch(worker, table, steps, field):
    """Let the worker learn step by step and yield a `Seen` for each action; `field` of the state is the place."""
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
                        bool(status != PLAYING), mix(int(worker.dice) - time * GOLDEN - desk), tuple(found),
                    )  # fmt: skip
                if acts or status != PLAYING:
                    gained[desk] = 0.0


GOLDEN, ALL = 0x9E3779B97F4A7C15, 2**64 - 1


def mix(bits):
    """The mixing function of SplitMix64, in Python integers."""
    bits &= ALL
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & ALL
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & ALL
    return bits ^ bits >> 31


def greedy_path(table, name, longest=60):
    """The places that the greedy policy visits in a Gymnasium game, for at most `longest` steps."""
    pool = open_pool(name, 1, 0)
    path = [int(pool.step.observation["observation"][0])]
    for _ in range(longest):
        step = pool.advance([int(table.rows["values"][path[-1]].argmax())])
        path.append(int(step.observation["observation"][0]))
        if step.discount[0] == 0:
            break
    return path
