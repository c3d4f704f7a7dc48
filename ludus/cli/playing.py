"""`ludus games`, `show`, `play`, `new`, `check`, `golden`, `warmup`, `demo`."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any, TextIO

import tyro

from ludus.cli.application import GameName, app, print_json
from ludus.types import LudusError


@app.command(name="games")
def list_games(json: bool = False) -> None:
    """List the games, a line each.

    Args:
        json: Print one JSON object instead.
    """
    from ludus import agents, games

    found = [games.load(name) for name in games.names()]
    if json:
        print_json({"games": [_facts(game, agents.kinds_for(game.name)) for game in found]})
        return
    for game in found:
        print(f"{game.name:<12} {game.summary}")
        for key, parameter in games.parameters_of(game.rules).items():
            print(f"{'':<12}   {key}={parameter.default}: {parameter.meaning}")


@app.command
def show(
    game: GameName,
    /,
    seed: int = 0,
    steps: int = 200,
    out: pathlib.Path | None = None,
    agent: str = "best",
    scale: float = 1.0,
    columns: int = 80,
    json: bool = False,
) -> None:
    """Play a game and draw it: to a .png, .webp, .svg, .gif or .mp4 file, or here in the terminal.

    Args:
        game: Name of the game, with parameters if you like: car(track=7).
        seed: Which game of all possible ones.
        steps: How long to watch.
        out: The picture to write; its ending says which kind.
        agent: Who plays: best, perfect, scripted, random, mcts, trained, lookahead, or the folder of a run.
        scale: Size of the picture in the file, from 0.1 to 4.
        columns: Width of the picture in the terminal.
        json: Print how it went as one JSON object.
    """
    from ludus import show as showing

    _check_show(out, scale, steps, columns)
    kind = "" if out is None else out.suffix.lower()
    most = {".gif": showing.LONGEST_GIF, ".mp4": showing.LONGEST_VIDEO}.get(kind, steps)
    result = showing.play(game, agent, seed, steps, every=-(-steps // most))
    if out is not None:
        _draw_show(result, out, scale, _pace(game) if kind == ".mp4" else 20.0)
    if json:
        print_json({"game": game, "steps": result.steps, "games": result.games, "returns": result.returns})
    else:
        _print_show(result, out, columns)


def _pace(game: str) -> float:
    """How fast one likes to watch a game; a foreign one as fast as most films."""
    from ludus import games

    return 24.0 if ":" in game else games.load(game).pace


def _draw_show(result: Any, out: pathlib.Path, scale: float, fps: float) -> None:
    from ludus import pictures

    frames = len(result.frames) if out.suffix.lower() in pictures.MOVING else 1
    print(f"ludus: drawing {frames} frame(s) …", file=sys.stderr)
    pictures.save(out, result.frames, result.frame, fps, scale)


def _print_show(result: Any, out: pathlib.Path | None, columns: int) -> None:
    if out is None:
        _animate(result.frames, result.frame, columns)
        print(result.text)
    else:
        print(f"{result.steps} steps, {result.games} game(s), returns {_short(result.returns)}: {out}")


def _check_show(out: pathlib.Path | None, scale: float, steps: int, columns: int) -> None:
    """A sentence unless this can be drawn; before anything is played."""
    from ludus.pictures import ENDINGS, MOVING, STILL

    if out is not None and out.suffix.lower() not in STILL + MOVING:
        raise LudusError(f'cannot write a picture to "{out}"; let its name end in {ENDINGS}')
    if not (0.1 <= scale <= 4 and 1 <= steps <= 1_000_000 and 10 <= columns <= 1000):
        raise LudusError("let --scale be 0.1 to 4, --steps 1 to 1000000 and --columns 10 to 1000")


@app.command
def play(
    game: GameName,
    /,
    against: str = "best",
    seat: int = 0,
    seed: int | None = None,
    window: bool = False,
) -> None:
    """Play a game yourself: in the terminal, or in a window with keys and clicks, where a car can be driven.

    Args:
        game: Name of the game.
        against: Who has the other seats: best, perfect, scripted, random, mcts, trained, lookahead, or a run. In a
            window the space bar hands your seat to it and back.
        seat: Your seat; seat 0 begins.
        seed: Makes chance and the opponent repeatable.
        window: Open a window.
    """
    from ludus import terminal

    number = time.time_ns() % 2**31 if seed is None else seed
    if window:
        from ludus import window as windows

        windows.play(game, against, seat, number, print)
    else:
        terminal.play(game, against, seat, number, asker(), print)


@app.command
def new(name: Annotated[str, tyro.conf.Positional], /) -> None:
    """Write a new game to start from.

    Args:
        name: Its name, which becomes the name of its file.
    """
    from ludus import scaffold

    path = scaffold.new_game(name)
    print(f"wrote {path}\nnow: ludus show {name}; ludus check {name}; ludus golden {name}")


@app.command
def check(game: GameName, /, json: bool = False) -> None:
    """Ask a game everything the conformance suite asks.

    Args:
        game: Name of the game.
        json: Print one JSON object instead.
    """
    from ludus import conformance

    findings = conformance.check_game(game)
    if json:
        print_json({"game": game, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.passed else 'FAIL'} {finding.check}: {finding.sentence}")
    if not all(finding.passed for finding in findings):
        sys.exit(1)


@app.command(name="golden")
def record_golden(game: GameName, /, seed: int = 1) -> None:
    """Record the golden game of a game: a readable text that the tests replay.

    Args:
        game: Name of the game.
        seed: Which game to record.
    """
    from ludus import golden, pictures

    path = golden.golden_path(game)
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures.write_whole(path, golden.record(game, seed).encode())
    print(f"wrote {path}")


@app.command
def warmup(names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()) -> None:
    """Compile games and their players now, so that nothing waits later.

    Args:
        names: Only these games.
    """
    from ludus import agents, games
    from ludus.pool import Pool, note_compiled

    for name in names or games.names():
        start = time.perf_counter()
        pool = Pool(name, 1, threads=1)
        for agent in (agents.seated(agents.load(kind, name), pool) for kind in agents.kinds_for(name)):
            params, memory = agent.init(pool.spec, 0), agent.memory(1)
            for move in range(20):  # beyond what a player knows by heart
                pool.advance(agent.act(params, memory, pool.step, move)[0].action)
            pool.reset()
        pool.play_randomly(1)
        if hasattr(pool.game.rules, "scene"):
            pool.scene()
        note_compiled(pool.game, "everything")
        print(f"{name:<12} ready in {time.perf_counter() - start:.1f} s")


@app.command
def demo(out: pathlib.Path = pathlib.Path("demo"), scale: float = 1.0, gallery: pathlib.Path | None = None) -> None:
    """Play every game and leave a still and a moving picture of each.

    Args:
        out: The folder for the pictures.
        scale: Size of the pictures, from 0.1 to 4.
        gallery: Make the small pictures of the studio's gallery in this folder, and nothing else.
    """
    from ludus import games
    from ludus import show as showing

    check_scale(scale)
    if gallery is not None:
        _make_gallery(gallery)
        return
    out.mkdir(parents=True, exist_ok=True)
    for name in games.names():
        print(f"ludus: playing and drawing {name} …", file=sys.stderr, flush=True)
        result = showing.demo(out, name, scale=scale)
        print(f"{name:<12} {result.steps} steps, returns {_short(result.returns)}: {out / name}.png, {out / name}.gif")


def _make_gallery(folder: pathlib.Path) -> None:
    from ludus import games
    from ludus import show as showing

    folder.mkdir(parents=True, exist_ok=True)
    for name in games.names():
        path = showing.gallery(folder, name)
        print(f"{name:<12} {'has no scene' if path is None else f'{path}, {path.stat().st_size / 1000:.1f} kB'}")


def check_scale(scale: float) -> None:
    """A sentence unless a picture of this size can be drawn."""
    if not 0.1 <= scale <= 4:
        raise LudusError(f"let --scale be 0.1 to 4, not {scale:g}")


def asker(prompts: TextIO | None = None) -> Callable[[str], str]:
    """Asks at the keyboard, with its prompts on standard output or the stream given; a sentence if nobody is there.

    Once something was typed the end of the input is an EOFError, as for `input`: then somebody was there and left.
    """
    answered = False

    def ask(prompt: str) -> str:
        nonlocal answered
        if prompts is not None:
            print(prompt, end="", file=prompts, flush=True)
        try:
            # Without any standard input Python has no sys.stdin, and `input` a RuntimeError.
            words = input("" if prompts is not None else prompt)
        except (EOFError, RuntimeError):
            if answered:
                raise EOFError from None
            raise LudusError("a person is to play and the input is closed; run this in a terminal") from None
        answered = True
        return words

    return ask


def _facts(game: Any, kinds: list[str]) -> dict[str, Any]:
    spec = game.spec
    facts = {"name": game.name, "title": game.title, "summary": game.summary, "seats": spec.seats, "turns": spec.turns}
    return facts | {"actions": spec.actions._asdict(), "parameters": game.settings, "agents": kinds}


def _animate(frames: list[Any], frame: tuple[int, int], columns: int) -> None:
    """In a terminal the game moves; into a file or a pipe goes its last picture."""
    from ludus import pictures

    if not sys.stdout.isatty():
        for shapes in frames[-1:]:
            print(pictures.terminal(shapes, frame, columns))
        return
    for index, shapes in enumerate(frames):
        picture = pictures.terminal(shapes, frame, columns)
        print(picture if index == 0 else f"\x1b[{picture.count(chr(10)) + 1}A{picture}", flush=True)
        time.sleep(1 / 20 if len(frames) > 60 else 1 / 3)


def _short(numbers: list[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers[:6]) + (" …" if len(numbers) > 6 else "")
