"""`ludus battle`, `replay`."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import sys
from typing import Annotated, Any

import tyro

from ludus.cli.application import app, print_json, progress_bar
from ludus.cli.playing import asker, check_scale
from ludus.types import LudusError


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
) -> None:
    """Let agents fight: two in a match, more in a round robin with ratings. Each opening is played from both sides.

    Args:
        agents: Who fights: random, perfect, scripted, best, mcts(200), lookahead, a run, a checkpoint, or person.
        game: Name of the game; where a run is among the agents, its game if none is given.
        games: How many games for every two agents.
        seed: Makes the games repeatable.
        keep: Write the first games of every two agents as replays into --out.
        out: The folder for replays and, of three or more agents, for the picture of who beats whom.
        json: Print one JSON object instead.
    """
    from ludus import battle as battles

    if keep and out is None:
        raise LudusError("say where the games shall be kept: --keep 10 --out battle")
    name = battles.game_of(agents, game)
    result = _fought(name, agents, games, seed, keep, json)
    written = [str(path) for path in battles.save(out, result)] if out is not None else []
    if json:
        facts = battles.facts(result) if isinstance(result, battles.Battle) else battles.tournament_facts(result)
        print_json({"game": name, "seed": seed, **facts, "files": written})
    else:
        _print_battle(name, result, written)


def _print_battle(game: str, result: Any, written: list[str]) -> None:
    from ludus import battle as battles

    print(battles.match_text(game, result) if isinstance(result, battles.Battle) else battles.tournament_text(result))
    if written:
        print(f"wrote {written[0]}" + (f" and {len(written) - 1} more" if len(written) > 1 else ""))


def _fought(game: str, agents: tuple[str, ...], games: int, seed: int, keep: int, json: bool) -> Any:
    """A battle of two, which may be in person, or a tournament; with a bar for those who watch."""
    from ludus import battle as battles
    from ludus.agents import person

    if person.NAME in agents:
        return battles.battle(game, agents, games, seed, keep, talk=_talk(json))
    fight: Any = battles.battle if len(agents) == 2 else battles.tournament
    with progress_bar() if not json and sys.stderr.isatty() else contextlib.nullcontext() as tell:
        return fight(game, agents, games, seed, keep, tell)


def _talk(json: bool) -> Any:
    """How a person is asked and told; beside the one JSON object that is for a program."""
    from ludus.battle import Talk

    return Talk(asker(sys.stderr), functools.partial(print, file=sys.stderr)) if json else Talk(asker())


@app.command
def replay(
    file: Annotated[pathlib.Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
    /,
    out: pathlib.Path | None = None,
    scale: float = 1.0,
    json: bool = False,
) -> None:
    """Watch a game that was kept: step by step here in the terminal, or as a picture.

    Args:
        file: The replay, as ludus battle --keep writes it.
        out: A .gif, .png or .svg to write instead (the last two show the end).
        scale: Size of the picture, from 0.1 to 4.
        json: Print what the file says, with the moves by their names, as one JSON object.
    """
    from ludus import replays

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


def _draw(game: Any, out: pathlib.Path, scale: float) -> None:
    """The game as a picture; a long one moves faster."""
    from ludus import pictures, replays
    from ludus.show import thinned

    frames = thinned(replays.frames(game))
    pictures.save(out, frames, replays.frame_size(game), fps=20 if len(frames) > 60 else 2, scale=scale)
