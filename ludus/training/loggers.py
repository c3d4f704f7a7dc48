"""Loggers for the metrics of a run: JSON lines, TensorBoard event files, Weights & Biases, behind one `write`.

A resumed run first removes everything after the step it resumes from, so the log looks as if it never stopped.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np

from ludus.types import Array, LudusError

WandbMode = Literal["offline", "online", "disabled"]
Metrics = Mapping[str, float | None]
"""numbers by name; None if not measured"""


class Sink(Protocol):
    """A destination of metrics."""

    def write(self, step: int, metrics: Metrics) -> None:
        """Write the metrics of a step."""
        ...

    def close(self) -> None:
        """Flush and close; nothing can be written afterwards."""
        ...


class JsonLines:
    """A file with one line per write: {"step": 10, "time": 1700000000.0, "loss": 0.5}, flushed after each.

    NaN and infinity are written as null. With `resume_step`, later lines are removed first.
    """

    def __init__(
        self, path: str | Path, resume_step: int | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.path, self._clock = Path(path), clock
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            _cut(self.path, math.inf if resume_step is None else resume_step)
        self._file = self.path.open("a", encoding="utf-8")

    def write(self, step: int, metrics: Metrics) -> None:
        if "step" in metrics or "time" in metrics:
            raise LudusError('"step" and "time" are written on every line; give the metric another name')
        numbers = {name: _json_number(value) for name, value in metrics.items()}
        line = {"step": int(step), "time": round(self._clock(), 3), **numbers}
        self._file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(path: str | Path) -> list[dict[str, Any]]:
    """The lines of a metrics file; an incomplete last line, left by a killed process, is ignored."""
    return [line for _, line in _lines(Path(path))]


def columns(path: str | Path) -> dict[str, Array]:
    """The columns of a metrics file by name: [lines] arrays, NaN where a line has no value."""
    lines = read(path)
    names = dict.fromkeys(name for line in lines for name in line)
    table = {name: np.array([line.get(name) for line in lines], np.float64) for name in names}
    return {name: column.astype(np.int64) if name == "step" else column for name, column in table.items()}


class TensorBoard:
    """Event files in a folder, for `tensorboard --logdir`, which drops the steps that a resumed run repeats."""

    def __init__(self, folder: str | Path, resume_step: int | None = None) -> None:
        with _extra("tensorboard"):
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer import event_file_writer
        self._events, self._summaries = event_pb2, summary_pb2
        self._writer = event_file_writer.EventFileWriter(str(folder))
        if resume_step is not None:
            # TensorBoard treats this as a restart and drops everything from that step on.
            log = self._events.SessionLog
            self._add(resume_step + 1, session_log=log(status=log.START))

    def write(self, step: int, metrics: Metrics) -> None:
        summary = self._summaries.Summary
        values = [summary.Value(tag=name, simple_value=number) for name, number in _measured(metrics).items()]
        self._add(step, summary=summary(value=values))

    def close(self) -> None:
        self._writer.close()

    def _add(self, step: int, **what: Any) -> None:
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=int(step), **what))
        self._writer.flush()


class WeightsAndBiases:
    """A run of Weights & Biases, stored in the run's folder for `wandb sync` unless WANDB_MODE is set.

    Metrics that were sent cannot be removed, so a resumed run becomes another run in the same group.
    """

    def __init__(self, name: str, folder: str | Path, resume_step: int | None = None) -> None:
        with _extra("wandb"):
            import wandb
        mode = _wandb_mode()
        Path(folder).mkdir(parents=True, exist_ok=True)
        part = name if resume_step is None else f"{name} from {resume_step}"
        project = os.environ.get("WANDB_PROJECT", "ludus")
        try:
            # Setting the mode of the run only would leave the telemetry of the package online.
            wandb.setup(wandb.Settings(mode=mode))
            self._run = wandb.init(
                project=project, group=name, name=part, dir=str(folder), mode=mode, reinit="create_new", settings=_QUIET
            )
        except wandb.Error as error:
            raise LudusError(f"wandb could not open the run ({error}); WANDB_MODE=offline stores it locally") from error

    def write(self, step: int, metrics: Metrics) -> None:
        self._run.log(_measured(metrics), step=int(step))

    def close(self) -> None:
        self._run.finish()


# Send metrics only: no terminal output, no code, no description of the machine.
_QUIET = {
    "silent": True,
    "console": "off",
    "disable_git": True,
    "disable_code": True,
    "x_save_requirements": False,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
}


class Several:
    """Several sinks as one."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self.sinks = tuple(sinks)

    def write(self, step: int, metrics: Metrics) -> None:
        for sink in self.sinks:
            sink.write(step, metrics)

    def close(self) -> None:
        with ExitStack() as closing:  # closes the others even if one fails
            for sink in self.sinks:
                closing.callback(sink.close)


_OPENERS: dict[str, Callable[[Path, int | None], Sink]] = {
    "jsonl": lambda folder, step: JsonLines(folder / "metrics.jsonl", step),
    "tensorboard": lambda folder, step: TensorBoard(folder / "tensorboard", step),
    "wandb": lambda folder, step: WeightsAndBiases(folder.name, folder, step),
}


def open_sinks(names: Iterable[str], folder: str | Path, resume_step: int | None = None) -> Sink:
    """The sinks with these names ("jsonl", "tensorboard", "wandb") for the run in a folder, as one sink."""
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in _OPENERS:
            close = difflib.get_close_matches(name, _OPENERS, 1)
            hint = f'did you mean "{close[0]}"?' if close else f"there are {', '.join(_OPENERS)}"
            raise LudusError(f'unknown logger "{name}"; {hint}')
    sinks: list[Sink] = []
    with ExitStack() as on_failure:
        for name in wanted:
            sinks.append(_OPENERS[name](Path(folder).resolve(), resume_step))
            on_failure.callback(sinks[-1].close)
        on_failure.pop_all()
    return Several(sinks)


def _lines(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    """Each line as bytes and parsed; only the last line may be incomplete."""
    if not path.exists():
        raise LudusError(f"there is no metrics file at {path}; train a run first, or correct the path")
    *whole, last = path.read_bytes().split(b"\n")
    lines = [(text, _parse(text)) for text in [*whole, last]]
    for number, (_, line) in enumerate(lines[:-1], start=1):
        if line is None:
            raise LudusError(f"line {number} of {path} is not a line of metrics; fix or remove it")
    return [(text, line) for text, line in lines if line is not None]


def _parse(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("step"), int) else None


def _cut(path: Path, last_step: float) -> None:
    """Remove incomplete lines and lines after a step, atomically."""
    content = b"".join(text + b"\n" for text, line in _lines(path) if line["step"] <= last_step)
    if content == path.read_bytes():
        return
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _json_number(value: Any) -> float | None:
    if isinstance(value, Integral):
        return int(value)
    return float(value) if value is not None and math.isfinite(value) else None


def _measured(metrics: Metrics) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items() if value is not None}


def _wandb_mode() -> WandbMode:
    wanted, modes = os.environ.get("WANDB_MODE", "offline"), get_args(WandbMode)
    for mode in modes:
        if mode == wanted:
            return mode
    raise LudusError(f'WANDB_MODE is "{wanted}"; set it to {", ".join(modes)}, or unset it for offline')


@contextmanager
def _extra(extra: str) -> Iterator[None]:
    """Raise LudusError if the packages of an extra cannot be imported."""
    try:
        yield
    except ImportError as missing:
        raise LudusError(f"logging to {extra} needs another package: pip install 'ludus[{extra}]'") from missing
