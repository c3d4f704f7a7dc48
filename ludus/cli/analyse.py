"""`ludus analyse`: statistics of a game from self-play."""

from __future__ import annotations

import contextlib
import pathlib
import sys

from ludus.cli.application import GameName, app, print_json, progress_bar


@app.command
def analyse(
    game: GameName, /, agent: str = "random", games: int = 1000, seed: int = 0, out: pathlib.Path | None = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Analyse a game by self-play: first-player advantage, length, draws, branching factor and unused actions.

    Args:
        game: Name of the game, optionally with parameters: lair(locks=2).
        agent: The player of all seats: random, greedy, scripted, perfect, best, mcts(200), trained, or a run.
        games: Number of games, 1 or more.
        seed: Random seed; the same seed gives the same games.
        out: PNG file to write, with plots of the balance, the lengths and the use of actions.
        json: Print one JSON object instead of text.
    """
    from ludus.evaluation import analysis, analysis_report

    if out is not None:
        analysis_report.check_plot(out)
    with progress_bar() if not json and sys.stderr.isatty() else contextlib.nullcontext() as tell:
        found = analysis.analyse(game, agent, games, seed, tell)
    if out is not None:
        analysis_report.plot(out, found)
    if json:
        print_json(analysis_report.facts(found))
    else:
        print(analysis_report.as_text(found) + (f"\nwrote {out}" if out is not None else ""))
