"""Game, policy and table in one compiled loop; `rules`, `method` and `policy` are bound before this module runs.

A time step moves every game, and then, in the order of rows, lets each player choose what to do next and learn from
what it did last. Moving does not look at the table, so it makes no difference whether somebody else moves all games
before, or the loop each in its turn: every form of a method ends in the same table.

In a zero-sum game of two that take turns, one desk serves both seats: the opponent's next value counts against us.
Elsewhere every seat has a desk of its own, and what it did is judged when it acts again.
"""

# ruff: noqa: F821  (the bound names are put into the module's namespace before it runs)
from typing import NamedTuple

import numpy as np

from ludus.agents.table import ILLEGAL, Positions, fingerprint, highest, positions_of, slot_of
from ludus.algorithms.schedules import value
from ludus.dsl import CUT, OVER, PLAYING, kernel, part
from ludus.dsl.intrinsics import borrowed, prefetch
from ludus.dsl.random import GOLDEN, mix
from ludus.types import Array

SPEC = rules.SPEC
SEATS, VIEWS, ACTIONS = SPEC.seats, SPEC.views, SPEC.actions.n
SIMULTANEOUS = SPEC.turns == "simultaneous"
OPPOSED = SEATS == 2 and SPEC.zero_sum and not SIMULTANEOUS
DESKS = 1 if OPPOSED or SEATS == 1 else SEATS
POSITIONS: Positions = positions_of(rules.__name__, rules.OBSERVATION)
COUNT, LOWS, WEIGHTS = POSITIONS.count, POSITIONS.lows, POSITIONS.weights
HASHED = COUNT == 0
NATIVE = hasattr(rules, "step")
LARGEST_CACHED = 2**17
"""rows; of a larger table all rows of a time step are fetched at once before the first is needed"""
FETCH = HASHED or COUNT > LARGEST_CACHED
if NATIVE:
    init, step, legal, observe = rules.init, rules.step, rules.legal, rules.observe
choose, expected, backup = policy.choose, policy.expected, method.backup
EXPECTED = getattr(method, "EXPECTED", False)

GAME = np.dtype(
    [("gained", np.float64, (SEATS,)), ("length", np.int64), ("reward", np.float32, (SEATS,)),
     ("mask", np.uint8, (ACTIONS,)), ("mover", np.int8), ("seat", np.int8), ("status", np.int8), ("fresh", np.uint8)],
    align=True)  # fmt: skip
"""a game as the learner sees it: what the last step brought, who made it, who is to move, how it stands"""
DESK = np.dtype(
    [("place", np.int64), ("action", np.int64), ("found", np.int64), ("reward", np.float64), ("pending", np.int64),
     *getattr(method, "DESK", ())], align=True)  # fmt: skip
"""who learns: where it acted and what it did there, what that brought so far, whether that is still to be judged"""
ACTION = np.dtype([("action", np.int64, (SEATS,) if SIMULTANEOUS else ())], align=True)
EPISODES, LENGTHS, UPDATES, RETURNS = 0, 1, 2, 3
"""places in the tally: games ended, their lengths, updates made, then the returns of each seat"""


class Bench(NamedTuple):
    """All that the loop works on."""

    rows: Array
    known: Array
    index: Array  # type: ignore[assignment]  # a tuple's own method of this name is not missed
    used: Array
    """the four arrays of a table"""
    memory: Array
    """what a method keeps beside the table, a record a row"""
    observations: Array
    codes: Array
    """the observations, read as numbers"""
    states: Array
    blank: Array
    masks: Array
    """what is legal in each view, where the games are not ours"""
    games: Array
    desks: Array
    actions: Array
    settings: Array
    tally: Array


@part
def play(b, i):
    """Move game i one step; a game that had ended opens anew."""
    state = b.states[i]
    game = b.games[i]
    for seat in range(SEATS):
        game.reward[seat] = 0.0
    fresh = state.status != PLAYING
    if fresh:
        key = state.key
        b.states[i] = b.blank[0]
        b.states[i].key = key
        init(b.states[i])
    else:
        game.mover = state.seat
        step(state, b.actions[i].action, game.reward)
    game.fresh = fresh
    game.seat = state.seat
    game.status = state.status
    return fresh, np.int64(game.mover), np.int64(state.seat), np.int64(state.status)


@part
def number(b, view, seat, apart):
    """The row of a numbered observation, in mixed radix; tables of seats that lie apart follow each other."""
    place = np.int64(COUNT * seat if apart else 0)
    for digit in range(len(WEIGHTS)):
        place += (np.int64(b.codes[view, digit]) - LOWS[digit]) * WEIGHTS[digit]
    return place


@part
def prepare(b, i, seat, view, place):
    """A new row: 0 for what may be played, far below everything for what may not."""
    row = b.rows[place]
    mask = b.games[i].mask if NATIVE else b.masks[view].mask
    if NATIVE:
        legal(b.states[i], seat, mask)
    for action in range(ACTIONS):
        row.values[action] = np.float32(0.0) if mask[action] else ILLEGAL
    row.visits = 1


@part
def enter(b, key, slot):
    """Give a new hashed position the next free row."""
    place = b.used[0]
    b.index[slot].key = key
    b.index[slot].place = place
    b.known[place] = key
    b.used[0] += 1
    return place


@part
def locate(b, i, seat, view, cut, apart):
    """The row of what a seat sees, made ready on its first visit.

    A game that was cut off has no mask to make a row ready with: there, -1 stands for what is not known yet.
    """
    if NATIVE:
        observe(b.states[i], seat, b.observations[view])
    if HASHED:
        key = fingerprint(b.codes, view, seat + 1 if apart else 0)
        slot = slot_of(b.index, key)
        place = b.index[slot].place
        if b.index[slot].key != key:
            place = np.int64(-1)
            if not cut:
                place = enter(b, key, slot)
                prepare(b, i, seat, view, place)
    else:
        place = number(b, view, seat, apart)
        if b.rows[place].visits == 0:
            if cut:
                place = np.int64(-1)
            else:
                b.known[b.used[0]] = np.uint64(place)
                b.used[0] += 1
                prepare(b, i, seat, view, place)
    return place


@part
def fetch(b, i, mover, status, apart):
    """Find the rows that game i will need, and have them brought near."""
    if status != OVER:
        for view in range(VIEWS):
            seat = view if SIMULTANEOUS else mover
            desk = b.desks[i * DESKS + (0 if DESKS == 1 else seat)]
            desk.found = locate(b, i, seat, i * VIEWS + view, status == CUT, apart)
            if desk.found >= 0:
                prefetch(b.rows, desk.found)


@part
def judge(b, desk, owner, t, dice, reward, place, action, worth, sign, ended):
    """Let a desk learn from what it did, if it did anything."""
    if desk.pending:
        bits = mix(dice - np.uint64(t) * GOLDEN - np.uint64(owner))
        backup(b, desk, b.settings[0], ACTIONS, reward, place, action, worth, sign, ended, bits)
        b.rows[desk.place].visits += np.uint64(1)
        b.tally[UPDATES] += 1.0


@part
def go_on(b, i, before, mover, apart, dice, t):
    """The game goes on: who is to act chooses, and learns from what it did last."""
    game = b.games[i]
    for view in range(VIEWS):
        seat = view if SIMULTANEOUS else mover
        owner = i * DESKS + (0 if DESKS == 1 else seat)
        desk = b.desks[owner]
        place = desk.found if FETCH else locate(b, i, seat, i * VIEWS + view, False, apart)
        bits = mix(dice + np.uint64(i * VIEWS + view) * GOLDEN + np.uint64(t))
        best = highest(b.rows[place], ACTIONS)
        worth = expected(b.rows[place], ACTIONS, b.settings[0]) if EXPECTED else best
        action = choose(b.rows[place], ACTIONS, best, b.settings[0], bits)
        reward = np.float64(game.reward[before]) if DESKS == 1 else desk.reward
        sign = -1.0 if OPPOSED and mover != before else 1.0
        judge(b, desk, owner, t, dice, reward, place, action, worth, sign, False)
        desk.place = place
        desk.action = action
        desk.reward = 0.0
        desk.pending = 1
        if SIMULTANEOUS:
            b.actions[i].action[view] = action
        else:
            b.actions[i].action = action


@part
def end(b, i, before, mover, status, apart, dice, t):
    """The game has ended: everyone learns from what it did last; after a cut-off, what would follow still counts.

    Where seats take turns at desks of their own, only the one that would act next sees what would follow.
    """
    game = b.games[i]
    for seat in range(DESKS):
        owner = i * DESKS + seat
        desk = b.desks[owner]
        place = np.int64(-1)
        if status == CUT and (DESKS == 1 or SIMULTANEOUS or mover == seat):
            view = i * VIEWS + (seat if SIMULTANEOUS else 0)
            place = desk.found if FETCH else locate(b, i, mover if DESKS == 1 else seat, view, True, apart)
        reward = np.float64(game.reward[before]) if DESKS == 1 else desk.reward
        sign = -1.0 if OPPOSED and mover != before else 1.0
        worth = 0.0
        if place >= 0:
            row = b.rows[place]
            worth = expected(row, ACTIONS, b.settings[0]) if EXPECTED else np.float64(highest(row, ACTIONS))
        judge(b, desk, owner, t, dice, reward, place, np.int64(-1), worth, sign, True)
        desk.reward = 0.0
        desk.pending = 0


@part
def count(game, status, tally):
    """Keep the books of a game that was moved."""
    game.length += 1
    for seat in range(SEATS):
        game.gained[seat] += game.reward[seat]
    if status != PLAYING:
        tally[EPISODES] += 1.0
        tally[LENGTHS] += game.length
        game.length = 0
        for seat in range(SEATS):
            tally[RETURNS + seat] += game.gained[seat]
            game.gained[seat] = 0.0


@part
def turn(b, i, fresh, before, mover, status, apart, dice, t):
    """Game i has moved (by the seat `before`; now it is the turn of `mover`): its players choose and learn."""
    game = b.games[i]
    if not fresh:
        if DESKS > 1:
            for seat in range(SEATS):
                b.desks[i * DESKS + seat].reward += game.reward[seat]
        count(game, status, b.tally)
    if status == PLAYING:
        go_on(b, i, before, mover, apart, dice, t)
    else:
        end(b, i, before, mover, status, apart, dice, t)


@part
def set_rates(s, step):
    """What the schedules say at this step."""
    s.learning_rate = value(s.rate_kind, s.rate_a, s.rate_b, s.rate_c, step)
    s.exploration = value(s.explore_kind, s.explore_a, s.explore_b, s.explore_c, step)
    s.explore_below = np.int64(np.ceil(min(max(s.exploration, 0.0), 1.0) * 4294967296.0))


@part
def written(b, i):
    """What `play` returns, of a game that was moved before."""
    game = b.games[i]
    return game.fresh, np.int64(game.mover), np.int64(game.seat), np.int64(game.status)


@kernel
def follow(bench, apart, dice, t, stride):
    """One time step of games that somebody else has moved."""
    b = borrowed(bench)
    set_rates(b.settings[0], np.float64(t) * stride)
    if FETCH:
        for i in range(len(b.games)):
            _, _, mover, status = written(b, i)
            fetch(b, i, mover, status, apart)
    for i in range(len(b.games)):
        fresh, before, mover, status = written(b, i)
        turn(b, i, fresh, before, mover, status, apart, dice, t)


@kernel
def train(bench, apart, dice, start, stop, stride):
    """Time steps start .. stop-1 of all games, fewer where a hashed table has no room for more; returns the next."""
    b = borrowed(bench)
    for t in range(start, stop):
        if HASHED and b.used[0] + len(b.games) * VIEWS > len(b.rows):
            return t
        set_rates(b.settings[0], np.float64(t) * stride)
        if FETCH:
            for i in range(len(b.games)):
                _, _, mover, status = play(b, i)
                fetch(b, i, mover, status, apart)
        for i in range(len(b.games)):
            fresh, before, mover, status = written(b, i) if FETCH else play(b, i)
            turn(b, i, fresh, before, mover, status, apart, dice, t)
    return stop
