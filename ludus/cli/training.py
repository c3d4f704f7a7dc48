"""`ludus train`."""

from __future__ import annotations

import dataclasses
import importlib
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import tyro

from ludus.cli.application import app, print_json
from ludus.types import LudusError

HELP = (
    "Train an agent. Also: --resume RUN goes on with a run, --preset NAME, --out FOLDER, --json; --coordinator "
    "HOST:PORT --processes 2 --process 0 on one machine, 1 on the next. Ctrl-C stops and saves."
)


@dataclass(frozen=True)
class Outer:
    """What is not a setting of the run itself."""

    resume: pathlib.Path | None = None
    """go on with the run in this folder, exactly where its newest checkpoint was saved"""
    out: pathlib.Path = pathlib.Path("runs")
    """where the folders of runs lie"""
    json: bool = False
    """print one JSON object at the end instead of a live panel"""
    preset: str = ""
    """another preset of the game than its usual one, by its name"""
    coordinator: str = ""
    """HOST:PORT of process 0, where several processes train one run together"""
    processes: int = 1
    """how many they are"""
    process: int = 0
    """which of them this is; process 0 keeps the run, the others play and learn and write nothing"""


@app.command(name="train")
def _train() -> None:
    """Train an agent: ludus train tictactoe --algorithm q_learning. Its flags: ludus train GAME --help."""


def train(arguments: list[str]) -> None:
    """Read the flags in two steps, because defaults come from the preset of game and algorithm; then train."""
    outer, rest = parted(arguments)
    if outer.resume is not None:
        _carry_on(outer, rest)
        return
    from ludus import runs

    run = run_of(rest, outer.preset)
    if run.runtime == "mpi" and _serves_as_a_rank():
        return
    with _together(outer, run):
        if outer.process:
            _take_part(runs.settle(run), None)
        else:
            folder, run = runs.start(run, outer.out)
            _watch(folder, run, outer.json, resume=False)


def parted(arguments: list[str]) -> tuple[Outer, list[str]]:
    """What is said about the process, and the words that are left: those about the run."""
    return tyro.cli(Outer, args=arguments, return_unknown_args=True, add_help=False)


def run_of(arguments: list[str], variant: str = "") -> Any:
    """The run that these words ask for: cartpole --algorithm ppo --mlp.width 128."""
    game = _game_of(arguments)
    if game is None:
        if {"-h", "--help"} & set(arguments):
            tyro.cli(_run_kind("q_learning"), prog="ludus train", description=HELP, args=["--help"])
        raise LudusError("say what to train on, like ludus train tictactoe; ludus games lists the games")
    from ludus import config

    preset = config.resolve(game, _value_of("--algorithm", arguments), variant)
    return tyro.cli(_run_kind(preset.algorithm), prog="ludus train", description=HELP, args=arguments, default=preset)


def _carry_on(outer: Outer, rest: list[str]) -> None:
    from ludus import config, runs
    from ludus.runs.folder import SETTINGS

    assert outer.resume is not None
    run = config.read(outer.resume / SETTINGS)
    if rest:
        # Only how long it goes on may change: with anything else it would not be the same run.
        longer = tyro.cli(Longer, prog="ludus train --resume RUN", args=rest, default=Longer(run.steps))
        run = dataclasses.replace(run, steps=longer.steps)
    if run.runtime == "mpi" and _serves_as_a_rank():
        return
    with _together(outer, run):
        run = runs.settled(outer.resume, run)
        if outer.process:
            _take_part(run, outer.resume)
        else:
            _watch(outer.resume, run, outer.json, resume=True)


@dataclass(frozen=True)
class Longer:
    """What may change when a run goes on."""

    steps: int
    """decisions to learn from, in all"""


def _run_kind(algorithm: str) -> Any:
    """The type of a run of this algorithm, its settings among the run's own."""
    from ludus import algorithms
    from ludus.config import Run

    generic: Any = Run
    return generic[algorithms.settings_kind(algorithm)]


def _game_of(arguments: list[str]) -> str | None:
    """The first word that is neither a flag nor the value of one; switches have none."""
    before, switches = "", _switches()
    for word in arguments:
        valued = before.startswith("--") and before not in switches and "=" not in before
        if not word.startswith("-") and not valued:
            return word
        before = "" if valued else word
    return None


def _switches() -> set[str]:
    """Every flag that is on or off."""
    from ludus.agents.networks.arguments import MLPArgs, ModelArgs
    from ludus.algorithms.ppo import PPO

    found = {"--help"}
    for prefix, kind in (("", PPO), ("mlp.", MLPArgs), ("model.", ModelArgs)):
        names = [field.name.replace("_", "-") for field in dataclasses.fields(kind) if field.type == "bool"]
        found |= {f"--{prefix}{sign}{name}" for name in names for sign in ("", "no-")}
    return found


def _value_of(flag: str, arguments: list[str]) -> str | None:
    for index, word in enumerate(arguments):
        if word == flag and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


def _serves_as_a_rank() -> bool:
    """Whether this process is a worker of mpiexec; if so, it has worked when this returns."""
    mpi = importlib.import_module("ludus.runtimes.mpi")

    if mpi.rank() == 0:
        return False
    mpi.serve()
    return True


@contextmanager
def _together(outer: Outer, run: Any) -> Iterator[None]:
    """As one of several processes, where flags say so."""
    if not outer.coordinator and (outer.processes, outer.process) == (1, 0):
        yield
        return
    if not outer.coordinator:
        raise LudusError("several processes must know where process 0 runs: --coordinator HOST:PORT")
    if not run.settings.DEEP:
        raise LudusError(f"{run.algorithm} has no use for --coordinator; take --runtime processes or mpi")
    from ludus.config import to_toml
    from ludus.runtimes import meeting

    with _own_output(), meeting.together(outer.coordinator, outer.processes, outer.process, to_toml(run)):
        yield


@contextmanager
def _own_output() -> Iterator[None]:
    """Standard output for us alone: what libraries print there, as Gloo does, goes where messages go."""
    with os.fdopen(os.dup(1), "w") as ours, redirect_stdout(ours):
        os.dup2(2, 1)
        try:
            yield
        finally:
            os.dup2(ours.fileno(), 1)


def _take_part(run: Any, folder: pathlib.Path | None) -> None:
    from ludus import runs

    with _stopping() as stop:
        runs.take_part(run, stop.is_set, folder)


def _watch(folder: pathlib.Path, run: Any, json: bool, resume: bool) -> None:
    """Carry out a run with a live panel, or a line now and then where nobody watches."""
    from ludus import runs
    from ludus.cli.panel import panel

    last = None
    with _stopping() as stop, panel(sys.stderr, quiet=json) as show:
        for last in runs.carry_out(folder, run, stop.is_set, resume):
            show(last)
    assert last is not None
    if json:
        print_json(_facts(last))
    else:
        _tell_end(folder, last)


def _tell_end(folder: pathlib.Path, last: Any) -> None:
    score = last.score
    ending = "" if score is None else f", score {score.estimate:.4g} ({score.low:.4g} to {score.high:.4g})"
    print(f"{folder}: {last.steps:,} steps in {last.seconds:.1f} s{ending}")
    if last.finished and not last.metrics:
        print("it was finished before; make it longer with --steps")
    elif not last.finished:
        print(f"stopped and saved; go on with: ludus train --resume {folder}")


def _facts(report: Any) -> dict[str, Any]:
    score = None if report.score is None else report.score._asdict()
    facts = {"run": str(report.folder), "steps": report.steps, "seconds": report.seconds, "score": score}
    facts |= {"finished": report.finished}
    return facts | {"metrics": report.metrics, "checkpoint": None if report.saved is None else str(report.saved)}


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """The first Ctrl-C (or SIGTERM) asks for a clean end; the second one is not asked."""
    stop = threading.Event()

    def ask(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        # Not print: a signal may come in the middle of one.
        os.write(2, b"\nludus: stopping after this chunk and saving; once more to stop at once\n")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
