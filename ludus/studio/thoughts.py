"""What an agent thinks of a position: what it is worth to each seat, and how likely or how good each move is.

Networks tell chances, search tells shares of its visits; tables, perfect players and those who look ahead tell values;
others keep silent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ludus.agents.perfect.connect4 import stones_of
from ludus.agents.perfect.connect4_solver import ILLEGAL, book_entry, score_moves
from ludus.agents.perfect.tictactoe import value as tictactoe_value
from ludus.agents.search import lookahead, mcts
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.agents.trained import Trained
from ludus.pool import Pool
from ludus.types import Array, Discrete, Spec, Step, some_rows

CHANCE, VALUE = "chance", "value"
SHOWN, LEAST = 100, 0.0005
"""moves that are told at most, and the smallest chance that is worth a word"""
SEARCHED_FROM = 12
"""plies after which every column of Connect Four is solved in a moment"""


class Thoughts(NamedTuple):
    """What one agent thinks of one position."""

    agent: str
    values: list[float] | None
    """what the game is worth to each seat"""
    moves: dict[int, float] | None
    unit: str = CHANCE
    action: int | None = None
    """what it would do, where finding that out was the same work"""

    def told(self) -> dict[str, Any]:
        """As the page reads it."""
        moves = None if self.moves is None else {str(action): _plain(x) for action, x in self.moves.items()}
        values = None if self.values is None else [_plain(value) for value in self.values]
        return {"agent": self.agent, "values": values, "moves": moves, "unit": self.unit}


def think(player: Any, pool: Any, row: int) -> Thoughts | None:
    """What a player thinks of one row of a pool's step; None from who cannot say, or where nothing is to be decided."""
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
    if hasattr(agent, "evaluate"):
        return _by_network(player, agent, pool, row)
    if player.name == "perfect" and isinstance(pool, Pool) and pool.game.name in EXACT:
        return EXACT[pool.game.name](player.name, one_row(pool.step, row), pool.spec)
    return None


def can_tell(player: Any, pool: Any) -> bool:
    """Whether a player ever says what it thinks."""
    agent = unwrapped(player.agent)
    exact = player.name == "perfect" and isinstance(pool, Pool) and pool.game.name in EXACT
    telling = mcts.Searcher | lookahead.LookaheadAt | TabularAgent
    return exact or isinstance(agent, telling) or hasattr(agent, "evaluate")


def unwrapped(agent: Any) -> Any:
    """The agent itself, where another brings its parameters along."""
    return agent.agent if isinstance(agent, Trained) else agent


def _by_search(player: Any, agent: mcts.Searcher, pool: Pool, row: int) -> Thoughts:
    found = mcts.search(pool, row, agent.settings, player.key())
    visits = np.where(pool.step.mask[row], found.visits, 0)
    shares = visits / max(visits.sum(), 1)
    return Thoughts(
        player.name, found.value.tolist(), likeliest(shares, pool.step.mask[row]), CHANCE, int(visits.argmax())
    )


def _by_lookahead(player: Any, agent: lookahead.LookaheadAt, pool: Pool, row: int) -> Thoughts:
    """What every option brought, on average; where there is nothing to choose, what the only one is worth."""
    found = agent.look(player.params, row, player.key())
    told = by_values(player.name, found.worth, int(pool.step.seat[row]), pool.spec)
    return told._replace(action=found.action)


def _by_network(player: Any, agent: Any, pool: Any, row: int) -> Thoughts:
    """All rows are judged with the memory that the player has, as networks are compiled for a number of rows."""
    step = pool.step._replace(first=player.unseen)
    observation = {name: array[None] for name, array in step.observation.items()}
    steps = Step(observation, *(part[None] for part in step[1:]))
    policy, value = judge()(agent, player.params, player.memory, agent.packed(steps))
    chances = np.exp(np.asarray(policy[row], np.float64))
    values = np.asarray(value[row], np.float64)[: pool.spec.seats].tolist()
    return Thoughts(player.name, values, likeliest(chances, pool.step.mask[row]))


@functools.cache
def judge() -> Callable[..., Any]:
    """(agent, params, memory, steps [1, N]) to log-probabilities [N, A] and values [N, P]; compiled once an agent."""
    import jax

    def judged(agent: Any, params: Any, memory: Any, steps: Step) -> Any:
        found = agent.evaluate(params, memory, steps)
        return found.policy[0], found.value[0]

    return jax.jit(judged, static_argnums=0)


def by_values(name: str, values: Array, seat: int, spec: Spec) -> Thoughts:
    """Thoughts from what each action [A] is worth to who is to act, -inf where it is illegal."""
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
    """The moves that are worth a word, the likeliest first."""
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
    """Won, drawn or lost for every column; in the opening only what the book says of the position."""
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
"""games whose perfect player knows what every move is worth"""


def one_row(step: Step, row: int) -> Step:
    """One row of a step."""
    return some_rows(step, slice(row, row + 1))


def _plain(number: float) -> float | None:
    """A number as JSON has it, short."""
    return round(float(number), 4) if math.isfinite(number) else None
