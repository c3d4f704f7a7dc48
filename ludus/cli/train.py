"""`ludus train`."""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import tyro

from ludus.cli.application import app, print_json
from ludus.cli.arguments import game_first, value_of
from ludus.types import JsonObject, LudusError

if TYPE_CHECKING:
    from ludus.runtimes.transport.job import AnyAlgorithm
    from ludus.training.config import Run
    from ludus.training.course import Report
    from ludus.training.opened import Opened

Place = TypeVar("Place")
HELP = (
    "Train an agent. Also: --resume RUN continues a run, --preset NAME, --out FOLDER, --json. Ctrl-C stops and saves. "
    "On several machines: mpiexec -n 4 ludus train GAME --runtime mpi."
)


@dataclass(frozen=True)
class Outer:
    """Flags of the command that are not settings of the run."""

    resume: pathlib.Path | None = None
    """continue the run in this folder from its newest checkpoint"""
    out: pathlib.Path = pathlib.Path("runs")
    """folder that contains the runs"""
    json: bool = False
    """print one JSON object at the end instead of a live panel"""
    preset: str = ""
    """name of another preset of the game; "none" uses only the defaults"""


@app.command(name="train")
def _train() -> None:
    """Train an agent: ludus train tictactoe --algorithm q_learning. Its flags: ludus train GAME --help."""


def train(arguments: list[str]) -> None:
    """Parse the flags in two steps, because the defaults come from the preset of game and algorithm; then train."""
    outer, rest = parted(arguments)
    if outer.resume is not None:
        _resume(outer, rest)
        return
    from ludus import runtimes
    from ludus.training import runs

    run = run_of(rest, outer.preset)
    with runtimes.session(run.runtime, run.settings) as role:
        if role == "learner":
            _take_part(run, None)
        elif role == "keeper":
            _watch(*runs.start(run, outer.out), outer.json, resume=False)


def parted(arguments: list[str]) -> tuple[Outer, list[str]]:
    """The flags of the command, and the remaining arguments, which describe the run."""
    return tyro.cli(Outer, args=arguments, return_unknown_args=True, add_help=False)


def run_of(arguments: list[str], variant: str = "") -> Run[AnyAlgorithm]:
    """The run that these arguments describe, for example: cartpole --algorithm ppo --mlp.width 128."""
    ordered = game_first(arguments)
    if not ordered or ordered[0].startswith("-"):
        if {"-h", "--help"} & set(arguments):
            tyro.cli(_run_kind("q_learning"), prog="ludus train", description=HELP, args=["--help"])
        raise LudusError("no game given, expected for example: ludus train tictactoe; ludus games lists the games")
    from ludus.training import config

    steps = value_of("--steps", ordered) or ""
    preset = config.resolve(
        ordered[0], value_of("--algorithm", ordered), variant, int(steps) if steps.isdigit() else None
    )
    # An unknown runtime or a setting of another one is reported like other errors, not in the box that tyro draws.
    preset = preset.replace(runtime=value_of("--runtime", ordered) or preset.runtime)
    _check_flags(ordered, preset)
    kind = _run_kind(preset.algorithm, preset.runtime)
    return tyro.cli(kind, prog="ludus train", description=HELP, args=ordered, default=preset)


def _check_flags(arguments: list[str], run: Run[AnyAlgorithm]) -> None:
    """Raise LudusError for a flag that only another runtime has."""
    from ludus.training import config

    known = config.field_names(run) | config.field_names(run.settings) | config.field_names(run.runtime_settings)
    for word in arguments:
        name = word.partition("=")[0].removeprefix("--").removeprefix("no-").replace("-", "_")
        if word.startswith("--") and name not in known and (hint := config.other_runtime(name, run.runtime)):
            raise LudusError(f'unknown setting "{word}"{hint}')


def _resume(outer: Outer, rest: list[str]) -> None:
    from ludus import runtimes
    from ludus.training import config
    from ludus.training.folder import SETTINGS

    assert outer.resume is not None
    run = config.read(outer.resume / SETTINGS)
    if rest:
        run = _changed(run, rest)
    with runtimes.session(run.runtime, run.settings) as role:
        if role == "learner":
            _take_part(run, outer.resume)
        elif role == "keeper":
            _watch(outer.resume, run, outer.json, resume=True)


def _changed(run: Run[AnyAlgorithm], arguments: list[str]) -> Run[AnyAlgorithm]:
    """The run with another length or place; other settings belong to the run."""
    from ludus import runtimes

    generic: Any = Resumed
    kind, now = generic[runtimes.settings_kind(run.runtime)], {name: getattr(run, name) for name in RESUMED}
    chosen = tyro.cli(kind, prog="ludus train --resume RUN", args=arguments, default=Resumed(**now))
    return dataclasses.replace(run, **{name: getattr(chosen, name) for name in RESUMED})


@dataclass(frozen=True)
class Resumed(Generic[Place]):
    """The settings that may change when a run is resumed."""

    steps: int
    """total number of decisions to learn from, including those before the resume"""
    episodes: int
    """total number of games, including those before the resume; 0 for no limit"""
    workers: int
    """number of workers; only the runtime ray continues with another number"""
    runtime_settings: Annotated[Place, tyro.conf.arg(name="")]
    """settings of the runtime, such as the address of another cluster"""


RESUMED = tuple(field.name for field in dataclasses.fields(Resumed))


def _run_kind(algorithm: str, runtime: str = "local") -> type[Run[AnyAlgorithm]]:
    """The Run type with the settings types of this algorithm and this runtime."""
    from ludus import algorithms, runtimes
    from ludus.training.config import Run

    generic: Any = Run  # type checkers reject a variable in Run[…]
    kind: type[Run[AnyAlgorithm]] = generic[algorithms.settings_kind(algorithm), runtimes.settings_kind(runtime)]
    return kind


def _take_part(run: Run[AnyAlgorithm], folder: pathlib.Path | None) -> None:
    from ludus.training import runs
    from ludus.training.interrupts import stop_signals

    with stop_signals() as stop:
        runs.take_part(run, stop.is_set, folder)


def _watch(folder: pathlib.Path, run: Run[AnyAlgorithm] | Opened, json: bool, resume: bool) -> None:
    """Train with a live panel, or with progress lines if standard error is not a terminal."""
    from ludus.training import runs
    from ludus.training.interrupts import stop_signals
    from ludus.training.panel import panel

    last = None
    with stop_signals() as stop, panel(sys.stderr, quiet=json) as show:
        for last in runs.carry_out(folder, run, stop.is_set, resume):
            show(last)
    assert last is not None
    if json:
        print_json(_facts(last))
    else:
        _print_summary(folder, last)


def _print_summary(folder: pathlib.Path, last: Report) -> None:
    score = last.score
    ending = "" if score is None else f", score {score.estimate:.4g} ({score.low:.4g} to {score.high:.4g})"
    print(f"{folder}: {last.steps:,} steps in {last.seconds:.1f} s{ending}")
    if last.finished and not last.metrics:
        print("the run was already finished; extend it with --steps")
    elif not last.finished:
        print(f"stopped and saved; continue with: ludus train --resume {folder}")


def _facts(report: Report) -> JsonObject:
    score = None if report.score is None else report.score._asdict()
    facts = {"run": str(report.folder), "steps": report.steps, "seconds": report.seconds, "score": score}
    facts |= {"finished": report.finished, "statistics": report.statistics.summary()}
    return facts | {"metrics": report.metrics, "checkpoint": None if report.saved is None else str(report.saved)}
