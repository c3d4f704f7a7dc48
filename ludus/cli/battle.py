"""`ludus battle` and `ludus replay`."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import sys
from typing import TYPE_CHECKING, Annotated

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.cli.games import asker, check_scale
from ludus.cli.runtimes import RuntimeSettings, spread_of
from ludus.types import LudusError

if TYPE_CHECKING:
    from ludus.evaluation.battle import Battle, Talk, Tournament
    from ludus.evaluation.parts import Spread
    from ludus.evaluation.replays import Replay


@app.command
def battle(
    agents: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT AGENT …")],
    /,
    game: str | None = None,
    games: int = 1000,
    seed: int = 0,
    keep: int = 0,
    out: pathlib.Path | None = None,
    json: bool = False,
    runtime: str = "local",
    workers: int = 0,
    settings: RuntimeSettings = None,
) -> None:
    """Let agents play against each other: two in a match, more in a round robin with ratings, from both sides.

    Args:
        agents: The players: random, perfect, scripted, best, mcts(200), lookahead, a run, a checkpoint, or person.
        game: Name of the game; by default the game of a run among the agents.
        games: Number of games for each pair of agents, 1 to 10000000.
        seed: Random seed; the same seed gives the same games.
        keep: Number of games of each pair to write as replays into --out, 0 to 10000.
        out: Folder for replays and, with three or more agents, the picture of the results table.
        json: Print one JSON object instead of text.
        runtime: Where games are played: local (in this process), processes or ray; the result is the same.
        workers: Number of workers of the runtime; 0 for one per core.
    """
    from ludus.evaluation import battle as battles

    if keep and out is None:
        raise LudusError("--keep needs a folder for the replays: --keep 10 --out battle")
    name = battles.game_of(agents, game)
    with spread_of(runtime, workers, settings) as spread:
        result = _run_battle(name, agents, games, seed, keep, json, spread)
    written = [str(path) for path in battles.save(out, result)] if out is not None else []
    if json:
        facts = battles.facts(result) if isinstance(result, battles.Battle) else battles.tournament_facts(result)
        print_json({"game": name, "seed": seed, **facts, "files": written})
    else:
        _print_battle(name, result, written)


def _print_battle(game: str, result: Battle | Tournament, written: list[str]) -> None:
    from ludus.evaluation import battle as battles

    print(battles.match_text(game, result) if isinstance(result, battles.Battle) else battles.tournament_text(result))
    if written:
        print(f"wrote {written[0]}" + (f" and {len(written) - 1} more" if len(written) > 1 else ""))


def _run_battle(
    game: str, agents: tuple[str, ...], games: int, seed: int, keep: int, json: bool, spread: Spread
) -> Battle | Tournament:
    """The result of a battle of two or of a tournament, with a progress bar in a terminal."""
    from ludus.agents.players import person
    from ludus.evaluation import battle as battles

    if person.NAME in agents:
        return battles.battle(game, agents, games, seed, keep, talk=_prompts(json), spread=spread)
    with progress_bar() if not json and sys.stderr.isatty() else contextlib.nullcontext() as tell:
        if len(agents) == 2:
            return battles.battle(game, agents, games, seed, keep, tell, spread=spread)
        return battles.tournament(game, agents, games, seed, keep, tell, spread)


def _prompts(json: bool) -> Talk:
    """Prompts and messages for a person; on standard error when the result is JSON."""
    from ludus.evaluation.battle import Talk

    return Talk(asker(sys.stderr), functools.partial(print, file=sys.stderr)) if json else Talk(asker())


@app.command
def replay(
    file: Annotated[pathlib.Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
    /,
    out: pathlib.Path | None = None,
    scale: float = 1.0,
    json: bool = False,
) -> None:
    """Watch a recorded game: step by step in the terminal, or as a picture file.

    Args:
        file: Replay file, as written by ludus battle --keep.
        out: Picture to write instead: .gif or .mp4, or .png, .webp or .svg for the final position.
        scale: Scale factor of the picture, 0.1 to 4.
        json: Print the replay, with the names of the moves, as one JSON object.
    """
    from ludus.evaluation import replays

    check_scale(scale)
    game = replays.load(file)
    replays.verify(game)
    if out is not None:
        _draw(game, out, scale)
    if json:
        print_json({**replays.header(game), "moves": replays.action_names(game)})
    elif out is not None:
        print(f"{game.game}, {len(game.actions)} steps: {out}")
    else:
        print(f"{game.game}, seed {game.seed}: {' against '.join(game.agents)}")
        with contextlib.suppress(EOFError):
            replays.watch(game, print, input if sys.stdin.isatty() and sys.stdout.isatty() else None)


def _draw(game: Replay, out: pathlib.Path, scale: float) -> None:
    """Write the game as a picture; long games get a higher frame rate."""
    from ludus.evaluation import replays
    from ludus.evaluation.show import thinned
    from ludus.rendering import images

    frames = thinned(replays.frames(game))
    images.save(out, frames, replays.frame_size(game), fps=20 if len(frames) > 60 else 2, scale=scale)
