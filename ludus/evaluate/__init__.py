"""Scores and matches between agents, with confidence intervals; and `exhaustive`, which proves instead of sampling.

An agent here is any `ludus.agents.Agent`, a game any name that `open_pool` knows, or a pool: its games are then closed
for new ones, and its rows are used instead of `rows`. Equal seeds give equal results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus.agents import Agent, seated
from ludus.bridges import AnyPool
from ludus.evaluate.playing import Hear, Played, Player, Tell, opened, play
from ludus.evaluate.proving import Lines, SeatLines, exhaustive
from ludus.statistics import Interval, interval, wilson
from ludus.types import Array, LudusError, Spec

__all__ = ["Lines", "Match", "Score", "SeatLines", "SeatMatch", "exhaustive", "match", "match_of", "score", "seated"]


class Score(NamedTuple):
    """What an agent got that played all seats."""

    games: int
    mean: float
    """return of a game, the mean of its seats"""
    interval: Interval
    """where the true mean lies, at 95 %"""
    seats: tuple[Interval, ...]
    """the mean return of each seat"""
    lengths: Array
    """[games] steps"""
    returns: Array
    """[games, seats]"""
    cut: int
    """how many games were cut off"""
    measures: dict[str, Interval]
    """means of what the game itself counts; shares where it is yes or no"""


class SeatMatch(NamedTuple):
    """How the first player did in one seat."""

    seat: int
    games: int
    wins: int
    draws: int
    losses: int
    interval: Interval
    """its mean return in this seat"""


class Match(NamedTuple):
    """How the first player did against the others. A game is won by who got more in it than everyone else."""

    games: int
    wins: int
    draws: int
    losses: int
    rate: Interval
    """wins, a draw counted as half a win, as a share of the games"""
    mean: float
    """return of the first player; of a game in which it held several seats, their mean"""
    interval: Interval
    seats: tuple[SeatMatch, ...]
    lengths: Array
    """[games] steps"""
    returns: Array
    """[games, players]"""
    cut: int
    """how many games were cut off"""


def score(
    game: str | AnyPool, agent: Agent, params: Any, games: int = 1000, seed: int = 0, rows: int = 256,
    tell: Tell | None = None,
) -> Score:  # fmt: skip
    """Let an agent play all seats of exactly `games` games, in at most `rows` at a time."""
    with opened(game, rows, games, seed) as pool:
        alone = np.zeros((1, pool.spec.seats), np.int64)
        played = play(pool, [(agent, params)], alone, games, seed, tell)
    whole = interval(played.returns.mean(axis=1))
    seats = tuple(interval(returns) for returns in played.returns.T)
    cut = int(played.cut.sum())
    measures = {name: _mean(values) for name, values in played.measures.items()}
    return Score(games, whole.estimate, whole, seats, played.lengths, played.returns, cut, measures)


def _mean(values: Array) -> Interval:
    """The mean of numbers, or the share of yes among zeros and ones, which has an interval of its own."""
    return wilson(int(values.sum()), len(values)) if np.isin(values, (0, 1)).all() else interval(values)


def match(
    game: str | AnyPool, players: Sequence[Player], games: int = 1000, seed: int = 0, rows: int = 256,
    tell: Tell | None = None, openings: Array | None = None, hear: Hear | None = None,
) -> Match:  # fmt: skip
    """Let (agent, params) pairs play each other, one pair a seat, or two that share all seats by turns.

    Each player sits in each seat equally often: in game g, seat s belongs to player (s + g) mod players.
    `openings` [games] gives every game a seed of its own, and `hear` hears every action: see `ludus.evaluate.playing`.
    """
    with opened(game, rows, games, seed) as pool:
        check_players(pool.name, pool.spec, len(players), games)
        seating = (np.arange(pool.spec.seats) + np.arange(len(players))[:, None]) % len(players)
        played = play(pool, players, seating, games, seed, tell, openings, hear)
    return match_of(played, seating[np.arange(games) % len(seating)], len(players))


def check_players(name: str, spec: Spec, players: int, games: int) -> None:
    """A sentence unless these players can share the seats of so many games equally."""
    if spec.seats < 2:
        raise LudusError(f"{name} has one seat, so nobody plays anybody; compare the scores of two agents instead")
    if players not in (2, spec.seats):
        raise LudusError(f"{name} has {spec.seats} seats; a match wants one player for each, or two, not {players}")
    if games % players:
        fewer, more = games - games % players, games - games % players + players
        near = f"{fewer} or {more}" if fewer else f"{more}"
        raise LudusError(f"{games} games do not let {players} players sit in each seat equally often; play {near}")


def match_of(played: Played, seating: Array, players: int) -> Match:
    """The figures of the first player; `seating` [games, seats] is who sat where. Of no game they say nothing."""
    held = seating[:, :, None] == np.arange(players)
    returns = (played.returns[:, :, None] * held).sum(axis=1) / held.sum(axis=1)
    ahead = np.sign(returns[:, 0] - returns[:, 1:].max(axis=1))
    wins, draws, losses = _tally(ahead)
    seats = tuple(
        _seat(seat, played.returns[own, seat], ahead[own]) for seat, own in enumerate(held[:, :, 0].T) if own.any()
    )
    games, cut = len(returns), int(played.cut.sum())
    rate = wilson(wins + draws / 2, games) if games else Interval(0.5, 0.0, 1.0)
    whole = interval(returns[:, 0]) if games else Interval(math.nan, -math.inf, math.inf)
    return Match(games, wins, draws, losses, rate, whole.estimate, whole, seats, played.lengths, returns, cut)


def _seat(seat: int, returns: Array, ahead: Array) -> SeatMatch:
    return SeatMatch(seat, len(returns), *_tally(ahead), interval(returns))


def _tally(ahead: Array) -> tuple[int, int, int]:
    """How often a player was ahead (1), level (0) and behind (-1) at the end."""
    return int((ahead > 0).sum()), int((ahead == 0).sum()), int((ahead < 0).sum())
