"""The dynamics of a game as tables: published by the game, or found by visiting every state of a deterministic game."""

from __future__ import annotations

from collections import deque
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ludus.bridges import AnyPool
from ludus.dsl import PLAYING
from ludus.dsl.rows import as_plain, compiling, new_rows
from ludus.pool import Pool
from ludus.pool.output import NO_FIELDS
from ludus.types import Array, Discrete, LudusError

LARGEST = 2_000_000
"""maximum number of states; the tables of larger games do not fit into the memory of an ordinary computer"""
AT_ONCE = 4096
"""states whose moves are made in one call"""
KEY = np.uint64(0x5EED)
"""key of the random generator; a game that changes it is not deterministic"""


class Dynamics(NamedTuple):
    """The transitions of a game with S states, A actions and K outcomes of each action; an outcome may end the game."""

    next: Array
    """[S, A, K] the next state"""
    probability: Array
    """[S, A, K] of this outcome; 0 for padding"""
    reward: Array
    """[S, A, K] to the seat that moves"""
    ends: Array
    """[S, A, K] whether the game ends with this outcome"""
    sign: Array
    """[S, A, K] of the next state's value: -1 if the opponent is to move there, else 1"""
    legal: Array
    """[S, A]; a state without legal actions is terminal and has the value 0"""
    start: Array
    """[S] probability that a game starts here"""
    observations: Array
    """[S] records: the observation of the seat to move, by which a policy is looked up"""


def dynamics_of(pool: AnyPool, limit: int = LARGEST) -> Dynamics:
    """The dynamics of a pool's game, without the time limit of Gymnasium if the game publishes its tables.

    Other games must be deterministic, without hidden information, and have one seat or be alternating zero-sum games of
    two.
    """
    compiled = pool.compiled
    if compiled is None:
        raise LudusError(f"{pool.name} does not publish its dynamics, so it cannot be planned; learn it by playing")
    published = hasattr(compiled.game.rules, "START_CUMULATIVE")
    return _of_tables(compiled) if published else _by_visiting(compiled, limit)


def _of_tables(pool: Pool) -> Dynamics:
    """The dynamics from the tables of `bridges/dynamics.py`, which have cumulative probabilities."""
    tables: ModuleType = pool.game.rules
    # From the last possible outcome on, the cumulative probability is 2, so that rounding errors cannot skip it.
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
    """Visited states: their records, the rows of their steps, and the observations of the seat to move."""

    states: Array
    rows: Array
    observations: Array

    def part(self, which: slice | list[int]) -> Visited:
        return Visited(self.states[which], self.rows[which], self.observations[which])


class Moves(NamedTuple):
    """Transitions in columns: state, action and outcome."""

    source: Array
    action: Array
    next: Array
    reward: Array
    ends: Array
    sign: Array


def _by_visiting(pool: Pool, limit: int) -> Dynamics:
    """Breadth-first search from the initial state; states are equal if their bytes are, except for the key."""
    _check_plannable(pool)
    opening = _initial_state(pool)
    known = dict.fromkeys(_identities(opening.states), 0)
    waiting, seen, moves, first = deque([opening]), [opening.observations], [], 0
    while waiting:
        part = waiting.popleft()
        found, fresh = _expand(pool, part, first, known)
        if len(known) > limit:
            raise LudusError(
                f"{pool.name} has more than {limit:,} states; use search, learn it by playing, or set a higher limit"
            )
        moves.append(found)
        seen.append(fresh.observations)
        first += len(part.states)
        waiting.extend(fresh.part(slice(low, low + AT_ONCE)) for low in range(0, len(fresh.states), AT_ONCE))
    columns = Moves(*(np.concatenate(column) for column in zip(*moves, strict=True)))
    return _assemble(pool, columns, _concatenate(seen))


def _check_plannable(pool: Pool) -> None:
    spec = pool.spec
    reason = ""
    if not isinstance(spec.actions, Discrete):
        reason = "its actions are continuous"
    elif spec.turns != "alternating":
        reason = "all seats act at once"
    elif spec.seats > 2 or (spec.seats == 2 and not spec.zero_sum):
        reason = "it is neither a game of one seat nor a zero-sum game of two"
    elif hasattr(pool.game.rules, "redeal"):
        reason = "it has hidden information"
    if reason:
        raise LudusError(f"{pool.name} cannot be planned because {reason}; use search or learn it by playing")


def _initial_state(pool: Pool) -> Visited:
    fresh = _new_visited(pool, 1)
    fresh.states["key"] = KEY
    pool.kernel.open_game(fresh.states, pool.game.blank(), 0)
    _check_deterministic(pool, fresh.states)
    pool.kernel.see(fresh.states, fresh.rows, fresh.observations, 0, 1)
    return fresh


def _new_visited(pool: Pool, count: int) -> Visited:
    rules = pool.game.rules
    return Visited(new_rows(count, rules.STATE), new_rows(count, pool.kernel.ROW), new_rows(count, rules.OBSERVATION))


def _check_deterministic(pool: Pool, states: Array) -> None:
    if (states["key"] != KEY).any():
        raise LudusError(
            f"{pool.name} is not deterministic, so it cannot be planned; use search or learn it by playing"
        )


def _expand(pool: Pool, part: Visited, first: int, known: dict[bytes, int]) -> tuple[Moves, Visited]:
    """All legal moves of the running states, which are numbered from `first` on, and the new states they lead to."""
    running = part.states["status"] == PLAYING
    source, action = np.nonzero(part.rows["mask"].astype(bool) & running[:, None])
    after = _new_visited(pool, len(source))
    pool.kernel.fork(part.states, source, np.full(len(source), KEY), after.states, -1)
    actions = action.astype(np.int64).view(pool.kernel.ACTION)
    actions = actions if compiling() else as_plain(actions)
    arrays = (after.states, pool.game.blank(), actions, after.rows, after.observations)
    pool.kernel.advance(*arrays, 0, len(source), NO_FIELDS, 0)
    _check_deterministic(pool, after.states)
    mover = part.states["seat"][source]
    reward = after.rows["reward"][np.arange(len(source)), mover]
    sign = np.where(after.states["seat"] == mover, 1, -1).astype(np.int8)
    numbers, fresh = _number(_identities(after.states), known)
    return Moves(first + source, action, numbers, reward, after.states["status"] != PLAYING, sign), after.part(fresh)


def _number(identities: list[bytes], known: dict[bytes, int]) -> tuple[Array, list[int]]:
    """The number of each state, and the indices of the new states."""
    fresh: list[int] = []
    for place, identity in enumerate(identities):
        if identity not in known:
            known[identity] = len(known)
            fresh.append(place)
    return np.array([known[identity] for identity in identities], np.int64), fresh


def _identities(states: Array) -> list[bytes]:
    """The bytes of each state without the key and without padding between fields."""
    names = [name for name in states.dtype.names or () if name != "key"]
    packed = np.concatenate([_bytes_of(states[name]) for name in names], axis=1)
    content, width = packed.tobytes(), packed.shape[1]
    return [content[low : low + width] for low in range(0, len(content), width)]


def _bytes_of(field: Array) -> Array:
    """[n, bytes] of a field [n, ...]; nested records are converted field by field."""
    rows, size = len(field), int(np.prod(field.shape[1:]))
    flat = np.ascontiguousarray(field.view(np.ndarray)).reshape(rows * size)
    if flat.dtype.names:
        columns = [_bytes_of(flat[name]) for name in flat.dtype.names]
        return np.concatenate(columns, axis=1).reshape(rows, size * sum(column.shape[1] for column in columns))
    return flat.view(np.uint8).reshape(rows, size * flat.dtype.itemsize)


def _concatenate(parts: list[Array]) -> Array:
    """The concatenation of arrays of records; np.concatenate alone may remove their padding."""
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
