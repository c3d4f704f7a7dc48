"""Scores of agents and matches between them, with confidence intervals; `exhaustive` tries all lines of play.

A game is a name for `open_pool`, or a pool, whose games are then ended and whose rows are used instead of `rows`. Equal
seeds give equal results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ludus.agents import Agent, seated
from ludus.agents.player import Contestant
from ludus.agents.protocol import Params
from ludus.bridges import AnyPool
from ludus.evaluation.exhaustive import Lines, SeatLines, exhaustive
from ludus.evaluation.play import OnActions, Played, Tell, opened, play
from ludus.evaluation.statistics import Interval, interval, wilson
from ludus.types import Array, LudusError, Spec

__all__ = [
    "Lines",
    "Match",
    "SeatLines",
    "SeatMatch",
    "SoloScore",
    "exhaustive",
    "match",
    "match_of",
    "score",
    "seated",
]


class SoloScore(NamedTuple):
    """The results of an agent that played all seats."""

    games: int
    mean: float
    """mean return of a game, averaged over its seats"""
    interval: Interval
    """95 % confidence interval of the mean"""
    seats: tuple[Interval, ...]
    """the mean return of each seat"""
    lengths: Array
    """[games] steps"""
    returns: Array
    """[games, seats]"""
    cut: int
    """how many games were cut off"""
    measures: dict[str, Interval]
    """means of the measures that the game declares; proportions for measures of 0 and 1"""


class SeatMatch(NamedTuple):
    """The results of the first player in one seat."""

    seat: int
    games: int
    wins: int
    draws: int
    losses: int
    interval: Interval
    """mean return in this seat"""


class Match(NamedTuple):
    """The results of the first player against the others. The player with the highest return wins a game."""

    games: int
    wins: int
    draws: int
    losses: int
    rate: Interval
    """win rate, with a draw counted as half a win"""
    mean: float
    """mean return of the first player, averaged over its seats in a game"""
    interval: Interval
    seats: tuple[SeatMatch, ...]
    lengths: Array
    """[games] steps"""
    returns: Array
    """[games, players]"""
    cut: int
    """how many games were cut off"""


def score(
    game: str | AnyPool, agent: Agent, params: Params, games: int = 1000, seed: int = 0, rows: int = 256,
    tell: Tell | None = None, openings: Array | None = None,
) -> SoloScore:  # fmt: skip
    """Let an agent play all seats of exactly `games` games, in at most `rows` at a time.

    `openings` [games] gives every game its own seed; see `evaluation.play`.
    """
    with opened(game, rows, games, seed, openings) as pool:
        seating = seating_of(pool.spec, 1)
        return score_of(play(pool, [(agent, params)], seating, games, seed, tell, openings))


def score_of(played: Played) -> SoloScore:
    """The results of one player in all seats."""
    whole = interval(played.returns.mean(axis=1))
    seats = tuple(interval(returns) for returns in played.returns.T)
    cut = int(played.cut.sum())
    measures = {name: _mean(values) for name, values in played.measures.items()}
    return SoloScore(len(played.returns), whole.estimate, whole, seats, played.lengths, played.returns, cut, measures)


def seating_of(spec: Spec, players: int) -> Array:
    """[players, seats] the player in each seat of game g, in row g mod players: each has each seat equally often."""
    return (np.arange(spec.seats) + np.arange(players)[:, None]) % players


def _mean(values: Array) -> Interval:
    """The mean with Student's interval, or with Wilson's interval if all values are 0 or 1."""
    return wilson(int(values.sum()), len(values)) if np.isin(values, (0, 1)).all() else interval(values)


def match(
    game: str | AnyPool, players: Sequence[Contestant], games: int = 1000, seed: int = 0, rows: int = 256,
    tell: Tell | None = None, openings: Array | None = None, on_actions: OnActions | None = None,
) -> Match:  # fmt: skip
    """Let (agent, params) pairs play each other: one pair per seat, or two pairs that alternate in all seats.

    Each player sits in each seat equally often: in game g, seat s belongs to player (s + g) mod players.
    `openings` [games] gives every game its own seed, `on_actions` is called with all actions; see `evaluation.play`.
    """
    with opened(game, rows, games, seed, openings) as pool:
        check_players(pool.name, pool.spec, len(players), games)
        seating = seating_of(pool.spec, len(players))
        played = play(pool, players, seating, games, seed, tell, openings, on_actions)
    return match_of(played, seating[np.arange(games) % len(seating)], len(players))


def check_players(name: str, spec: Spec, players: int, games: int) -> None:
    """Raise LudusError unless these players can share the seats of `games` games equally."""
    if spec.seats < 2:
        raise LudusError(f"{name} has only one seat, so there are no matches; compare the scores of two agents instead")
    if players not in (2, spec.seats):
        raise LudusError(f"{name} has {spec.seats} seats; a match needs one player for each, or two, not {players}")
    if games % players:
        fewer, more = games - games % players, games - games % players + players
        near = f"{fewer} or {more}" if fewer else f"{more}"
        raise LudusError(f"with {games} games, {players} players cannot have each seat equally often; play {near}")


def match_of(played: Played, seating: Array, players: int) -> Match:
    """The results of the first player; `seating` [games, seats] is the player in each seat. There may be no games."""
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
    """Numbers of wins (ahead 1), draws (0) and losses (-1)."""
    return int((ahead > 0).sum()), int((ahead == 0).sum()), int((ahead < 0).sum())
