"""Evaluation in one call: a score with its confidence interval, and battles, for agents given as objects or names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ludus.agents.bound import BoundAgent, Named, agent, name_of_agent, name_of_game
from ludus.evaluation import battle as battles
from ludus.evaluation import parts, scores
from ludus.evaluation.battle import Battle, Tournament, game_of_runs, match_text, tournament_text
from ludus.evaluation.frames import frame
from ludus.evaluation.parts import Entrant, Spread
from ludus.evaluation.statistics import Interval
from ludus.types import JsonObject, LudusError

Player = BoundAgent | Named
"""an agent, its name (random, mcts(200)), a run, or the folder of a run"""


@dataclass(frozen=True)
class Score:
    """The result of an evaluation: against others the win rate (a draw is half a win), alone the mean return.

    >>> import ludus
    >>> score = ludus.evaluate("perfect", against="random", games=20, game="tictactoe")
    >>> [row["losses"] for row in score.rows]
    [0, 0]
    """

    interval: Interval
    """the estimate and its 95 % confidence interval"""
    games: int
    rows: tuple[JsonObject, ...]
    """one row for each seat: its games, mean return and interval; against others also wins, draws and losses"""

    @property
    def mean(self) -> float:
        return self.interval.estimate

    def to_dict(self) -> JsonObject:
        """The score as plain data."""
        return {"games": self.games, **dict(zip(("score", "low", "high"), self.interval, strict=True)),
                "seats": [dict(row) for row in self.rows]}  # fmt: skip

    def to_frame(self) -> Any:
        """The rows of the seats as a pandas DataFrame."""
        return frame([dict(row) for row in self.rows])

    def __repr__(self) -> str:
        return f"Score({in_short(self.interval)})"

    def __str__(self) -> str:
        return "\n".join((repr(self), *(f"  {_row_text(row)}" for row in self.rows)))


def in_short(interval: Interval) -> str:
    """`0.63 ± 0.05`: the estimate and half the width of its interval."""
    return f"{interval.estimate:.2f} ± {(interval.high - interval.low) / 2:.2f}"


def _row_text(row: JsonObject) -> str:
    tally = f", {row['wins']} won, {row['draws']} drawn, {row['losses']} lost" if "wins" in row else ""
    mean = in_short(Interval(row["mean"], row["low"], row["high"]))
    return f"seat {row['seat']}: mean return {mean} in {row['games']} games{tally}"


def evaluate(
    player: Player, against: Player | None = None, games: int = 200, game: str | Callable[[], Any] | None = None,
    seed: int = 0, spread: Spread = parts.here,
) -> Score:  # fmt: skip
    """The score of `ludus.evaluate`; `spread` plays the games, here or in the workers of a runtime."""
    name = _game([player], game)
    _check_games(games)
    first = agent(player, name)
    if first.spec.seats == 1:
        if against is not None:
            raise LudusError(f"{first.game} has one seat, so there is no opponent; omit against")
        return _alone(parts.evaluated(_entrant(first), name, games, seed, spread))
    other = agent("random" if against is None else against, name)
    return _against(parts.matched(_entrant(first), _entrant(other), first.spec, name, games, seed, spread))


def _entrant(player: BoundAgent) -> Entrant:
    return Entrant(player.kind, player.agent, player.params)


def _game(players: Sequence[Player], game: str | Callable[[], Any] | None) -> str:
    """The given game, or else the game of the first agent that has one."""
    if game is not None:
        return name_of_game(game)
    known = [player.game for player in players if isinstance(player, BoundAgent)]
    name = known[0] if known else game_of_runs([name_of_agent(player) for player in players])
    if name is None:
        raise LudusError('no game given, and none of the agents is a run; add for example game="tictactoe"')
    return name


def _check_games(games: int) -> None:
    if not isinstance(games, int):
        raise LudusError(f"games is {games!r}; expected a whole number")


def _alone(result: scores.SoloScore) -> Score:
    rows = tuple(_row(seat, result.games, interval) for seat, interval in enumerate(result.seats))
    return Score(result.interval, result.games, rows)


def _against(result: scores.Match) -> Score:
    rows = tuple(
        _row(row.seat, row.games, row.interval) | {"wins": row.wins, "draws": row.draws, "losses": row.losses}
        for row in result.seats
    )
    return Score(result.rate, result.games, rows)


def _row(seat: int, games: int, interval: Interval) -> JsonObject:
    return {"seat": seat, "games": games, "mean": interval.estimate, "low": interval.low, "high": interval.high}


def battle(
    *players: Player, game: str | None = None, games: int = 100, seed: int = 0, spread: Spread = parts.here
) -> BattleResult:
    """The result of `ludus.battle`; `spread` plays the games, here or in the workers of a runtime."""
    if len(players) < 2:
        raise LudusError(f"a battle needs two agents or more, not {len(players)}")
    name = _game(players, game)
    _check_games(games)
    kinds = [agent(player, name).kind for player in players]
    if len(kinds) == 2:
        return BattleResult(name, battles.battle(name, kinds, games, seed, spread=spread))
    return BattleResult(name, battles.tournament(name, kinds, games, seed, spread=spread))


@dataclass(frozen=True)
class BattleResult:
    """The result of `ludus.battle`; as text it is the table that `ludus battle` prints."""

    game: str
    result: Battle | Tournament

    def to_dict(self) -> JsonObject:
        """The result as plain data, as `ludus battle --json` prints it."""
        result = self.result
        return battles.facts(result) if isinstance(result, Battle) else battles.tournament_facts(result)

    def __repr__(self) -> str:
        result = self.result
        return match_text(self.game, result) if isinstance(result, Battle) else tournament_text(result)
