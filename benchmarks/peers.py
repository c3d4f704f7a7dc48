"""Compare Ludus with Pgx, gymnax and Gymnasium in one run: random legal play, with all outputs that training needs.

First the best batch size of each player is found; then all players of a game take turns, so that a disturbance affects
all of them. Results are medians.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import pathlib
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import tyro
from players import GAMES, QUICK, SEED, Effort, Player, Tally
from reporting import RESULTS, attempt, is_installed, publish, tell, warn_if_busy

from ludus import bench
from ludus.bench import Result


class Score(NamedTuple):
    """The result of a player over all rounds."""

    setting: str
    rate: float
    moves_per_game: float


def measure(game: str, effort: Effort) -> dict[str, Score | str]:
    """The scores of all players of a game; for a player that fails, the error message."""
    outcome: dict[str, Any] = {name: attempt(best, game, name, effort) for name in GAMES[game]}
    tell(f"{game}: taking turns, {effort.rounds} rounds")
    tallies: dict[str, list[tuple[float, Tally]]] = {name: [] for name in outcome}
    for name in list(outcome) * effort.rounds:
        if isinstance(outcome[name], Player):
            played = attempt(play_for, outcome[name], effort.seconds)
            if isinstance(played, str):
                outcome[name] = played
            else:
                tallies[name].append(played)
    return {name: score(it, tallies[name]) if isinstance(it, Player) else it for name, it in outcome.items()}


def best(game: str, name: str, effort: Effort) -> Player:
    """The fastest setting in a short trial; compilation happens before it."""
    trials: list[tuple[float, Player]] = []
    for player in GAMES[game][name](effort):
        player.play()
        rate = max(decisions_per_second(player, effort.seconds / 3) for _ in range(3))
        tell(f"{game}: trying {name} {player.setting}: {bench.readable(rate)} steps/s")
        trials.append((rate, player))
    return max(trials, key=lambda trial: trial[0])[1]


def decisions_per_second(player: Player, seconds: float) -> float:
    spent, tally = play_for(player, seconds)
    return tally.decisions / spent


def play_for(player: Player, seconds: float) -> tuple[float, Tally]:
    """Play whole pieces until the time is up; returns the time they took and their totals."""
    decisions = games = 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        piece = player.play()
        decisions, games = decisions + piece.decisions, games + piece.games
    return spent, Tally(decisions, games)


def score(player: Player, rounds: list[tuple[float, Tally]]) -> Score:
    rate = statistics.median(tally.decisions / spent for spent, tally in rounds)
    decisions, games = (sum(numbers) for numbers in zip(*(tally for _, tally in rounds), strict=True))
    return Score(player.setting, rate, decisions / max(1, games))


def report(effort: Effort) -> dict[str, Any]:
    """The JSON of a whole run: rates, lengths of games, ratios and failures."""
    outcomes = {game: measure(game, effort) for game in GAMES}
    scores = {game: {name: it for name, it in some.items() if isinstance(it, Score)} for game, some in outcomes.items()}
    document = bench.as_json(itertools.chain.from_iterable(results(game, scores[game]) for game in GAMES))
    document["hardware"] |= {name: importlib.metadata.version(name) for name in ("pgx", "gymnax") if is_installed(name)}
    document["results"] += [
        {"name": f"peers/{game}/{name}", "error": it}
        for game, some in outcomes.items()
        for name, it in some.items()
        if isinstance(it, str)
    ]
    chosen = {f"peers/{game}/{name}": it.setting for game, some in scores.items() for name, it in some.items()}
    return document | {"seed": SEED, "rounds": effort.rounds, "seconds": effort.seconds, "settings": chosen}


def results(game: str, scores: dict[str, Score]) -> Iterator[Result]:
    for name, it in scores.items():
        yield Result(f"peers/{game}/{name}", it.rate, "steps/s")
    for name, it in scores.items():
        yield Result(f"peers/{game}/{name}/moves_per_game", it.moves_per_game, "moves")
    for ours, theirs in itertools.permutations(scores, 2):
        if are_rivals(ours, theirs):
            yield Result(f"peers/{game}/{ours}_over_{theirs}", scores[ours].rate / scores[theirs].rate, "x")


def are_rivals(ours: str, theirs: str) -> bool:
    """The pool is compared with all peers, the pool with Gymnasium's interface only with Gymnasium."""
    interface = ours.removeprefix("ludus").removeprefix("_")
    return ours.startswith("ludus") and not theirs.startswith("ludus") and theirs.startswith(interface)


def main(quick: bool = False, json: bool = False, out: pathlib.Path | None = None) -> None:
    """Measure Ludus and its peers in one run.

    Args:
        quick: A short run to check that everything works; its numbers are not meaningful and not saved.
        json: Print one JSON object instead of a table.
        out: Where to save the results; default: results/peers.json next to this script.
    """
    warn_if_busy()
    document = report(QUICK if quick else Effort())
    publish(document, out or (None if quick else RESULTS / "peers.json"), json)


if __name__ == "__main__":
    tyro.cli(main)
