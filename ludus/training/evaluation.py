"""Evaluations and battles from Python: in this process, or spread over the workers of a runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ludus import runtimes
from ludus.evaluation import evaluate as evaluation
from ludus.evaluation.evaluate import BattleResult, Player, Score


def evaluate(
    player: Player, against: Player | None = None, games: int = 200, game: str | Callable[[], Any] | None = None,
    seed: int = 0, runtime: str = "local", workers: int = 0, **settings: object,
) -> Score:  # fmt: skip
    """Play `games` games and return the score: against another agent from all seats, or alone in a game of one seat.

    In games of several seats, `against` is "random" by default. `game` is needed if the agent is only a name;
    for an agent of a run it may have other parameters. The runtimes processes and ray play in several workers, with
    the same result; `settings` are those of the runtime, such as address="auto".

    >>> import ludus
    >>> ludus.evaluate("perfect", against="perfect", games=10, game="tictactoe").mean
    0.5
    """
    with runtimes.open_spread(runtime, workers, runtimes.settings_of(runtime, settings)) as spread:
        return evaluation.evaluate(player, against, games, game, seed, spread)


def battle(
    *players: Player, game: str | None = None, games: int = 100, seed: int = 0, runtime: str = "local",
    workers: int = 0, **settings: object,
) -> BattleResult:  # fmt: skip
    """Let two agents play a match, or more a round robin with ratings; print the result to see its table.

    `runtime`, `workers` and `settings` are as in `ludus.evaluate`.

    >>> import ludus
    >>> ludus.battle("perfect", "random", game="tictactoe", games=20).to_dict()["agents"]
    ['perfect', 'random']
    """
    with runtimes.open_spread(runtime, workers, runtimes.settings_of(runtime, settings)) as spread:
        return evaluation.battle(*players, game=game, games=games, seed=seed, spread=spread)
