"""The pool's inner loops. `binding.bind` gives every game its own copy of this module with `rules` already bound.

Outputs are records too: `row = rows[i]` and `row.mask` are views without reference counts. A slice `mask[i]` of a plain
array has an atomic reference count, and contention on it would cancel the gain of a second thread.
"""

# ruff: noqa: F821  (`binding.instantiate` defines `rules` before this module runs)
import numpy as np

from ludus.dsl import OVER, PLAYING, kernel, rule
from ludus.dsl.random import GOLDEN, mix, scale
from ludus.pool.output import spread
from ludus.types import Continuous

SPEC = rules.SPEC
SEATS, VIEWS = SPEC.seats, SPEC.views
SIMULTANEOUS = SPEC.turns == "simultaneous"
CONTINUOUS = isinstance(SPEC.actions, Continuous)
ACTIONS = len(SPEC.actions.low) if CONTINUOUS else SPEC.actions.n
LOW = np.array(SPEC.actions.low if CONTINUOUS else [0.0])
HIGH = np.array(SPEC.actions.high if CONTINUOUS else [1.0])

BLOCK = 64
"""number of actions that `random_action` skips at a time"""

NEAR = 2**19
"""assumed size in bytes of a core's private cache"""

ROW = np.dtype(
    [("mask", np.uint8, (0 if CONTINUOUS else ACTIONS,)), ("reward", np.float32, (SEATS,)), ("discount", np.float32),
     ("seat", np.int8), ("first", np.uint8)], align=True)  # fmt: skip
_SHAPE: tuple[int, ...] = ((SEATS,) if SIMULTANEOUS else ()) + ((ACTIONS,) if CONTINUOUS else ())
ACTION = np.dtype([("action", np.float64 if CONTINUOUS else np.int64, _SHAPE)], align=True)

AT_ONCE = max(1, NEAR // (rules.STATE.itemsize + VIEWS * rules.OBSERVATION.itemsize))
"""number of games played randomly at a time, so that their states and observations stay in the cache"""

init, step, observe = rules.init, rules.step, rules.observe
if not CONTINUOUS:
    legal = rules.legal
if hasattr(rules, "scene"):
    scene = rules.scene
HAS_REDEAL = hasattr(rules, "redeal")
if HAS_REDEAL:
    redeal = rules.redeal


@rule
def begin(states, blank, i):
    """Start a new game in row i: zeros and parameters, then `init` with the row's key."""
    key = states[i].key
    states[i] = blank[0]
    states[i].key = key
    init(states[i])


@kernel
def open_game(states, blank, i):
    """Start a new game in row i without writing its observation."""
    begin(states, blank, i)


@rule
def show(state, rows, observations, i):
    """Write what the players of game i see; once it has ended, all actions are marked legal."""
    for view in range(VIEWS):
        row = rows[i * VIEWS + view]
        seat = view if SIMULTANEOUS else np.int64(state.seat)
        row.seat = seat
        if not CONTINUOUS:
            if state.status == PLAYING:
                legal(state, seat, row.mask)
            else:
                for action in range(ACTIONS):
                    row.mask[action] = 1
        observe(state, seat, observations[i * VIEWS + view])


@rule
def advance_game(states, blank, actions, rows, observations, i):
    """One step of one game; if the game has ended, this step starts a new one."""
    state = states[i]
    row = rows[i * VIEWS]
    for seat in range(SEATS):
        row.reward[seat] = 0.0
    row.discount = 1.0
    row.first = state.status != PLAYING
    if row.first:
        begin(states, blank, i)
    else:
        step(state, actions[i].action, row.reward)
        if state.status == OVER:
            row.discount = 0.0
    show(state, rows, observations, i)
    for view in range(1, VIEWS):
        twin = rows[i * VIEWS + view]
        for seat in range(SEATS):
            twin.reward[seat] = row.reward[seat]
        twin.discount = row.discount
        twin.first = row.first


@kernel
def advance(states, blank, actions, rows, observations, low, high, fields, output):
    """One step of games low .. high-1; the fields of what their players see are copied to the output."""
    for i in range(low, high):
        advance_game(states, blank, actions, rows, observations, i)
    spread(fields, output, low * VIEWS, high * VIEWS)


@rule
def random_action(row, out, view, bits):
    """Choose uniformly among the actions that the mask allows."""
    if CONTINUOUS:
        for k in range(ACTIONS):
            bits = mix(bits + GOLDEN)
            value = LOW[k] + (HIGH[k] - LOW[k]) * (np.float64(bits >> np.uint64(11)) / 9007199254740992.0)
            if SIMULTANEOUS:
                out.action[view, k] = value
            else:
                out.action[k] = value
    else:
        # 32-bit sums, because SIMD adds twice as many at once. Most of many actions are skipped in blocks.
        choices = np.int32(0)
        for action in range(ACTIONS):
            choices = np.int32(choices + np.int32(row.mask[action]))
        skip = scale(bits, np.int64(choices))
        start = 0
        while start + BLOCK < ACTIONS:
            inside = np.int32(0)
            for action in range(start, start + BLOCK):
                inside = np.int32(inside + np.int32(row.mask[action]))
            if skip < inside:
                break
            skip -= inside
            start += BLOCK
        # Count instead of stopping at the chosen action: an unpredictable branch costs more than a short loop.
        chosen = start
        passed = 0
        for action in range(start, min(start + BLOCK, ACTIONS)):
            passed += np.int64(row.mask[action])
            chosen += passed <= skip
        if SIMULTANEOUS:
            out.action[view] = chosen
        else:
            out.action = chosen


@kernel
def play_randomly(states, blank, actions, rows, observations, low, high, steps, seed, start):
    """`steps` steps of random legal play; actions use their own random stream, independent of the thread count.

    Returns the number of decisions: starting a new game is a step but not a decision.
    """
    decisions = 0
    for together in range(low, high, AT_ONCE):
        for t in range(start, start + steps):
            for i in range(together, min(together + AT_ONCE, high)):
                if states[i].status == PLAYING:
                    decisions += 1
                    for view in range(VIEWS):
                        index = i * VIEWS + view
                        bits = mix(seed + np.uint64(index) * GOLDEN + np.uint64(t))
                        random_action(rows[index], actions[i], view, bits)
                advance_game(states, blank, actions, rows, observations, i)
    return decisions


@kernel
def first_illegal(states, actions, rows):
    """The first row whose action is not allowed, or -1; checked before any game moves."""
    for i in range(len(states)):
        if states[i].status != PLAYING:
            continue
        for view in range(VIEWS):
            index = i * VIEWS + view
            if CONTINUOUS:
                for k in range(ACTIONS):
                    value = actions[i].action[view, k] if SIMULTANEOUS else actions[i].action[k]
                    if not (LOW[k] <= value <= HIGH[k]):
                        return index
            else:
                choice = actions[i].action[view] if SIMULTANEOUS else actions[i].action
                if choice < 0 or choice >= ACTIONS or rows[index].mask[choice] == 0:
                    return index
    return -1


@kernel
def fork(states, sources, keys, out, seat):
    """Copy games and give each a new random key; with a seat, also resample what that seat cannot see."""
    for i in range(len(sources)):
        out[i] = states[sources[i]]
        out[i].key = keys[i]
        if HAS_REDEAL and seat >= 0:
            redeal(out[i], seat)


@kernel
def see(states, rows, observations, low, high):
    """Write the observations of games low .. high-1 without stepping them."""
    for i in range(low, high):
        show(states[i], rows, observations, i)


@kernel
def look(states, i, seat, observations):
    """What a seat sees of game i, whether or not it is to act."""
    observe(states[i], seat, observations[0])


@kernel
def draw_scene(states, i, seat, canvas):
    """The shapes of game i as this seat sees it."""
    canvas[0].count = 0
    canvas[0].dropped = 0
    scene(states[i], seat, canvas[0])
