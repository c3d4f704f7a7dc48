"""The runs of a sweep as trials of Ray Tune.

Every trial trains a run in a folder of its own machine and sends the files back, so machines need no shared folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ludus.algorithms.settings import nested
from ludus.files import write_atomically
from ludus.runtimes.transport.ray_cluster import RaySettings, connected, load_ray
from ludus.runtimes.transport.ray_worker import environment
from ludus.training import config, runs
from ludus.training.config import Run
from ludus.training.folder import SETTINGS
from ludus.types import LudusError

QUIET = {"RAY_AIR_NEW_OUTPUT": "0", "RAY_CHDIR_TO_TRIAL_DIR": "0", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}
"""environment of Tune: it prints nothing, trials keep their working directory, and it logs no results of its own"""
MAX_FAILURES = 3
"""how often Tune starts a trial again whose process or machine has died"""

Files = dict[str, bytes]
"""the files of a run by their paths in its folder"""


class Deliveries:
    """An actor that holds the files of finished runs until the sweep takes them."""

    def __init__(self) -> None:
        self.held: dict[str, Files] = {}

    def put(self, run: str, files: Files) -> None:
        self.held[run] = files

    def take(self, run: str) -> Files:
        return self.held.pop(run)


def parted(settings: Mapping[str, object]) -> tuple[RaySettings, dict[str, object]]:
    """The settings of Ray among those of a sweep, and the others."""
    names = {field.name for field in dataclasses.fields(RaySettings)}
    own = {name: value for name, value in settings.items() if name in names}
    others = {name: value for name, value in settings.items() if name not in names}
    return nested(RaySettings, own, "this sweep"), others


def train_runs(plans: Sequence[Run[Any]], out: pathlib.Path, workers: int, settings: RaySettings) -> list[pathlib.Path]:
    """Train runs, `workers` at the same time, or if that is 0, as many as Ray has CPUs for; returns their folders."""
    load_ray()
    folders = [runs.prepare(plan, out) for plan in plans]
    name = f"ludus-sweep-{uuid.uuid4().hex[:8]}"
    with connected(settings, name) as ray, tempfile.TemporaryDirectory(prefix=name) as storage, _quiet():
        deliveries = (
            ray.remote(Deliveries).options(name="ludus-sweep-finished-runs", namespace=name, num_cpus=0).remote()
        )
        try:
            _fit(name, storage, folders, workers, settings, deliveries)
            for folder in folders:
                _write(folder, ray.get(deliveries.take.remote(folder.name)))
        finally:
            ray.kill(deliveries)
    return folders


def _fit(
    name: str, storage: str, folders: Sequence[pathlib.Path], workers: int, settings: RaySettings, deliveries: Any
) -> None:
    """Let Tune train a run in each trial; a trial has the name of its run."""
    tune = _load_tune()
    texts = {folder.name: (folder / SETTINGS).read_text(encoding="utf-8") for folder in folders}
    variables = environment()
    if settings.gpus_per_learner:
        del variables["JAX_PLATFORMS"]
    trial = tune.with_parameters(_trial, texts=texts, deliveries=deliveries, variables=variables)
    tuner = tune.Tuner(
        tune.with_resources(trial, {"cpu": settings.cpus_per_worker, "gpu": settings.gpus_per_learner}),
        param_space={"run": tune.grid_search(list(texts))},
        tune_config=tune.TuneConfig(
            max_concurrent_trials=workers or None, trial_name_creator=_name_of, trial_dirname_creator=_name_of
        ),
        run_config=tune.RunConfig(
            name=name, storage_path=storage, verbose=0, failure_config=tune.FailureConfig(max_failures=MAX_FAILURES)
        ),
    )
    found = {result.config["run"]: result for result in tuner.fit()}
    for folder in folders:
        result = found.get(folder.name)
        _check(folder, None if result is None else result.metrics, None if result is None else result.error)


def _check(folder: pathlib.Path, metrics: Mapping[str, Any] | None, error: Exception | None) -> None:
    """Raise LudusError if a run has not been trained to its end."""
    if error is not None:
        reason = str(error).strip().splitlines()[-1]
        raise LudusError(f"the run {folder} failed: its trial ended {MAX_FAILURES + 1} times ({reason})") from error
    if not metrics or "failure" not in metrics:
        raise LudusError(f"the run {folder} was not finished; the sweep was stopped")
    if metrics["failure"]:
        raise LudusError(f"the run {folder} failed: {metrics['failure']}")


def _name_of(trial: Any) -> str:
    name: str = trial.config["run"]
    return name


def _trial(
    settings: Mapping[str, str], texts: Mapping[str, str], deliveries: Any, variables: Mapping[str, str]
) -> None:
    """Train one run in a temporary folder. What the user can fix is reported, because a repetition would not help."""
    os.environ.update(variables)
    tune, failure = _load_tune(), ""
    with tempfile.TemporaryDirectory(prefix="ludus-trial-") as parent:
        folder = pathlib.Path(parent) / settings["run"]
        folder.mkdir()
        write_atomically(folder / SETTINGS, texts[folder.name].encode())
        try:
            for _ in runs.carry_out(folder, config.read(folder / SETTINGS), resume=True):
                pass
        except LudusError as error:
            failure = str(error)
        load_ray().get(deliveries.put.remote(folder.name, _read(folder)))
    tune.report({"failure": failure})


def _read(folder: pathlib.Path) -> Files:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write(folder: pathlib.Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, content)


def _load_tune() -> ModuleType:
    load_ray()
    try:
        from ray import tune
    except ImportError as error:
        raise LudusError(f"Ray Tune cannot be imported ({error}): pip install 'ludus[ray]'") from None
    return tune


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in QUIET}
    os.environ.update(QUIET)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
