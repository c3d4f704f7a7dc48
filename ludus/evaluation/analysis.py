"""Statistics of a game from self-play, for its designer: balance between seats, length, choices and unused actions.

One agent plays all seats, so a difference between the seats comes from the game and not from the players.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents import Agent, seated
from ludus.agents.player import Contestant
from ludus.agents.protocol import Key, Memory, Params
from ludus.bridges import AnyPool
from ludus.evaluation.play import Tell, opened, play
from ludus.evaluation.statistics import Interval, interval, wilson
from ludus.types import Array, Decision, Discrete, Spec, Step

RARE = 0.001
"""an action is rare if it is legal, or chosen where it is legal, in a smaller share of the decisions than this"""
ROWS = 256


class SeatResult(NamedTuple):
    """How one seat fared. The seat with the highest return wins a game."""

    seat: int
    wins: int
    draws: int
    win_rate: Interval
    """a draw counts as half a win"""
    mean_return: Interval


class ActionUse(NamedTuple):
    """How often one action was legal and how often it was chosen, counted in decisions."""

    action: int
    name: str
    legal: int
    chosen: int


class Spread(NamedTuple):
    """A distribution in a few numbers."""

    mean: float
    low: float
    median: float
    high: float


class Analysis(NamedTuple):
    """What self-play says about a game."""

    game: str
    agent: str
    games: int
    seats: tuple[SeatResult, ...]
    first_player_advantage: Interval | None
    """win rate of the first seat minus one half, for games of two seats; None for others"""
    draws: Interval | None
    """share of games without a single winner; None for games of one seat"""
    cut: int
    """games that were cut off instead of ended"""
    lengths: Array
    """[games] steps"""
    decisions: Array
    """[games] decisions of all seats; those with only one legal action count too"""
    forced: float
    """share of decisions with only one legal action; 0 for continuous actions"""
    branching: Spread | None
    """number of legal actions of a decision; None for continuous actions"""
    actions: tuple[ActionUse, ...]
    """empty for continuous actions"""

    @property
    def never_legal(self) -> list[ActionUse]:
        return [use for use in self.actions if not use.legal]

    @property
    def rarely_legal(self) -> list[ActionUse]:
        total = self.decisions.sum()
        return [use for use in self.actions if 0 < use.legal < RARE * total]

    @property
    def never_chosen(self) -> list[ActionUse]:
        return [use for use in self.actions if use.legal and not use.chosen]

    @property
    def rarely_chosen(self) -> list[ActionUse]:
        return [use for use in self.actions if 0 < use.chosen < RARE * use.legal]


class _Count(NamedTuple):
    """Counters of legal and chosen actions, which grow while an agent plays."""

    legal: Array
    """[A] decisions in which each action was legal"""
    chosen: Array
    """[A]"""
    options: Array
    """[A + 1] decisions with this number of legal actions"""

    def add(self, mask: Array, action: Array) -> None:
        self.legal[:] += mask.sum(axis=0)
        self.chosen[:] += np.bincount(action, minlength=len(self.chosen))
        self.options[:] += np.bincount(mask.sum(axis=1), minlength=len(self.options))


class _Observed:
    """An agent whose decisions are counted."""

    def __init__(self, agent: Agent, count: _Count) -> None:
        self.agent, self.count = agent, count

    def init(self, spec: Spec, key: Key) -> Params:
        return self.agent.init(spec, key)

    def memory(self, rows: int) -> Memory:
        return self.agent.memory(rows)

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        decision, memory = self.agent.act(params, memory, step, key)
        deciding = step.discount > 0
        if len(self.count.chosen):
            self.count.add(step.mask[deciding], np.asarray(decision.action)[deciding])
        return decision, memory


def analyse(
    game: str | AnyPool, agent: str | Contestant = "random", games: int = 1000, seed: int = 0, tell: Tell | None = None
) -> Analysis:
    """Let an agent play all seats of `games` games and count; the agent is a name or an (agent, params) pair."""
    with opened(game, ROWS, games, seed) as pool:
        name, (player, params) = _player(agent, pool)
        actions = pool.spec.actions.n if isinstance(pool.spec.actions, Discrete) else 0
        count = _Count(np.zeros(actions, np.int64), np.zeros(actions, np.int64), np.zeros(actions + 1, np.int64))
        observed = _Observed(seated(player, pool), count)
        alone = np.zeros((1, pool.spec.seats), np.int64)
        played = play(pool, [(observed, params)], alone, games, seed, tell)
        uses = tuple(
            ActionUse(action, _name(pool, action), int(count.legal[action]), int(count.chosen[action]))
            for action in range(actions)
        )
    return _report(pool, name, played.returns, played.lengths, int(played.cut.sum()), count, uses)


def _name(pool: AnyPool, action: int) -> str:
    """The name of an action that is the same in all positions."""
    return f"action {action}" if pool.names_moves else pool.action_name(action)


def _player(agent: str | Contestant, pool: AnyPool) -> tuple[str, Contestant]:
    if not isinstance(agent, str):
        return type(agent[0]).__name__, agent
    loaded = agents.load(agent, pool.name)
    return agent, (loaded, loaded.init(pool.spec, 0))


def _report(
    pool: AnyPool, agent: str, returns: Array, lengths: Array, cut: int, count: _Count, uses: tuple[ActionUse, ...]
) -> Analysis:
    seats = tuple(_seat(returns, seat) for seat in range(pool.spec.seats)) if pool.spec.seats > 1 else ()
    games, options = len(returns), count.options
    alone = SeatResult(0, 0, 0, Interval(np.nan, np.nan, np.nan), interval(returns[:, 0]))
    even = int((_ahead(returns).sum(axis=1) != 1).sum())
    return Analysis(
        pool.name, agent, games, seats or (alone,), _advantage(seats), wilson(even, games) if seats else None, cut,
        lengths, lengths * pool.spec.views, float(options[1] / options.sum()) if uses else 0.0,
        _spread(options) if uses else None, uses,
    )  # fmt: skip


def _ahead(returns: Array) -> Array:
    """[games, seats] whether a seat has the highest return of the game."""
    ahead: Array = returns == returns.max(axis=1, keepdims=True)
    return ahead


def _seat(returns: Array, seat: int) -> SeatResult:
    ahead = _ahead(returns)
    alone = ahead.sum(axis=1) == 1
    wins, draws = int((ahead[:, seat] & alone).sum()), int((ahead[:, seat] & ~alone).sum())
    return SeatResult(seat, wins, draws, wilson(wins + draws / 2, len(returns)), interval(returns[:, seat]))


def _advantage(seats: tuple[SeatResult, ...]) -> Interval | None:
    if len(seats) != 2:
        return None
    return Interval(*(end - 0.5 for end in seats[0].win_rate))


def _spread(options: Array) -> Spread:
    """The distribution of the number of legal actions, given how many decisions have each number."""
    numbers, below = np.arange(len(options)), np.cumsum(options)
    seen = numbers[options > 0]
    median = int(np.searchsorted(below, below[-1] / 2))
    return Spread(float(numbers @ options / below[-1]), float(seen[0]), float(median), float(seen[-1]))


def spread_of(values: Array) -> Spread:
    """The distribution of values."""
    return Spread(float(values.mean()), float(values.min()), float(np.median(values)), float(values.max()))
