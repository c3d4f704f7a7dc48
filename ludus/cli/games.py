"""`ludus games`, `show`, `play`, `new`, `check`, `golden`, `warmup`, `demo`."""

from __future__ import annotations

import functools
import pathlib
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TextIO

import tyro

from ludus.cli.application import GameName, app, print_json, progress_bar
from ludus.files import write_atomically
from ludus.types import Array, JsonObject, LudusError

if TYPE_CHECKING:
    from ludus.evaluation.preparation import Progress, Report
    from ludus.evaluation.show import Show
    from ludus.games import Game


@app.command(name="games")
def list_games(json: bool = False) -> None:
    """List the games, one per line.

    Args:
        json: Print one JSON object instead of text.
    """
    from ludus import agents, games

    found = games.catalogue()
    if json:
        print_json({"games": [_facts(name, game, error, agents.kinds_for(name)) for name, game, error in found]})
        return
    for name, game, error in found:
        print(f"{name:<12} {game.summary if game else f'ERROR: {error.splitlines()[0]}'}")
        for key, parameter in games.parameters_of(game.rules).items() if game else ():
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
    """Play a game and draw it to a .png, .webp, .svg, .gif or .mp4 file, or in the terminal.

    Args:
        game: Name of the game, optionally with parameters: car(track=7).
        seed: Random seed of the game.
        steps: Maximum number of steps, 1 to 1000000; a game with several seats is shown only to its end.
        out: Picture file to write; its suffix selects the format. By default the game is drawn in the terminal.
        agent: The player: best, perfect, scripted, random, mcts, trained, lookahead, or the folder of a run.
        scale: Scale factor of the picture in the file, 0.1 to 4.
        columns: Width of the picture in the terminal in characters, 10 to 1000.
        json: Print the number of steps and games and the returns as one JSON object.
    """
    from ludus.evaluation import show as showing

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
    """Frames per second of a game's video; 24 for games of a bridge."""
    from ludus import games

    return 24.0 if ":" in game else games.load(game).pace


def _draw_show(result: Show, out: pathlib.Path, scale: float, fps: float) -> None:
    from ludus.rendering import images

    frames = len(result.frames) if out.suffix.lower() in images.MOVING else 1
    print(f"ludus: drawing {frames} frame(s) …", file=sys.stderr)
    images.save(out, result.frames, result.frame, fps, scale)


def _print_show(result: Show, out: pathlib.Path | None, columns: int) -> None:
    if out is None:
        _animate(result.frames, result.frame, columns)
        print(result.text)
    else:
        print(f"{result.steps} steps, {result.games} game(s), returns {_short(result.returns)}: {out}")


def _check_show(out: pathlib.Path | None, scale: float, steps: int, columns: int) -> None:
    """Raise LudusError before playing if the picture cannot be drawn with these flags."""
    from ludus.rendering.images import ENDINGS, MOVING, STILL

    if out is not None and out.suffix.lower() not in STILL + MOVING:
        raise LudusError(f'cannot write a picture to "{out}"; its name must end in {ENDINGS}')
    if not (0.1 <= scale <= 4 and 1 <= steps <= 1_000_000 and 10 <= columns <= 1000):
        raise LudusError("--scale must be 0.1 to 4, --steps 1 to 1000000 and --columns 10 to 1000")


@app.command
def play(
    game: GameName,
    /,
    against: str = "best",
    seat: int = 0,
    seed: int | None = None,
    window: bool = False,
) -> None:
    """Play a game yourself: in the terminal, or in a window with keyboard and mouse.

    Args:
        game: Name of the game.
        against: The opponent in the other seats: best, perfect, scripted, random, mcts, trained, lookahead, or a run.
        seat: Your seat, 0 to the number of seats - 1; seat 0 begins, unless the game decides otherwise.
        seed: Random seed of the game and the opponent; by default a different one each time.
        window: Play in a window; there the space bar lets the agent play your seat, and takes it back.
    """
    from ludus.evaluation import terminal

    number = time.time_ns() % 2**31 if seed is None else seed
    if window:
        from ludus.evaluation import window as windows

        windows.play(game, against, seat, number, print)
    else:
        terminal.play(game, against, seat, number, asker(), print)


@app.command
def new(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")], /, out: pathlib.Path | None = None
) -> None:
    """Write the source file of a new game, to start from, into ludus_games in the current folder.

    Args:
        name: Name of the game and of its file: letters a to z and A to Z, digits and _, with a letter first.
        out: Another folder for the file. In a source checkout, ludus/games adds the game to the package.
    """
    from ludus import games
    from ludus.evaluation import scaffold

    path = scaffold.new_game(name, out)
    print(f"wrote {path}")
    if name not in games.names():
        print(f"to let ludus find it, set LUDUS_GAMES={path.parent}")
    print(f"next: ludus show {name}; ludus check {name}; ludus golden {name}")


@app.command
def check(game: GameName, /, json: bool = False) -> None:
    """Run the conformance checks on a game.

    Args:
        game: Name of the game.
        json: Print one JSON object instead of text.
    """
    from ludus.evaluation import conformance

    findings = conformance.check_game(game)
    if json:
        print_json({"game": game, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.passed else 'FAIL'} {finding.check}: {finding.sentence}")
    if not all(finding.passed for finding in findings):
        sys.exit(1)


@app.command(name="golden")
def record_golden(game: GameName, /, seed: int = 1, check: bool = False) -> None:
    """Record a golden game: a readable text file that is replayed later to detect changed rules.

    Args:
        game: Name of the game.
        seed: Random seed of the game to record.
        check: Replay the recorded game instead, and report the first line that differs.
    """
    from ludus.evaluation import golden

    path = golden.golden_path(game)
    if check:
        _check_golden(path, game)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, golden.record(game, seed).encode())
    print(f"wrote {path}")


def _check_golden(path: pathlib.Path, game: str) -> None:
    from ludus.evaluation import golden

    if not path.is_file():
        raise LudusError(f'there is no golden game "{path}" yet; record it with: ludus golden {game}')
    if difference := golden.check(path.read_text(encoding="utf-8")):
        print(f"{path}: {difference}")
        sys.exit(1)
    print(f"{path} replays without a difference")


@app.command
def warmup(
    names: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[GAME …]")] = (),
    /,
    json: bool = False,
) -> None:
    """Compile games and their players now, so that later commands start at once.

    Args:
        names: Games to compile; by default all.
        json: Print the progress as JSON objects, one per line.
    """
    from ludus.evaluation.preparation import compile_game

    chosen = names or tuple(_loadable())
    if json:
        for name in chosen:
            compile_game(name, functools.partial(_print_progress, name))
        return
    with progress_bar("compiled") as bar:
        for ready, name in enumerate(chosen):
            start = time.perf_counter()
            compile_game(name, _warmup_report(bar, name, ready, len(chosen)))
            print(f"{name:<12} ready in {time.perf_counter() - start:.1f} s")


def _print_progress(name: str, progress: Progress) -> None:
    print_json({"game": name, **progress._asdict()})


def _warmup_report(bar: Callable[[str, float, float], None], name: str, ready: int, games: int) -> Report:
    """Show the progress of one game in the bar of all games."""

    def report(progress: Progress) -> None:
        left = f", about {progress.seconds_left:.0f} s left" if progress.done < 1 else ""
        bar(f"compiling {name}: {progress.part}{left}", ready + progress.done, games)

    return report


def _loadable() -> list[str]:
    """Names of the games that load; those that do not are reported on standard error."""
    from ludus import games

    found = games.catalogue()
    for name, game, error in found:
        if game is None:
            print(f"ludus: skipping {name}, which does not load: {error}", file=sys.stderr)
    return [name for name, game, _ in found if game]


@app.command
def demo(out: pathlib.Path = pathlib.Path("demo"), scale: float = 1.0, gallery: pathlib.Path | None = None) -> None:
    """Play every game and write a still and an animated picture of each.

    Args:
        out: Folder for the pictures.
        scale: Scale factor of the pictures, 0.1 to 4.
        gallery: Write only the small pictures of the studio's gallery, into this folder.
    """
    from ludus.evaluation import show as showing

    check_scale(scale)
    if gallery is not None:
        _make_gallery(gallery)
        return
    out.mkdir(parents=True, exist_ok=True)
    for name in _loadable():
        print(f"ludus: playing and drawing {name} …", file=sys.stderr, flush=True)
        result = showing.demo(out, name, scale=scale)
        print(f"{name:<12} {result.steps} steps, returns {_short(result.returns)}: {out / name}.png, {out / name}.gif")


def _make_gallery(folder: pathlib.Path) -> None:
    from ludus.evaluation import show as showing

    folder.mkdir(parents=True, exist_ok=True)
    for name in _loadable():
        path = showing.gallery(folder, name)
        print(f"{name:<12} {'has no scene' if path is None else f'{path}, {path.stat().st_size / 1000:.1f} kB'}")


def check_scale(scale: float) -> None:
    """Raise LudusError if a picture of this size cannot be drawn."""
    if not 0.1 <= scale <= 4:
        raise LudusError(f"--scale must be 0.1 to 4, not {scale:g}")


def asker(prompts: TextIO | None = None) -> Callable[[str], str]:
    """A function like `input` that prints its prompts on standard output or on the given stream.

    It raises LudusError if the input is closed before the first answer, and EOFError, like `input`, after it.
    """
    answered = False

    def ask(prompt: str) -> str:
        nonlocal answered
        if prompts is not None:
            print(prompt, end="", file=prompts, flush=True)
        try:
            # Without standard input sys.stdin is None and `input` raises RuntimeError.
            words = input("" if prompts is not None else prompt)
        except (EOFError, RuntimeError):
            if answered:
                raise EOFError from None
            raise LudusError("a person plays but standard input is closed; run this in a terminal") from None
        answered = True
        return words

    return ask


def _facts(name: str, game: Game | None, error: str, kinds: list[str]) -> JsonObject:
    if game is None:
        return {"name": name, "error": error}
    spec = game.spec
    facts = {"name": game.name, "title": game.title, "summary": game.summary, "seats": spec.seats, "turns": spec.turns}
    return facts | {"actions": spec.actions._asdict(), "parameters": game.settings, "agents": kinds}


def _animate(frames: list[Array], frame: tuple[int, int], columns: int) -> None:
    """Animate the game in a terminal; into a file or a pipe print only the last picture."""
    from ludus.rendering import images

    if not sys.stdout.isatty():
        for shapes in frames[-1:]:
            print(images.terminal(shapes, frame, columns))
        return
    for index, shapes in enumerate(frames):
        picture = images.terminal(shapes, frame, columns)
        print(picture if index == 0 else f"\x1b[{picture.count(chr(10)) + 1}A{picture}", flush=True)
        time.sleep(1 / 20 if len(frames) > 60 else 1 / 3)


def _short(numbers: list[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers[:6]) + (" …" if len(numbers) > 6 else "")
