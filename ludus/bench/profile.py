"""Where a training run spends its time, from the trace of the profiler that its algorithm declares."""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ludus.algorithms.protocol import Profiled
from ludus.bench.profilers import PROFILERS, Operation
from ludus.bench.training import peak_memory
from ludus.training.config import Run
from ludus.training.loop import train
from ludus.training.opened import open_run
from ludus.training.resume import new_learner
from ludus.types import JsonObject, LudusError


class Profile(NamedTuple):
    """The times of some updates."""

    game: str
    algorithm: str
    decisions: int
    updates: int
    seconds: float
    first_seconds: float
    """from opening the game to the end of the first update, which compiles; not part of `seconds`"""
    parts: dict[str, float]
    """seconds of each part, and of `other`"""
    operations: list[Operation]
    """the longest first"""
    peak_memory: float
    """MB of the process"""
    array_memory: float | None
    """MB of arrays on devices at the end; None if the library does not tell"""
    trace: pathlib.Path
    """for https://ui.perfetto.dev or chrome://tracing"""


def profile(run: Run[Any], steps: int, out: pathlib.Path) -> Profile:
    """Train for at least `steps` decisions after a first update; all parts run in one thread, so their times add up."""
    if steps < 1:
        raise LudusError(f"--steps must be at least 1, not {steps}")
    settings = _profiled(run).for_profiler(steps)
    profiler = PROFILERS[settings.profiler]()
    started = time.perf_counter()
    with contextlib.closing(open_run(replace(run, settings=settings).replace(runtime="local", workers=1))) as opened:
        reports = train(opened.agent, opened.run.settings, new_learner(opened), opened.source, opened.ahead.update)
        before, updates = next(reports).learner.steps, 0
        first_seconds = time.perf_counter() - started
        with profiler.recording(out):
            begun = time.perf_counter()
            for report in reports:
                updates += 1
                if report.learner.steps - before >= steps:
                    break
            seconds = time.perf_counter() - begun
    trace = profiler.read()
    other = max(seconds - sum(trace.parts.values()), 0.0)
    return Profile(
        run.game, run.algorithm, report.learner.steps - before, updates, seconds, first_seconds,
        trace.parts | {"other": other}, trace.operations, peak_memory(), trace.array_memory, trace.file,
    )  # fmt: skip


def _profiled(run: Run[Any]) -> Profiled:
    """The settings of an algorithm that can be profiled; tables learn in one compiled loop."""
    if not isinstance(run.settings, Profiled):
        raise LudusError(
            f"{run.algorithm} plays and learns in one compiled loop without parts to measure; ludus bench tabular "
            "measures its speed, and ludus profile works with --algorithm ppo, rllib_ppo or world_model"
        )
    return run.settings


def lines(found: Profile, top: int) -> Iterator[str]:
    """Tables for people."""
    work = f"{found.decisions:,} decisions and {found.updates} update(s) in {found.seconds:.2f} s"
    yield f"{found.game} by {found.algorithm}: {work}"
    yield f"{'first update':<14} {found.first_seconds:>8.2f} s  with opening and compiling, not included below"
    for name, seconds in found.parts.items():
        share = 100.0 * seconds / found.seconds
        yield f"{name:<14} {seconds:>8.3f} s {share:>5.1f} %  {1e6 * seconds / found.decisions:>8.2f} µs per decision"
    arrays = "" if found.array_memory is None else f", {found.array_memory:.1f} MB of arrays on devices"
    yield f"{'memory':<14} {found.peak_memory:>8.0f} MB at most{arrays}"
    yield "\noperations (all devices)"
    for one in found.operations[:top]:
        yield f"  {one.name:<36} {one.program:<18} {one.calls:>7,} calls {1e3 * one.seconds:>9.2f} ms"
    yield f"\ntrace: {found.trace}; open it in https://ui.perfetto.dev"


def facts(found: Profile, top: int) -> JsonObject:
    """The profile as plain data."""
    operations = [one._asdict() for one in found.operations[:top]]
    return found._asdict() | {"operations": operations, "trace": str(found.trace)}
