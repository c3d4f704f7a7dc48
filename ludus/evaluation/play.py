"""Games between agents in one pool, counted without a bias to short ones.

Game k of row i has the number i + k * rows, and exactly the numbers below `games` count: which games count is settled
before any is played. Taking the first games that finish instead would take the short ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ludus.agents.player import Contestant, Player
from ludus.agents.protocol import Key
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import CUT, PLAYING
from ludus.types import Array, Continuous, LudusError, Spec, Step, step_rows

Tell = Callable[[str, int, int], None]
"""hears what is played, how many games are done and how many there are"""
Hear = Callable[[Array, Array], None]
"""hears, before each step, the numbers [games] of the games that move, and what is played: [games(, seats)(, k)]"""
LONGEST = 10_000
"""steps after which a game is cut off: what an agent does for so long it would do for ever"""


class Played(NamedTuple):
    """Games by their number."""

    returns: Array
    """[games, seats]"""
    lengths: Array
    """[games] steps"""
    cut: Array
    """[games] whether the game was cut off"""
    measures: dict[str, Array]
    """[games] what the game itself counts, by its name"""


@contextlib.contextmanager
def opened(game: str | AnyPool, rows: int, games: int, seed: int) -> Iterator[AnyPool]:
    """The pool of a game given by name, closed at the end and never of more rows than games; or the pool given."""
    if games < 1:
        raise LudusError(f"{games} games say nothing; play at least one")
    if not isinstance(game, str):
        yield game
        return
    pool = open_pool(game, min(rows, games), seed)
    try:
        yield pool
    finally:
        pool.close()


def play(
    pool: AnyPool, players: Sequence[Contestant], seating: Array, games: int, seed: int, tell: Tell | None = None,
    openings: Array | None = None, hear: Hear | None = None,
) -> Played:  # fmt: skip
    """Play `games` games from new openings; `seating` [rotations, seats] says which player sits where, game by game.

    With `openings` [games], game g is the one that a pool of one with the seed `openings[g]` opens with.
    """
    row_games = np.arange(pool.rows)
    step = pool.reset(seed if openings is None else _seeds(openings, row_games))
    table = new_players(players, pool, seed)
    counts = Counts(pool, games)
    while counts.done < games:
        deciding = np.repeat((pool.status == PLAYING) & (row_games < games), pool.spec.views)
        sitting = seating[np.repeat(row_games, pool.spec.views) % len(seating), step.seat]
        actions = decide(table, pool.spec, step, deciding, sitting)
        if hear:
            moving = deciding[:: pool.spec.views]
            hear(row_games[moving], by_game(pool.spec, actions)[moving])
        step = pool.advance(actions)
        status = np.where((pool.status == PLAYING) & (counts.steps + 1 >= LONGEST), CUT, pool.status)
        before, ended = counts.done, counts.add(row_games, step, status)
        row_games[ended] += pool.rows
        if openings is not None and ended.any():
            step = pool.reset(_seeds(openings, row_games), ended)
        elif (endless := ended & (pool.status == PLAYING)).any():
            step = pool.reset(rows=endless)
        if tell and counts.done > before:
            tell(pool.name, counts.done, games)
    return counts.played()


def _seeds(openings: Array, numbers: Array) -> list[int]:
    """[rows] the seeds of the games with these numbers; rows that are through with theirs play on, uncounted."""
    seeds: list[int] = openings[numbers % len(openings)].tolist()
    return seeds


def by_game(spec: Spec, actions: Array) -> Array:
    """[rows(, k)] actions as [games(, seats)(, k)]: one axis more where all act at once."""
    return actions.reshape(-1, spec.views, *actions.shape[1:]) if spec.turns == "simultaneous" else actions


class Counts:
    """What the games of a pool have brought so far."""

    def __init__(self, pool: AnyPool, games: int) -> None:
        self.games, self.done, self.views = games, 0, pool.spec.views
        self.total, self.steps = np.zeros((pool.rows, pool.spec.seats)), np.zeros(pool.rows, np.int64)
        self.returns, self.lengths = np.zeros((games, pool.spec.seats)), np.zeros(games, np.int64)
        self.cut = np.zeros(games, bool)
        self.pool = pool
        self.measures = {name: np.zeros(games) for name in pool.measure(np.zeros(pool.rows, bool))}

    def add(self, row_games: Array, step: Step, status: Array) -> Array:
        """Count a step; the answer is [rows] which games it ended."""
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
        """The games that are done: all, or the first ones where game follows game in one row."""
        measures = {name: values[: self.done] for name, values in self.measures.items()}
        return Played(self.returns[: self.done], self.lengths[: self.done], self.cut[: self.done], measures)


def new_players(contestants: Sequence[Contestant], pool: AnyPool, seed: int) -> list[Player]:
    """Everybody who takes part in the games of a pool, each with random numbers of its own."""
    return [
        Player(f"player {place}", agent, params, pool, (seed % 2**64, place))
        for place, (agent, params) in enumerate(contestants)
    ]


def decide(
    players: Sequence[Player], spec: Spec, step: Step, deciding: Array, sitting: Array, key: Key | None = None
) -> Array:
    """The actions of all rows, each by the player whose number is in `sitting`; any legal one where none is needed."""
    actions = any_legal(spec, step)
    for place, player in enumerate(players):
        own = deciding & (sitting == place)
        player.notice(step)
        if not own.any():
            continue
        chosen = np.asarray(player.act(step, own, key).action)
        if chosen.shape != actions.shape or chosen.dtype.kind not in ("iub" if actions.dtype.kind == "i" else "iufb"):
            raise LudusError(
                f"{player.name} answered with {chosen.dtype} actions of shape {chosen.shape}; "
                f"this game wants {actions.dtype} of shape {actions.shape}"
            )
        actions[own] = chosen[own]
    return actions


def any_legal(spec: Spec, step: Step) -> Array:
    """[N(, k)] some legal action in every row."""
    if isinstance(spec.actions, Continuous):
        return np.tile(np.array(spec.actions.low, np.float64), (step_rows(step), 1))
    return step.mask.argmax(axis=1)
