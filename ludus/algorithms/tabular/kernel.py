"""Game, policy and table in one compiled loop; `rules`, `method` and `policy` are bound before this module runs.

A time step advances every game. Then, in the order of rows, each player chooses its next action and learns from its
previous one. Advancing does not read the table, so the result is the same whether the loop advances the games one by
one or the pool advances all of them beforehand: every form of a method ends in the same table.

A desk holds the last action of a learner until its outcome is known. In an alternating zero-sum game of two, one desk
serves both seats, and the value of the opponent's next position counts negatively. In other games every seat has its
own desk, and an action is learned from when its seat acts again.
"""

# ruff: noqa: F821  (the bound names are put into the module's namespace before it runs)
from typing import NamedTuple

import numpy as np

from ludus.agents.table import ILLEGAL, Positions, fingerprint, highest, positions_of, slot_of
from ludus.algorithms.schedules import value
from ludus.algorithms.tally import DECISIONS, EPISODES, LENGTHS, RETURNS
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
"""number of rows; for a larger table, all rows of a time step are prefetched before the first one is used"""
FETCH = HASHED or COUNT > LARGEST_CACHED
if NATIVE:
    init, step, legal, observe = rules.init, rules.step, rules.legal, rules.observe
choose, expected, backup = policy.choose, policy.expected, method.backup
EXPECTED = getattr(method, "EXPECTED", False)

GAME = np.dtype(
    [("gained", np.float64, (SEATS,)), ("length", np.int64), ("reward", np.float32, (SEATS,)),
     ("mask", np.uint8, (ACTIONS,)), ("mover", np.int8), ("seat", np.int8), ("status", np.int8), ("fresh", np.uint8)],
    align=True)  # fmt: skip
"""a game after its last step: rewards, the seat that moved (`mover`), the seat to move, the status; `gained` is the
return so far"""
DESK = np.dtype(
    [("place", np.int64), ("action", np.int64), ("found", np.int64), ("reward", np.float64), ("pending", np.int64),
     *getattr(method, "DESK", ())], align=True)  # fmt: skip
"""the last action of a learner: its row (`place`), the action, the reward since then, and whether it is still to be
learned from (`pending`); `found` is the row of the present position"""
ACTION = np.dtype([("action", np.int64, (SEATS,) if SIMULTANEOUS else ())], align=True)


class Bench(NamedTuple):
    """The arrays that the loop reads and writes."""

    rows: Array
    known: Array
    index: Array  # type: ignore[assignment]  # hides the method of tuple, which is not used
    used: Array
    """the four arrays of a table"""
    memory: Array
    """one record per row of the table, for methods that learn a model"""
    observations: Array
    codes: Array
    """the observations as integers"""
    states: Array
    blank: Array
    masks: Array
    """legal actions of each view, if the pool steps the games"""
    games: Array
    desks: Array
    actions: Array
    settings: Array
    tally: Array


@part
def play(b, i):
    """Advance game i by one step; a game that has ended is replaced by a new one."""
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
def row_number(b, view, seat, per_seat):
    """The row of a numbered observation, in mixed radix; separate tables of seats follow each other."""
    place = np.int64(COUNT * seat if per_seat else 0)
    for digit in range(len(WEIGHTS)):
        place += (np.int64(b.codes[view, digit]) - LOWS[digit]) * WEIGHTS[digit]
    return place


@part
def init_row(b, i, seat, view, place):
    """Initialise a row: 0 for legal actions, ILLEGAL for the others."""
    row = b.rows[place]
    mask = b.games[i].mask if NATIVE else b.masks[view].mask
    if NATIVE:
        legal(b.states[i], seat, mask)
    for action in range(ACTIONS):
        row.values[action] = np.float32(0.0) if mask[action] else ILLEGAL
    row.visits = 1


@part
def add_position(b, key, slot):
    """Assign the next free row to a new hashed position."""
    place = b.used[0]
    b.index[slot].key = key
    b.index[slot].place = place
    b.known[place] = key
    b.used[0] += 1
    return place


@part
def find_row(b, i, seat, view, cut, per_seat):
    """The row of a seat's observation, initialised at the first visit.

    The last step of a truncated game has no mask to initialise a row with: there, an unknown position gives -1.
    """
    if NATIVE:
        observe(b.states[i], seat, b.observations[view])
    if HASHED:
        key = fingerprint(b.codes, view, seat + 1 if per_seat else 0)
        slot = slot_of(b.index, key)
        place = b.index[slot].place
        if b.index[slot].key != key:
            place = np.int64(-1)
            if not cut:
                place = add_position(b, key, slot)
                init_row(b, i, seat, view, place)
    else:
        place = row_number(b, view, seat, per_seat)
        if b.rows[place].visits == 0:
            if cut:
                place = np.int64(-1)
            else:
                b.known[b.used[0]] = np.uint64(place)
                b.used[0] += 1
                init_row(b, i, seat, view, place)
    return place


@part
def prefetch_rows(b, i, mover, status, per_seat):
    """Find the rows that game i will need and prefetch them into the cache."""
    if status != OVER:
        for view in range(VIEWS):
            seat = view if SIMULTANEOUS else mover
            desk = b.desks[i * DESKS + (0 if DESKS == 1 else seat)]
            desk.found = find_row(b, i, seat, i * VIEWS + view, status == CUT, per_seat)
            if desk.found >= 0:
                prefetch(b.rows, desk.found)


@part
def learn_pending(b, desk, owner, t, dice, reward, place, action, next_value, sign, ended):
    """Learn from the last action of a desk, if one is pending."""
    if desk.pending:
        bits = mix(dice - np.uint64(t) * GOLDEN - np.uint64(owner))
        backup(b, desk, b.settings[0], ACTIONS, reward, place, action, next_value, sign, ended, bits)
        b.rows[desk.place].visits += np.uint64(1)
        b.tally[DECISIONS] += 1.0


@part
def continue_game(b, i, before, mover, per_seat, dice, t):
    """The game continues: each seat to act chooses an action and learns from its previous one."""
    game = b.games[i]
    for view in range(VIEWS):
        seat = view if SIMULTANEOUS else mover
        owner = i * DESKS + (0 if DESKS == 1 else seat)
        desk = b.desks[owner]
        place = desk.found if FETCH else find_row(b, i, seat, i * VIEWS + view, False, per_seat)
        bits = mix(dice + np.uint64(i * VIEWS + view) * GOLDEN + np.uint64(t))
        best = highest(b.rows[place], ACTIONS)
        next_value = expected(b.rows[place], ACTIONS, b.settings[0]) if EXPECTED else best
        action = choose(b.rows[place], ACTIONS, best, b.settings[0], bits)
        reward = np.float64(game.reward[before]) if DESKS == 1 else desk.reward
        sign = -1.0 if OPPOSED and mover != before else 1.0
        learn_pending(b, desk, owner, t, dice, reward, place, action, next_value, sign, False)
        desk.place = place
        desk.action = action
        desk.reward = 0.0
        desk.pending = 1
        if SIMULTANEOUS:
            b.actions[i].action[view] = action
        else:
            b.actions[i].action = action


@part
def end_game(b, i, before, mover, status, per_seat, dice, t):
    """The game has ended: every desk learns from its last action; if it was truncated, the next value still counts.

    In alternating games with one desk per seat, only the seat that would act next has an observation to bootstrap from.
    """
    game = b.games[i]
    for seat in range(DESKS):
        owner = i * DESKS + seat
        desk = b.desks[owner]
        place = np.int64(-1)
        if status == CUT and (DESKS == 1 or SIMULTANEOUS or mover == seat):
            view = i * VIEWS + (seat if SIMULTANEOUS else 0)
            place = desk.found if FETCH else find_row(b, i, mover if DESKS == 1 else seat, view, True, per_seat)
        reward = np.float64(game.reward[before]) if DESKS == 1 else desk.reward
        sign = -1.0 if OPPOSED and mover != before else 1.0
        next_value = 0.0
        if place >= 0:
            row = b.rows[place]
            next_value = expected(row, ACTIONS, b.settings[0]) if EXPECTED else np.float64(highest(row, ACTIONS))
        learn_pending(b, desk, owner, t, dice, reward, place, np.int64(-1), next_value, sign, True)
        desk.reward = 0.0
        desk.pending = 0


@part
def count_step(game, status, tally):
    """Update length and return of a game that was advanced, and the tally if it ended."""
    game.length += 1
    for seat in range(SEATS):
        game.gained[seat] += game.reward[seat]
    if status != PLAYING:
        tally[EPISODES] += 1.0
        tally[LENGTHS] += game.length
        game.length = 0
        for seat in range(SEATS):
            gained = game.gained[seat]
            tally[RETURNS + seat] += gained
            tally[RETURNS + SEATS + seat] += gained * gained
            tally[RETURNS + 2 * SEATS + seat] = min(tally[RETURNS + 2 * SEATS + seat], gained)
            tally[RETURNS + 3 * SEATS + seat] = max(tally[RETURNS + 3 * SEATS + seat], gained)
            game.gained[seat] = 0.0


@part
def learn_game(b, i, fresh, before, mover, status, per_seat, dice, t):
    """The players of game i choose and learn after a step by the seat `before`; the seat to move is `mover`."""
    game = b.games[i]
    if not fresh:
        if DESKS > 1:
            for seat in range(SEATS):
                b.desks[i * DESKS + seat].reward += game.reward[seat]
        count_step(game, status, b.tally)
    if status == PLAYING:
        continue_game(b, i, before, mover, per_seat, dice, t)
    else:
        end_game(b, i, before, mover, status, per_seat, dice, t)


@part
def set_rates(s, step):
    """Write the values of the schedules at this step into the settings."""
    s.learning_rate = value(s.rate_kind, s.rate_a, s.rate_b, s.rate_c, step)
    s.exploration = value(s.explore_kind, s.explore_a, s.explore_b, s.explore_c, step)
    s.explore_below = np.int64(np.ceil(min(max(s.exploration, 0.0), 1.0) * 4294967296.0))


@part
def last_step(b, i):
    """What `play` returns, for a game that was advanced before."""
    game = b.games[i]
    return game.fresh, np.int64(game.mover), np.int64(game.seat), np.int64(game.status)


@kernel
def train_stepped(bench, per_seat, dice, t, stride):
    """One time step of games that the pool has advanced."""
    b = borrowed(bench)
    set_rates(b.settings[0], np.float64(t) * stride)
    if FETCH:
        for i in range(len(b.games)):
            _, _, mover, status = last_step(b, i)
            prefetch_rows(b, i, mover, status, per_seat)
    for i in range(len(b.games)):
        fresh, before, mover, status = last_step(b, i)
        learn_game(b, i, fresh, before, mover, status, per_seat, dice, t)


@kernel
def train(bench, per_seat, dice, start, stop, stride):
    """Time steps start .. stop-1 of all games; ends early if a hashed table is full. Returns the next time step."""
    b = borrowed(bench)
    for t in range(start, stop):
        if HASHED and b.used[0] + len(b.games) * VIEWS > len(b.rows):
            return t
        set_rates(b.settings[0], np.float64(t) * stride)
        if FETCH:
            for i in range(len(b.games)):
                _, _, mover, status = play(b, i)
                prefetch_rows(b, i, mover, status, per_seat)
        for i in range(len(b.games)):
            fresh, before, mover, status = last_step(b, i) if FETCH else play(b, i)
            learn_game(b, i, fresh, before, mover, status, per_seat, dice, t)
    return stop
