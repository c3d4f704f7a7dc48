"""The dynamics of a game as tables: as published, or, of a game without dice, found by visiting every state."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ludus.dsl import PLAYING
from ludus.dsl.rows import as_plain, compiling, new_rows
from ludus.pool import Pool
from ludus.types import Array, Discrete, LudusError

LARGEST = 2_000_000
"""states; the tables of a larger game would not fit into an ordinary computer's memory"""
AT_ONCE = 4096
"""states from which all moves are made in one go"""
KEY = np.uint64(0x5EED)
"""the randomness given to games that must not use any"""


class Dynamics(NamedTuple):
    """What may follow: S states, A actions, K outcomes of an action. An end is an outcome, and nothing follows it."""

    next: Array
    """[S, A, K] the state that follows"""
    probability: Array
    """[S, A, K] of this outcome; zero for outcomes that only fill the table"""
    reward: Array
    """[S, A, K] to the seat that moves"""
    ends: Array
    """[S, A, K] whether the game ends with this outcome"""
    sign: Array
    """[S, A, K] of the next state's value for the seat that moves: -1 where its opponent is to move there"""
    legal: Array
    """[S, A]; a state without a legal action is the end of a game and worth nothing more"""
    start: Array
    """[S] the probability of opening here"""
    observations: Array
    """[S] records: what the seat to move sees, so that a policy can be looked up"""


def dynamics_of(pool: Any, limit: int = LARGEST) -> Dynamics:
    """The dynamics of a pool's game. The time limit that Gymnasium sets upon published tables is no part of them.

    A native game must draw no dice, hide nothing, and have one seat, or two that play for opposite rewards in turn.
    """
    games: Pool | None = pool.compiled
    if games is None:
        raise LudusError(f"{pool.name} does not publish its dynamics, so it cannot be planned; learn it by playing")
    return _of_tables(games) if hasattr(games.game.rules, "START_CUMULATIVE") else _by_visiting(games, limit)


def _of_tables(pool: Pool) -> Dynamics:
    """The tables of `bridges/dynamics.py`: cumulative probabilities become probabilities again."""
    tables: Any = pool.game.rules
    # From the last possible outcome on the cumulative probability is 2, so that rounding cannot pass it by.
    probability = np.diff(np.minimum(tables.CUMULATIVE, 1.0), axis=2, prepend=0.0)
    start = np.zeros(tables.STATES)
    start[tables.STARTS] = np.diff(tables.START_CUMULATIVE, prepend=0.0)
    observations = new_rows(tables.STATES, pool.observation)
    observations["observation"] = np.arange(tables.STATES)
    return Dynamics(
        tables.NEXT, probability, tables.REWARD, tables.ENDS.astype(bool), np.ones(tables.NEXT.shape, np.int8),
        tables.LEGAL.astype(bool), start / start.sum(), observations,
    )  # fmt: skip


class Visited(NamedTuple):
    """States met while visiting: the games themselves, what their steps tell, what the seat to move sees."""

    states: Array
    rows: Array
    observations: Array

    def part(self, which: Any) -> Visited:
        return Visited(self.states[which], self.rows[which], self.observations[which])


class Moves(NamedTuple):
    """Moves in columns: from which state, which action, and what came of it."""

    source: Array
    action: Array
    next: Array
    reward: Array
    ends: Array
    sign: Array


def _by_visiting(pool: Pool, limit: int) -> Dynamics:
    """Breadth first from the opening; states are told apart by their bytes without the key."""
    _check_plannable(pool)
    opening = _opening(pool)
    known = dict.fromkeys(_identities(opening.states), 0)
    waiting, seen, moves, first = deque([opening]), [opening.observations], [], 0
    while waiting:
        part = waiting.popleft()
        made, fresh = _expand(pool, part, first, known)
        if len(known) > limit:
            raise LudusError(
                f"{pool.name} has more than {limit:,} states; search it, learn it by playing, or give a higher limit"
            )
        moves.append(made)
        seen.append(fresh.observations)
        first += len(part.states)
        waiting.extend(fresh.part(slice(low, low + AT_ONCE)) for low in range(0, len(fresh.states), AT_ONCE))
    columns = Moves(*(np.concatenate(column) for column in zip(*moves, strict=True)))
    return _assemble(pool, columns, _joined(seen))


def _check_plannable(pool: Pool) -> None:
    spec = pool.spec
    why = ""
    if not isinstance(spec.actions, Discrete):
        why = "its actions are continuous"
    elif spec.turns != "alternating":
        why = "all seats act at once"
    elif spec.seats > 2 or (spec.seats == 2 and not spec.zero_sum):
        why = "its seats do not play for opposite rewards"
    elif hasattr(pool.game.rules, "redeal"):
        why = "it hides something from its players"
    if why:
        raise LudusError(f"{pool.name} cannot be planned by tables because {why}; search it or learn it by playing")


def _opening(pool: Pool) -> Visited:
    fresh = _new_visited(pool, 1)
    fresh.states["key"] = KEY
    pool.kernel.open_game(fresh.states, pool.game.blank(), 0)
    _check_dice(pool, fresh.states)
    pool.kernel.see(fresh.states, fresh.rows, fresh.observations, 0, 1)
    return fresh


def _new_visited(pool: Pool, count: int) -> Visited:
    rules: Any = pool.game.rules
    return Visited(new_rows(count, rules.STATE), new_rows(count, pool.kernel.ROW), new_rows(count, rules.OBSERVATION))


def _check_dice(pool: Pool, states: Array) -> None:
    if (states["key"] != KEY).any():
        raise LudusError(
            f"{pool.name} draws dice, so visiting would not tell its dynamics; search it or learn it by playing"
        )


def _expand(pool: Pool, part: Visited, first: int, known: dict[bytes, int]) -> tuple[Moves, Visited]:
    """Every legal move of the running states, numbered from `first` on, and the states that nobody met before."""
    running = part.states["status"] == PLAYING
    source, action = np.nonzero(part.rows["mask"].astype(bool) & running[:, None])
    after = _new_visited(pool, len(source))
    pool.kernel.fork(part.states, source, np.full(len(source), KEY), after.states, -1)
    actions = action.astype(np.int64).view(pool.kernel.ACTION)
    actions = actions if compiling() else as_plain(actions)
    pool.kernel.advance(after.states, pool.game.blank(), actions, after.rows, after.observations, 0, len(source))
    _check_dice(pool, after.states)
    mover = part.states["seat"][source]
    reward = after.rows["reward"][np.arange(len(source)), mover]
    sign = np.where(after.states["seat"] == mover, 1, -1).astype(np.int8)
    numbers, fresh = _number(_identities(after.states), known)
    return Moves(first + source, action, numbers, reward, after.states["status"] != PLAYING, sign), after.part(fresh)


def _number(identities: list[bytes], known: dict[bytes, int]) -> tuple[Array, list[int]]:
    """The number of each state, and the places of those that get a new one."""
    fresh: list[int] = []
    for place, identity in enumerate(identities):
        if identity not in known:
            known[identity] = len(known)
            fresh.append(place)
    return np.array([known[identity] for identity in identities], np.int64), fresh


def _identities(states: Array) -> list[bytes]:
    """What matters of each state as bytes: all fields but the key, without the gaps between them."""
    names = [name for name in states.dtype.names or () if name != "key"]
    packed = np.concatenate([_bytes_of(states[name]) for name in names], axis=1)
    content, width = packed.tobytes(), packed.shape[1]
    return [content[low : low + width] for low in range(0, len(content), width)]


def _bytes_of(field: Array) -> Array:
    """[n, bytes] of a field [n, ...]; of records, field by field."""
    rows, size = len(field), int(np.prod(field.shape[1:]))
    flat = np.ascontiguousarray(field.view(np.ndarray)).reshape(rows * size)
    if flat.dtype.names:
        columns = [_bytes_of(flat[name]) for name in flat.dtype.names]
        return np.concatenate(columns, axis=1).reshape(rows, size * sum(column.shape[1] for column in columns))
    return flat.view(np.uint8).reshape(rows, size * flat.dtype.itemsize)


def _joined(parts: list[Array]) -> Array:
    """Records one after another, in the layout of the first: NumPy's own joining may pack them."""
    whole = np.zeros(sum(map(len, parts)), parts[0].dtype)
    np.concatenate(parts, out=whole)
    return whole


def _assemble(pool: Pool, moves: Moves, observations: Array) -> Dynamics:
    states, actions = len(observations), pool.kernel.ACTIONS
    at = (moves.source, moves.action, 0)
    dynamics = Dynamics(
        next=np.zeros((states, actions, 1), np.int64),
        probability=np.zeros((states, actions, 1)),
        reward=np.zeros((states, actions, 1)),
        ends=np.zeros((states, actions, 1), bool),
        sign=np.ones((states, actions, 1), np.int8),
        legal=np.zeros((states, actions), bool),
        start=np.eye(1, states)[0],
        observations=observations,
    )
    dynamics.next[at], dynamics.reward[at], dynamics.ends[at], dynamics.sign[at] = moves[2:]
    dynamics.probability[at] = 1.0
    dynamics.legal[moves.source, moves.action] = True
    return dynamics
