"""Open-loop UCT, compiled. `mcts.bind` gives every game its own copy of this module with `rules` already bound.

A node is a sequence of moves, not a position: chance may lead to different positions, so the legal actions and the seat
to act are computed at every visit. An arm is one action of one seat at a node, with its statistics; if all seats act at
once, each has its own arms, and a child node belongs to one arm per seat (decoupled UCT).
"""

# ruff: noqa: F821  (`rules` is put into the module's namespace before it runs)
# Kernels are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, disable-error-code="name-defined"
import math

import numpy as np

from ludus.dsl import PLAYING, f32, f64, i32, i64, kernel, random, record, rule, u8, u64

SPEC = rules.SPEC
SEATS, VIEWS, ACTIONS = SPEC.seats, SPEC.views, SPEC.actions.n
SIMULTANEOUS = SPEC.turns == "simultaneous"

NODE = record(arms=i32, children=i32, sibling=i32, reached_by=(i32, VIEWS))
"""its newest arm, its newest child, the previous child of the same parent (0: none), the arms that lead to it"""
ARM = record(seat=i32, action=i32, before=i32, visits=i64, available=i64, total=f64)
"""`available` counts visits to the node in which the action was legal; `total` sums the returns of the arm's seat"""
PLY = record(arms=(i32, VIEWS), reward=(f32, SEATS))
"""one step of a simulation inside the tree"""
WORK = np.dtype(
    [("key", u64), ("action", i64, (SEATS,) if SIMULTANEOUS else ()), ("mask", u8, (ACTIONS,)), ("nodes", i32),
     ("arms", i32), ("reward", f32, (SEATS,)), ("returns", f64, (SEATS,)), ("total", f64, (SEATS,)),
     ("low", f64, (SEATS,)), ("high", f64, (SEATS,))], align=True)  # fmt: skip
"""the state of a search besides its tree: its random key, the used parts of the tree, the range of returns"""

step, legal = rules.step, rules.legal


@kernel
def search(copies, nodes, arms, path, work, exploration, depth):
    """One simulation from each copy of the root; each adds at most one node, and one arm per acting seat."""
    if work[0].nodes == 0:
        work[0].nodes = 1  # the root
        work[0].arms = 1  # arm 0 stands for none
        for seat in range(SEATS):
            work[0].low[seat] = np.inf
            work[0].high[seat] = -np.inf
    for i in range(len(copies)):
        length = descend(copies[i], nodes, arms, path, work[0], exploration)
        roll_out(copies[i], work[0], depth)
        back_up(arms, path, work[0], length)


@rule
def descend(state, nodes, arms, path, work, exploration):
    """Play by the statistics of the tree until the simulation leaves it; returns the number of plies."""
    node = 0
    length = 0
    inside = True
    while inside and state.status == PLAYING:
        ply = path[length]
        for view in range(VIEWS):
            seat = view if SIMULTANEOUS else np.int64(state.seat)
            ply.arms[view] = choose(state, seat, nodes[node], arms, work, exploration)
        for view in range(VIEWS):
            put(work, view, np.int64(arms[ply.arms[view]].action))
        move(state, work)
        for seat in range(SEATS):
            ply.reward[seat] = work.reward[seat]
        used = work.nodes
        node = follow(nodes, node, ply, work)
        inside = used == work.nodes
        length += 1
    return length


@rule
def choose(state, seat, node, arms, work, exploration):
    """An untried legal action at random, or else the arm of the highest upper confidence bound.

    mean / spread + exploration * sqrt(log(available) / visits). Returns are divided by the spread of all returns, so
    that one constant suits all games; `available` counts only visits in which the action was legal.
    """
    legal(state, seat, work.mask)
    best = 0
    highest = -np.inf
    spread = max(work.high[seat] - work.low[seat], 1e-9)
    index = np.int64(node.arms)
    while index > 0:
        arm = arms[index]
        if arm.seat == seat and work.mask[arm.action]:
            work.mask[arm.action] = 0
            arm.available += 1
            score = arm.total / (arm.visits * spread)
            score += exploration * math.sqrt(math.log(arm.available) / arm.visits)
            if score > highest:
                highest = score
                best = index
        index = np.int64(arm.before)
    untried = any_action(work)
    return best if untried < 0 else add_arm(node, arms, seat, untried, work)


@rule
def add_arm(node, arms, seat, action, work):
    """Add a new arm at the head of the node's chain."""
    index = np.int64(work.arms)
    work.arms += 1
    arm = arms[index]
    arm.seat = seat
    arm.action = action
    arm.before = node.arms
    arm.available = 1
    node.arms = index
    return index


@rule
def follow(nodes, parent, ply, work):
    """The node that these arms lead to, created at the first visit."""
    child = np.int64(nodes[parent].children)
    while child > 0:
        same = True
        for view in range(VIEWS):
            same = same and nodes[child].reached_by[view] == ply.arms[view]
        if same:
            return child
        child = np.int64(nodes[child].sibling)
    child = np.int64(work.nodes)
    work.nodes += 1
    nodes[child].sibling = nodes[parent].children
    nodes[parent].children = child
    for view in range(VIEWS):
        nodes[child].reached_by[view] = ply.arms[view]
    return child


@rule
def roll_out(state, work, depth):
    """Random play to the end of the game, at most `depth` steps; writes the returns of the seats to `returns`."""
    for seat in range(SEATS):
        work.returns[seat] = 0.0
    played = 0
    while played < depth and state.status == PLAYING:
        for view in range(VIEWS):
            legal(state, view if SIMULTANEOUS else np.int64(state.seat), work.mask)
            put(work, view, any_action(work))
        move(state, work)
        for seat in range(SEATS):
            work.returns[seat] += work.reward[seat]
        played += 1


@rule
def back_up(arms, path, work, length):
    """Add to every arm of the path the return of its seat from there on."""
    for back in range(length):
        ply = path[length - 1 - back]
        for seat in range(SEATS):
            work.returns[seat] += ply.reward[seat]
            work.low[seat] = min(work.low[seat], work.returns[seat])
            work.high[seat] = max(work.high[seat], work.returns[seat])
        for view in range(VIEWS):
            arm = arms[ply.arms[view]]
            arm.visits += 1
            arm.total += work.returns[arm.seat]
    for seat in range(SEATS):
        work.total[seat] += work.returns[seat]


@rule
def any_action(work):
    """A random action of the mask, all equally likely; -1 if the mask is empty."""
    choices = 0
    for action in range(ACTIONS):
        choices += np.int64(work.mask[action])
    if choices == 0:
        return -1
    skip = random.below(work, choices)
    chosen = 0
    passed = 0
    for action in range(ACTIONS):
        passed += np.int64(work.mask[action])
        chosen += passed <= skip
    return chosen


@rule
def put(work, view, action):
    if SIMULTANEOUS:
        work.action[view] = action
    else:
        work.action = action


@rule
def move(state, work):
    """One step of the game with the actions that were put."""
    for seat in range(SEATS):
        work.reward[seat] = 0.0
    step(state, work.action, work.reward)
