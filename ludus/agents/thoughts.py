"""An agent's evaluation of a position: its value for each seat, and a probability or value for each move.

Networks give probabilities and search gives visit fractions; tables, perfect players and lookahead give values; other
agents give nothing.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ludus.agents.player import Player
from ludus.agents.players.perfect.connect4 import stones_of
from ludus.agents.players.perfect.connect4_solver import ILLEGAL, book_entry, score_moves
from ludus.agents.players.perfect.tictactoe import value as tictactoe_value
from ludus.agents.protocol import Agent, Memory, Params
from ludus.agents.search import lookahead, mcts
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.agents.trained import Trained
from ludus.games import plain_name
from ludus.pool import AnyPool
from ludus.types import Array, Discrete, JsonObject, Spec, Step, some_rows

CHANCE, VALUE = "chance", "value"
SHOWN, LEAST = 100, 0.0005
"""maximum number of moves that are shown, and smallest probability that is shown"""
SEARCHED_FROM = 12
"""plies after which every column of Connect Four is solved within milliseconds"""


class Judgement(Protocol):
    """Log-probabilities [T, N, A] and values [T, N, P] of a network."""

    @property
    def policy(self) -> Array: ...
    @property
    def value(self) -> Array: ...


@runtime_checkable
class Critic(Protocol):
    """A network that evaluates positions."""

    def packed(self, steps: Step) -> Step: ...
    def evaluate(self, params: Params, memory: Memory, steps: Step) -> Judgement: ...


class Thoughts(NamedTuple):
    """The evaluation of one position by one agent."""

    agent: str
    values: list[float] | None
    """value of the position for each seat"""
    moves: dict[int, float] | None
    unit: str = CHANCE
    action: int | None = None
    """the action it would take, if the evaluation already determined it"""

    def as_json(self) -> JsonObject:
        """The data that the page shows."""
        moves = None if self.moves is None else {str(action): _plain(x) for action, x in self.moves.items()}
        values = None if self.values is None else [_plain(value) for value in self.values]
        return {"agent": self.agent, "values": values, "moves": moves, "unit": self.unit}


def think(player: Player, pool: AnyPool, row: int) -> Thoughts | None:
    """A player's evaluation of one row of a pool; None if its agent has none, or if there is nothing to decide."""
    agent = unwrapped(player.agent)
    if not isinstance(pool.spec.actions, Discrete) or pool.status[row // pool.spec.views] != 0:
        return None
    if isinstance(agent, mcts.Searcher):
        return _by_search(player, agent, pool, row)
    if isinstance(agent, lookahead.LookaheadAt):
        return _by_lookahead(player, agent, pool, row)
    if isinstance(agent, TabularAgent) and isinstance(player.params, Table):
        values = agent.values(player.params, one_row(pool.step, row))[0]
        return by_values(player.name, values, int(pool.step.seat[row]), pool.spec)
    if isinstance(agent, Critic):
        return _by_network(player, agent, pool, row)
    exact = EXACT.get(plain_name(pool.name)) if player.name == "perfect" else None
    return exact(player.name, one_row(pool.step, row), pool.spec) if exact else None


def can_evaluate(player: Player, pool: AnyPool) -> bool:
    """Whether `think` returns evaluations of this player."""
    agent = unwrapped(player.agent)
    exact = player.name == "perfect" and plain_name(pool.name) in EXACT
    return exact or isinstance(agent, mcts.Searcher | lookahead.LookaheadAt | TabularAgent | Critic)


def must_compile(player: Player) -> bool:
    """Whether `think` compiles a program of JAX for this player, which takes a second."""
    return isinstance(unwrapped(player.agent), Critic)


def unwrapped(agent: Agent) -> Agent:
    """The agent itself, without the wrapper that holds its parameters."""
    return agent.agent if isinstance(agent, Trained) else agent


def _by_search(player: Player, agent: mcts.Searcher, pool: AnyPool, row: int) -> Thoughts:
    found = mcts.search(agent.pool, row, agent.settings, player.key())
    visits = np.where(pool.step.mask[row], found.visits, 0)
    shares = visits / max(visits.sum(), 1)
    return Thoughts(
        player.name, found.value.tolist(), likeliest(shares, pool.step.mask[row]), CHANCE, int(visits.argmax())
    )


def _by_lookahead(player: Player, agent: lookahead.LookaheadAt, pool: AnyPool, row: int) -> Thoughts:
    """The average result of each option; with a single option, its value."""
    found = agent.look(player.params, row, player.key())
    thoughts = by_values(player.name, found.worth, int(pool.step.seat[row]), pool.spec)
    return thoughts._replace(action=found.action)


def _by_network(player: Player, agent: Critic, pool: AnyPool, row: int) -> Thoughts:
    """Evaluate all rows, because networks are compiled for a fixed number of rows, and take one."""
    step = pool.step._replace(first=player.unseen)
    observation = {name: array[None] for name, array in step.observation.items()}
    steps = Step(observation, *(part[None] for part in step[1:]))
    policy, value = evaluator()(agent, player.params, player.memory, agent.packed(steps))
    chances = np.exp(np.asarray(policy, np.float64)[row])
    values = np.asarray(value, np.float64)[row][: pool.spec.seats].tolist()
    return Thoughts(player.name, values, likeliest(chances, pool.step.mask[row]))


@functools.cache
def evaluator() -> Callable[[Critic, Params, Memory, Step], tuple[ArrayLike, ArrayLike]]:
    """(agent, params, memory, steps [1, N]) to log-probabilities [N, A] and values [N, P]; compiled once per agent."""
    import jax

    def evaluate(agent: Critic, params: Params, memory: Memory, steps: Step) -> tuple[ArrayLike, ArrayLike]:
        found = agent.evaluate(params, memory, steps)
        return found.policy[0], found.value[0]

    return jax.jit(evaluate, static_argnums=0)


def by_values(name: str, values: Array, seat: int, spec: Spec) -> Thoughts:
    """Thoughts from the values [A] of the actions for the seat to move, -inf for illegal actions."""
    best = float(values.max())
    worth = [0.0] * spec.seats
    if spec.zero_sum:
        worth = [-best / max(spec.seats - 1, 1)] * spec.seats
    worth[seat] = best
    known = spec.seats == 1 or spec.zero_sum
    order = np.argsort(-values, kind="stable")[:SHOWN]
    moves = {int(action): float(values[action]) for action in order if np.isfinite(values[action])}
    return Thoughts(name, worth if known else None, moves, VALUE)


def likeliest(chances: Array, mask: Array) -> dict[int, float]:
    """The moves with a probability of at least LEAST, the most likely first."""
    legal = np.where(mask, chances, 0.0)
    return {
        int(action): float(legal[action])
        for action in np.argsort(-legal, kind="stable")[:SHOWN]
        if legal[action] >= LEAST
    }


def _tictactoe(name: str, step: Step, spec: Spec) -> Thoughts:
    powers, board = 1 << np.arange(9), step.observation["board"][0]
    mine, theirs = int((board == 1) @ powers), int((board == 2) @ powers)
    values = [-tictactoe_value(theirs, mine | 1 << cell) if step.mask[0, cell] else -np.inf for cell in range(9)]
    return by_values(name, np.array(values, np.float64), int(step.seat[0]), spec)


def _connect4(name: str, step: Step, spec: Spec) -> Thoughts | None:
    """Win, draw or loss for every column; in the opening only the move of the book."""
    mine, theirs = stones_of(step.observation["board"][0])
    seat = int(step.seat[0])
    if (mine | theirs).bit_count() >= SEARCHED_FROM:
        scores = score_moves(mine, theirs)
        return by_values(name, np.where(scores == ILLEGAL, -np.inf, np.sign(scores)), seat, spec)
    entry = book_entry(mine, theirs)
    if entry is None:
        return None
    worth = float(np.sign(entry.score))
    return Thoughts(name, [worth, -worth] if seat == 0 else [-worth, worth], {entry.column: worth}, VALUE)


EXACT: dict[str, Callable[[str, Step, Spec], Thoughts | None]] = {"tictactoe": _tictactoe, "connect4": _connect4}
"""games whose perfect player knows the value of every move"""


def one_row(step: Step, row: int) -> Step:
    """One row of a step."""
    return some_rows(step, slice(row, row + 1))


def _plain(number: float) -> float | None:
    """The number rounded to 4 decimals, or None if it is not finite."""
    return round(float(number), 4) if math.isfinite(number) else None
