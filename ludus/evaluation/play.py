"""Games between agents in one pool, counted without a bias towards short games.

Game k of row i has the number i + k * rows, and exactly the games with numbers below `games` count. So it is known in
advance which games count. Counting the first games that finish instead would prefer short games.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ludus.agents.player import Contestant, Player
from ludus.agents.protocol import Key
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import CUT, PLAYING, random
from ludus.types import Array, Continuous, LudusError, Spec, Step, step_rows

Tell = Callable[[str, int, int], None]
"""called with the name of the game, the number of finished games and the number of all games"""
OnActions = Callable[[Array, Array], None]
"""called before each step with the numbers [games] of the running games and their actions [games(, seats)(, k)]"""
LONGEST = 10_000
"""steps after which a game is cut off, because the agents may never end it"""
DECISIONS = 0x7A6E5D4C3B2A1908
"""XORed into the seed for the random numbers of decisions, so that they differ from those of games"""


class Played(NamedTuple):
    """Games by their number."""

    returns: Array
    """[games, seats]"""
    lengths: Array
    """[games] steps"""
    cut: Array
    """[games] whether the game was cut off"""
    measures: dict[str, Array]
    """[games] the measures that the game declares, by name"""


@contextlib.contextmanager
def opened(game: str | AnyPool, rows: int, games: int, seed: int, openings: Array | None = None) -> Iterator[AnyPool]:
    """A pool for a game given by name, with at most one row per game and closed at the end; a given pool as it is."""
    if games < 1:
        raise LudusError(f"cannot play {games} games; play at least one")
    if not isinstance(game, str):
        yield game
        return
    count = min(rows, games)
    # With a seed for each row, environments of other libraries are opened in a form that accepts these later, too.
    pool = open_pool(game, count, seed if openings is None else _seeds(openings, np.arange(count)))
    try:
        yield pool
    finally:
        pool.close()


def new_openings(games: int, seed: int, each: int = 1) -> Array:
    """[games] the seed of each game; `each` consecutive games share one."""
    # Below 2^31, because some environments of other libraries accept no larger seed.
    return np.repeat(np.random.default_rng(seed % 2**64).integers(2**31, size=-(-max(games, 0) // each)), each)[:games]


def play(
    pool: AnyPool, players: Sequence[Contestant], seating: Array, games: int, seed: int, tell: Tell | None = None,
    openings: Array | None = None, on_actions: OnActions | None = None, first: int = 0,
) -> Played:  # fmt: skip
    """Play `games` new games; row g mod rotations of `seating` [rotations, seats] has the players of game g by seat.

    With `openings` [games], game g starts like a pool of one row with the seed `openings[g]`, and the random numbers of
    its players depend only on g and `seed`. So a game is the same in whatever rows and with whatever other games it is
    played: the games may be a part of a match, in which `first` is the number of the first of them.
    """
    row_games = np.arange(pool.rows)
    step = pool.reset(seed if openings is None else _seeds(openings, row_games))
    table = new_players(players, pool, seed)
    dice = None if openings is None else Dice(pool, games, seed, first)
    counts = Counts(pool, games)
    while counts.done < games:
        deciding = np.repeat((pool.status == PLAYING) & (row_games < games), pool.spec.views)
        sitting = seating[np.repeat(first + row_games, pool.spec.views) % len(seating), step.seat]
        actions = decide(table, pool.spec, step, deciding, sitting, None if dice is None else dice.keys(deciding))
        if on_actions:
            moving = deciding[:: pool.spec.views]
            on_actions(first + row_games[moving], by_game(pool.spec, actions)[moving])
        step = pool.advance(actions)
        status = np.where((pool.status == PLAYING) & (counts.steps + 1 >= LONGEST), CUT, pool.status)
        before, ended = counts.done, counts.add(row_games, step, status)
        row_games[ended] += pool.rows
        if openings is not None and dice is not None and ended.any():
            step = pool.reset(_seeds(openings, row_games), ended)
            dice.begin(row_games, ended)
        elif (endless := ended & (pool.status == PLAYING)).any():
            step = pool.reset(rows=endless)
        if tell and counts.done > before:
            tell(pool.name, counts.done, games)
    return counts.played()


def _seeds(openings: Array, numbers: Array) -> list[int]:
    """[rows] the seeds of the games with these numbers; rows without games left repeat games, which do not count."""
    seeds: list[int] = openings[numbers % len(openings)].tolist()
    return seeds


class Dice:
    """The random numbers of the decisions of every game, from the number of the game alone."""

    def __init__(self, pool: AnyPool, games: int, seed: int, first: int) -> None:
        self.views = pool.spec.views
        keys = random.keys(seed ^ DECISIONS, (first + games) * self.views)
        self.starts = keys[first * self.views :].reshape(games, self.views)
        """[games, views] the first keys"""
        self.streams = np.zeros(pool.rows * self.views, np.uint64)
        self.begin(np.arange(pool.rows), np.ones(pool.rows, bool))

    def begin(self, row_games: Array, rows: Array) -> None:
        """Start the games with these numbers [rows] in the rows marked by the booleans."""
        self.streams.reshape(-1, self.views)[rows] = self.starts[row_games[rows] % len(self.starts)]

    def keys(self, deciding: Array) -> Array:
        """[N] the keys of the next decisions; streams advance only where a decision is made."""
        return random.next_keys(self.streams, deciding)


def by_game(spec: Spec, actions: Array) -> Array:
    """[rows(, k)] actions as [games(, seats)(, k)]: with an axis for the seats if all act at once."""
    return actions.reshape(-1, spec.views, *actions.shape[1:]) if spec.turns == "simultaneous" else actions


class Counts:
    """The results of the games of a pool so far."""

    def __init__(self, pool: AnyPool, games: int) -> None:
        self.games, self.done, self.views = games, 0, pool.spec.views
        self.total, self.steps = np.zeros((pool.rows, pool.spec.seats)), np.zeros(pool.rows, np.int64)
        self.returns, self.lengths = np.zeros((games, pool.spec.seats)), np.zeros(games, np.int64)
        self.cut = np.zeros(games, bool)
        self.pool = pool
        self.measures = {name: np.zeros(games) for name in pool.measure(np.zeros(pool.rows, bool))}

    def add(self, row_games: Array, step: Step, status: Array) -> Array:
        """Count a step; returns [rows] whether it ended the game."""
        self.total += step.reward[:: self.views]
        self.steps += ~step.first[:: self.views]
        ended: Array = status != PLAYING
        counted = ended & (row_games < self.games)
        numbers = row_games[counted]
        self.returns[numbers], self.lengths[numbers] = self.total[counted], self.steps[counted]
        self.cut[numbers] = status[counted] == CUT
        for name, values in self.pool.measure(counted).items():
            self.measures[name][numbers] = values
        self.total[ended], self.steps[ended] = 0.0, 0
        self.done += len(numbers)
        return ended

    def played(self) -> Played:
        """The finished games; if not all are finished, the pool has one row and they are the first ones."""
        measures = {name: values[: self.done] for name, values in self.measures.items()}
        return Played(self.returns[: self.done], self.lengths[: self.done], self.cut[: self.done], measures)


def new_players(contestants: Sequence[Contestant], pool: AnyPool, seed: int) -> list[Player]:
    """The players of the games of a pool, each with its own random numbers."""
    return [
        Player(f"player {place}", agent, params, pool, (seed % 2**64, place))
        for place, (agent, params) in enumerate(contestants)
    ]


def decide(
    players: Sequence[Player], spec: Spec, step: Step, deciding: Array, sitting: Array, key: Key | None = None
) -> Array:
    """The actions of all rows: of the player whose number is in `sitting`, or any legal action if none is needed."""
    actions = any_legal(spec, step)
    for place, player in enumerate(players):
        own = deciding & (sitting == place)
        player.notice(step)
        if not own.any():
            continue
        chosen = np.asarray(player.act(step, own, key).action)
        if chosen.shape != actions.shape or chosen.dtype.kind not in ("iub" if actions.dtype.kind == "i" else "iufb"):
            raise LudusError(
                f"{player.name} returned {chosen.dtype} actions of shape {chosen.shape}; "
                f"expected {actions.dtype} of shape {actions.shape}"
            )
        actions[own] = chosen[own]
    return actions


def any_legal(spec: Spec, step: Step) -> Array:
    """[N(, k)] a legal action for every row."""
    if isinstance(spec.actions, Continuous):
        return np.tile(np.array(spec.actions.low, np.float64), (step_rows(step), 1))
    return step.mask.argmax(axis=1)
