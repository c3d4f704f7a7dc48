"""Training from Python: `train` with a progress bar, `training` as a generator, and the run that results."""

from __future__ import annotations

import pathlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from ludus import runtimes
from ludus.agents.bound import BoundAgent, is_own_environment, load, name_of_game
from ludus.evaluation.frames import frame
from ludus.evaluation.statistics import Interval
from ludus.training import config, loggers, runs
from ludus.training.config import Run
from ludus.training.control import state_of
from ludus.training.course import Report
from ludus.training.folder import METRICS, SETTINGS, summary
from ludus.training.interrupts import stop_signals
from ludus.training.keywords import Settings
from ludus.training.panel import panel
from ludus.types import Array, LudusError

if TYPE_CHECKING:
    from ludus.training.plot import RunFigure

Out = str | pathlib.Path
OWN_NUM_ENVS = 16
"""default number of environments for those of the user, which Python steps one after the other"""


@dataclass(frozen=True)
class TrainingRun:
    """A run on disk: what `ludus.train` returns. Its files are read when they are needed.

    >>> import ludus
    >>> run = ludus.train("tictactoe", algorithm="q_learning", steps=20_000, progress=False)
    >>> run.steps >= 20_000, run.status, sorted(run.metrics)[:2]
    (True, 'finished', ['age', 'decisions'])
    """

    folder: pathlib.Path

    def __fspath__(self) -> str:
        """A run is accepted wherever its folder is: ludus.load(run), ludus.evaluate(run)."""
        return str(self.folder)

    @property
    def settings(self) -> Run[Any]:
        """All settings; `run.settings.replace(learning_rate=0.001)` gives changed ones."""
        return config.read(self.folder / SETTINGS)

    @property
    def agent(self) -> BoundAgent:
        """The agent of the newest checkpoint."""
        return load(self.folder)

    @property
    def metrics(self) -> dict[str, Array]:
        """Arrays by name, with one entry per update; NaN where an update has no value."""
        return loggers.columns(self.folder / METRICS)

    @property
    def score(self) -> Interval | None:
        """The newest score with its 95 % confidence interval; None before the first evaluation."""
        found = summary(self.folder)
        if found.score is None or found.low is None or found.high is None:
            return None
        return Interval(found.score, found.low, found.high)

    @property
    def steps(self) -> int:
        """Decisions that were learned from."""
        return summary(self.folder).steps

    @property
    def status(self) -> str:
        """training, paused, stopped, finished, failed or new."""
        return state_of(self.folder).status

    def to_frame(self) -> Any:
        """The metrics as a pandas DataFrame with one row per update."""
        return frame(self.metrics)

    def plot(self) -> RunFigure:
        """A matplotlib figure: the score with its interval, and the losses."""
        from ludus.training.plot import figure

        return figure(self.folder.name, self.metrics)

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score.estimate:.4g}"
        return f"<ludus run {self.folder}: {self.steps:,} steps{score}, {self.status}>"


def train(
    game: str | Callable[[], Any] | Any = None, algorithm: str | None = None, *, steps: float | None = None,
    episodes: float | None = None, resume: Out | TrainingRun | None = None, out: Out = "runs", preset: str = "",
    network: Any = None, progress: bool = True, **settings: Unpack[Settings],
) -> TrainingRun:  # fmt: skip
    """Train an agent and return the run; Ctrl-C stops and saves, and `resume=run` continues.

    `game` is a name, a Gymnasium environment, or a function that makes one. `network` is a Flax module of your own
    (docs/python.md). Every setting of `ludus train` is a keyword.

    >>> import ludus
    >>> run = ludus.train("tictactoe", algorithm="sarsa", episodes=500, learning_rate=0.2, progress=False)
    >>> run.agent.game
    'tictactoe'
    """
    last = None
    with stop_signals() as stop, panel(sys.stderr, quiet=not progress) as show:
        work = _Work(game, algorithm, steps, episodes, resume, out, preset, network, settings)
        for last in _reports(*work.open(), stop):
            show(last)
    assert last is not None
    return TrainingRun(last.folder)


def training(
    game: str | Callable[[], Any] | Any = None, algorithm: str | None = None, *, steps: float | None = None,
    episodes: float | None = None, resume: Out | TrainingRun | None = None, out: Out = "runs", preset: str = "",
    network: Any = None, **settings: Unpack[Settings],
) -> Iterator[Report]:  # fmt: skip
    """The same as a generator of reports, one per update, for a loop of your own; `break` stops and saves.

    >>> import ludus
    >>> for progress in ludus.training("tictactoe", algorithm="q_learning", steps=100_000):
    ...     if progress.steps >= 50_000:
    ...         break
    """
    work = _Work(game, algorithm, steps, episodes, resume, out, preset, network, settings)
    return _reports(*work.open(), threading.Event())


@dataclass(frozen=True)
class _Work:
    """The arguments of `train`."""

    game: Any
    algorithm: str | None
    steps: float | None
    episodes: float | None
    resume: Out | TrainingRun | None
    out: Out
    preset: str
    network: Any
    settings: Settings

    def open(self) -> tuple[pathlib.Path, Any, bool]:
        """The folder, the run, and whether it is resumed."""
        if self.network is not None and not isinstance(self.network, Mapping):
            from ludus.agents.neural.networks import own

            own.register(self.network)
        if self.resume is not None:
            return self._resumed(self.resume)
        if self.game is None:
            raise LudusError('no game given, expected for example ludus.train("tictactoe")')
        run = run_of(self.game, self.algorithm, self.preset, self.network, self._changes())
        check_runtime(run)
        return *runs.start(run, pathlib.Path(self.out)), False

    def _resumed(self, resume: Out | TrainingRun) -> tuple[pathlib.Path, Any, bool]:
        folder = resume.folder if isinstance(resume, TrainingRun) else pathlib.Path(resume)
        run = config.read(folder / SETTINGS)
        place = {"workers"} | config.field_names(run.runtime_settings)
        if set(self.settings) - place or self.algorithm is not None:
            raise LudusError(
                "a resumed run keeps its settings; only steps and episodes can be changed, and workers and settings "
                "of its runtime"
            )
        if self.game is not None:
            name_of_game(self.game)  # an environment object gets its name again
        run = run.replace(**self._changes())
        check_runtime(run)
        return folder, run, True

    def _changes(self) -> dict[str, object]:
        length = {"steps": self.steps, "episodes": self.episodes}
        return {name: _count(name, value) for name, value in length.items() if value is not None} | dict(self.settings)


def _count(name: str, value: object) -> int:
    """A number of steps or episodes, which may be written 1e6."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value // 1 or value < 1:
        raise LudusError(f"{name} is {value!r}; expected a whole number, 1 or more")
    return int(value)


def run_of(game: Any, algorithm: str | None, preset: str, network: Any, changes: Mapping[str, object]) -> Run[Any]:
    """The settings of a run: defaults, then the preset of the game, then the given ones."""
    if not isinstance(algorithm, str | None):
        raise LudusError(f'algorithm is {algorithm!r}; expected a name such as "ppo"')
    name, steps = name_of_game(game), changes.get("steps")
    run = config.resolve(name, algorithm, preset, steps if isinstance(steps, int) else None)
    usual = {} if isinstance(game, str) else {"num_envs": OWN_NUM_ENVS, "runtime": "local"}
    run = run.replace(**usual | dict(changes))
    if network is None:
        return run
    if isinstance(network, Mapping):
        return run.replace(network=network)
    if getattr(run.settings, "agent", None) != "mlp":
        raise LudusError(f"{run.algorithm} does not use a network of your own; use ppo with agent=mlp")
    from ludus.agents.neural.networks import own

    return run.replace(mlp={"network": own.register(network)})


def check_runtime(run: Run[Any]) -> None:
    """Raise LudusError for runtimes that are started as several processes, which only the command line can do."""
    if hasattr(runtimes.load(run.runtime), "session"):
        raise LudusError(f"the runtime {run.runtime} is started by mpiexec: mpiexec -n 4 ludus train {run.game}")
    own_network = bool(getattr(getattr(run.settings, "mlp", None), "network", ""))
    if (is_own_environment(run.game) or own_network) and run.runtime not in ("local", "threads"):
        raise LudusError(
            "an environment or network of your own exists only in this process; use the runtime local or threads"
        )


def _reports(folder: pathlib.Path, run: Any, resume: bool, stop: threading.Event) -> Iterator[Report]:
    reports = runs.carry_out(folder, run, stop.is_set, resume)
    try:
        for report in reports:  # noqa: UP028  (`yield from` would close `reports` before it can save)
            yield report
    except GeneratorExit:
        stop.set()
        for _ in reports:  # one more update, and a checkpoint
            pass
        raise
