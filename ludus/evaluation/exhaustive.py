"""All lines of play of an agent in one seat against an opponent who tries every legal move.

Positions are found breadth-first, in batches, and each is expanded once. Their graph gives the number of lines and the
worst return over all of them, which proves that an agent never loses instead of sampling games.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields
from numpy.typing import ArrayLike

from ludus.agents import Agent, seated
from ludus.agents.player import remembers
from ludus.agents.protocol import Params
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import PLAYING, random
from ludus.dsl.rows import new_rows
from ludus.evaluation.play import Tell
from ludus.pool import Pool, Snapshot
from ludus.types import Array, Continuous, LudusError, Step


class SeatLines(NamedTuple):
    """Every line of play with the agent in one seat."""

    seat: int
    positions: int
    """number of distinct positions, including final ones"""
    lines: int
    """number of distinct games from the opening to an end"""
    worst: float
    """the agent's return in the line that is worst for it"""
    line: tuple[str, ...]
    """the names of all actions of that line, of both seats"""


class Lines(NamedTuple):
    """Every line of play with the agent in either seat."""

    seats: tuple[SeatLines, SeatLines]
    exact: bool
    """whether the agent listed the actions that it may choose; otherwise they were sampled and may be incomplete"""

    @property
    def worst(self) -> float:
        return min(seat.worst for seat in self.seats)


class Graph(NamedTuple):
    """Positions 0 .. positions - 1, the opening first, and moves sorted by the position that they leave."""

    positions: int
    leaves: Array
    """[moves] the position that a move leaves"""
    reaches: Array
    """[moves] the position that it reaches"""
    action: Array
    reward: Array
    """[moves] the agent's reward"""
    begins: Array
    """[positions + 1] the moves of position p are begins[p] .. begins[p + 1] - 1"""


class Mind(NamedTuple):
    """The agent and how its choices are sampled."""

    agent: Agent
    params: Params
    draws: int
    seed: int


def exhaustive(
    game: str, agent: Agent, params: Params, positions: int = 1_000_000, draws: int = 32, seed: int = 0,
    rows: int = 256, tell: Tell | None = None,
) -> Lines:  # fmt: skip
    """Play an agent against every move of its opponent, from both seats of an alternating game without chance.

    If an agent chooses randomly among several actions, all of them are followed. It lists them with an optional method
    `choices(params, step) -> bool [N, A]`. Without it, `act` is called with new keys until `draws` answers in a row
    bring no new action, which may miss rare ones (`draws` 0 calls it once, enough for a deterministic agent).
    More than `positions` positions per seat raise LudusError. `rows` is the batch size.
    """
    pool = open_pool(game, rows, seed)
    try:
        checked = check(pool, seed)
        mind = Mind(seated(agent, checked), params, draws, seed)
        check_memory(mind, checked)
        opening = checked.states[:1].copy()
        seats = [prove(checked, opening, mind, seat, positions, tell) for seat in range(2)]
    finally:
        pool.close()
    return Lines((seats[0], seats[1]), hasattr(mind.agent, "choices"))


def check(pool: AnyPool, seed: int) -> Pool:
    """The compiled pool; raises LudusError if the lines of play of this game cannot be enumerated."""
    wanted = "lines of play can be enumerated only in games of Ludus with two alternating seats and without chance"
    if pool.compiled is None:
        raise LudusError(f"{wanted}; the states of {pool.name} cannot be copied; play a match instead")
    if isinstance(pool.spec.actions, Continuous):
        raise LudusError(f"{wanted}; {pool.name} has continuous actions; measure its score instead")
    if pool.spec.seats != 2 or pool.spec.turns != "alternating":
        raise LudusError(f"{wanted}; {pool.name} has {pool.spec.seats} seats and is {pool.spec.turns}")
    if pool.compiled.states["key"][0] != random.keys(seed, 1)[0]:
        raise LudusError(f"{wanted}; {pool.name} has chance before the first move; play a match instead")
    return pool.compiled


def check_memory(mind: Mind, pool: Pool) -> None:
    """Raise LudusError for an agent with memory, because positions are not visited in the order of play."""
    if remembers(mind.agent.memory(pool.rows)):
        raise LudusError("this agent has a memory, so its lines of play cannot be enumerated; play a match instead")


def prove(pool: Pool, opening: Array, mind: Mind, seat: int, most: int, tell: Tell | None) -> SeatLines:
    """All lines of play with the agent in one seat."""
    graph = explore(pool, opening, mind, seat, most, tell)
    levels = list(levels_of(graph))
    if sum(len(level) for level, _ in levels) < graph.positions:
        raise LudusError(f"positions of {pool.name} can repeat, so its lines of play are endless; play a match instead")
    ends = np.diff(graph.begins) == 0
    worst = worst_returns(graph, levels, ends)
    line = tuple(pool.action_name(action) for action in worst_line(graph, worst))
    return SeatLines(seat, graph.positions, count_lines(graph, levels, ends), float(worst[0]), line)


def explore(pool: Pool, opening: Array, mind: Mind, seat: int, most: int, tell: Tell | None) -> Graph:
    """Find every reachable position, ply by ply."""
    numbers = {one: place for place, one in enumerate(identities(opening))}
    moves: list[tuple[Array, Array, Array, Array]] = []
    frontier, places = opening, np.zeros(1, np.int64)
    while len(frontier):
        found = []
        for low in range(0, len(frontier), pool.rows):
            batch, known = frontier[low : low + pool.rows], len(numbers)
            twin, source, action, reward = expand(pool, batch, mind, seat, known == 1)
            reached = np.array([numbers.setdefault(one, len(numbers)) for one in identities(twin.states)])
            if len(numbers) > most:
                raise LudusError(f"{pool.name} has more than {most:,} positions; increase positions, or play a match")
            moves.append((places[low + source], reached, action, reward))
            found.append(newcomers(twin, reached, known))
            if tell:
                tell(f"{pool.name}, agent in seat {seat}", len(numbers), most)
        frontier, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
    leaves, reaches, action, reward = (np.concatenate(parts) for parts in zip(*moves, strict=True))
    begins = np.searchsorted(leaves, np.arange(len(numbers) + 1))
    return Graph(len(numbers), leaves, reaches, action, reward, begins)


def newcomers(twin: Pool, reached: Array, known: int) -> tuple[Array, Array]:
    """The new states that are not final, each once, and their numbers."""
    numbers, first = np.unique(reached, return_index=True)
    new = (numbers >= known) & (twin.status[first] == PLAYING)
    return twin.states[first[new]], numbers[new]


def expand(pool: Pool, states: Array, mind: Mind, seat: int, opening: bool) -> tuple[Pool, Array, Array, Array]:
    """Play all moves of the opponent, and those that the agent may choose.

    Returns a pool of the next positions, and for each of its rows the previous state, the action and the reward.
    """
    step = show(pool, states, opening)
    used = np.arange(pool.rows) < len(states)
    own = used & (step.seat == seat)
    allowed = step.mask & used[:, None]
    if own.any():
        allowed[own] = choices(mind, step, own)[own]
    source, action = np.nonzero(allowed)
    twin = pool.fork(source.tolist(), mind.seed)
    keys = twin.states["key"].copy()
    reward = twin.advance(action).reward[:, seat].astype(np.float64)
    twin.close()
    if (twin.states["key"] != keys).any():
        raise LudusError(f"{pool.name} has chance, so its lines of play cannot be enumerated; play a match instead")
    return twin, source, action, reward


def show(pool: Pool, states: Array, opening: bool) -> Step:
    """Put states into the first rows of a pool; all batches have one size, so that agents compile only once."""
    placed = pool.states.copy()
    placed[: len(states)] = states
    rows, observations = new_rows(pool.rows, pool.kernel.ROW), new_rows(pool.rows, pool.observation)
    rows["discount"], rows["first"] = 1.0, opening
    pool.kernel.see(placed, rows, observations, 0, pool.rows)
    arrays = (array.view(np.uint8) for array in (placed, rows, observations))
    return pool.restore(Snapshot(pool.game.fingerprint, 0, *arrays))


def choices(mind: Mind, step: Step, own: Array) -> Array:
    """[N, A] the actions that the agent may choose in its own rows."""
    seen = step._replace(discount=np.where(own, step.discount, 0))
    list_choices = getattr(mind.agent, "choices", None)
    allowed = np.asarray(list_choices(mind.params, seen), bool) if list_choices else drawn(mind, seen, own)
    if allowed.shape != step.mask.shape or (allowed & ~step.mask)[own].any() or not allowed[own].any(axis=1).all():
        raise LudusError("invalid choices of this agent: expected at least one action in each row, and only legal ones")
    return allowed


def drawn(mind: Mind, step: Step, own: Array) -> Array:
    """[N, A] the actions that `act` chose until `draws` calls in a row brought no new one."""
    found, lines = np.zeros(step.mask.shape, bool), np.flatnonzero(own)
    memory = mind.agent.memory(len(own))
    dice, quiet = np.random.default_rng(mind.seed % 2**64), 0
    while True:
        key = int(dice.integers(2**31))
        decision, _ = mind.agent.act(mind.params, memory, step, key)
        action = checked_actions(decision.action, step)[own]
        quiet = quiet + 1 if found[lines, action].all() else 0
        found[lines, action] = True
        if quiet >= mind.draws:
            return found


def checked_actions(actions: ArrayLike, step: Step) -> Array:
    """The actions as an array; raises LudusError unless they are one action number of the game per row."""
    given = np.asarray(actions)
    rows, most = step.mask.shape
    if given.shape != (rows,) or given.dtype.kind not in "iub" or not ((given >= 0) & (given < most)).all():
        raise LudusError(f"invalid actions of this agent: expected {rows} whole numbers from 0 to {most - 1}")
    return given


def identities(states: Array) -> list[bytes]:
    """Bytes that identify positions: all fields except the key, without the padding between fields."""
    names = [name for name in states.dtype.names or () if name != "key"]
    packed = np.ascontiguousarray(repack_fields(states.view(np.ndarray)[names], recurse=True))
    found: list[bytes] = packed.view(f"V{packed.dtype.itemsize}").tolist()
    return found


def levels_of(graph: Graph) -> Iterator[tuple[Array, Array]]:
    """Positions and the moves that leave them in topological order, level by level.

    Positions on a cycle, or reachable only through one, are not yielded.
    """
    waiting = np.bincount(graph.reaches, minlength=graph.positions)
    level = np.flatnonzero(waiting[:1] == 0)
    while level.size:
        counts = graph.begins[level + 1] - graph.begins[level]
        moves = np.repeat(graph.begins[level] - counts.cumsum() + counts, counts) + np.arange(counts.sum())
        yield level, moves
        reached, arrivals = np.unique(graph.reaches[moves], return_counts=True)
        waiting[reached] -= arrivals
        level = reached[waiting[reached] == 0]


def count_lines(graph: Graph, levels: list[tuple[Array, Array]], ends: Array) -> int:
    """The number of paths from the opening to an end, as an integer of any size."""
    ways = np.zeros(graph.positions, object)
    ways[0] = 1
    for _, moves in levels:
        np.add.at(ways, graph.reaches[moves], ways[graph.leaves[moves]])
    return int(ways[ends].sum())


def worst_returns(graph: Graph, levels: list[tuple[Array, Array]], ends: Array) -> Array:
    """[positions] the smallest return from a position on: worst(p) = min over moves of reward + worst(reached)."""
    worst = np.where(ends, 0.0, np.inf)
    for _, moves in reversed(levels):
        np.minimum.at(worst, graph.leaves[moves], graph.reward[moves] + worst[graph.reaches[moves]])
    return worst


def worst_line(graph: Graph, worst: Array) -> list[int]:
    """The actions of a line with the return worst[0]."""
    line, position = [], 0
    while graph.begins[position] < graph.begins[position + 1]:
        moves = slice(graph.begins[position], graph.begins[position + 1])
        move = moves.start + int((graph.reward[moves] + worst[graph.reaches[moves]]).argmin())
        line.append(int(graph.action[move]))
        position = int(graph.reaches[move])
    return line
