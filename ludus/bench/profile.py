"""Where a training run spends its time, from the trace of JAX's profiler.

Parts of the loop are annotated where they are executed (`devices.annotated`); operations of XLA have their own events.
"""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from ludus.bench.training import peak_memory
from ludus.training.config import Run
from ludus.training.loop import train
from ludus.training.opened import open_run
from ludus.training.resume import new_learner
from ludus.types import JsonObject, LudusError

PARTS = ("act", "step", "transfer", "update")
PREFIX = "ludus:"
NOT_TIMED = ("while", "call", "conditional")
"""operations that contain others, which are counted themselves"""


class Operation(NamedTuple):
    """An operation of XLA, summed over its executions on all devices."""

    name: str
    program: str
    calls: int
    seconds: float


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
    array_memory: float
    """MB of arrays on devices at the end"""
    trace: pathlib.Path
    """for https://ui.perfetto.dev or chrome://tracing"""


def profile(run: Run[Any], steps: int, out: pathlib.Path) -> Profile:
    """Train for at least `steps` decisions after a first update; all parts run in one thread, so their times add up."""
    if steps < 1:
        raise LudusError(f"--steps must be at least 1, not {steps}")
    _check(run)
    import jax

    started = time.perf_counter()
    with contextlib.closing(open_run(run.replace(runtime="local", workers=1))) as opened:
        reports = train(opened.agent, opened.run.settings, new_learner(opened), opened.source, opened.ahead.update)
        before, updates = next(reports).learner.steps, 0
        first_seconds = time.perf_counter() - started
        with jax.profiler.trace(str(out), create_perfetto_trace=True, profiler_options=_options()):
            begun = time.perf_counter()
            for report in reports:
                updates += 1
                if report.learner.steps - before >= steps:
                    break
            seconds = time.perf_counter() - begun
        arrays = sum(array.nbytes for array in jax.live_arrays()) / 1e6
    folder = max((out / "plugins" / "profile").iterdir(), key=lambda path: path.stat().st_mtime)
    parts, operations = read(next(folder.glob("*.xplane.pb")))
    parts["other"] = max(seconds - sum(parts.values()), 0.0)
    trace = folder / "perfetto_trace.json.gz"
    return Profile(run.game, run.algorithm, report.learner.steps - before, updates, seconds, first_seconds, parts,
                   operations, peak_memory(), arrays, trace)  # fmt: skip


def _check(run: Run[Any]) -> None:
    """Raise LudusError for algorithms without parts: tables play and learn in one compiled loop."""
    from ludus.algorithms import ppo, world_model

    if not isinstance(run.settings, (ppo.ALGORITHM, world_model.ALGORITHM)):
        raise LudusError(
            f"{run.algorithm} plays and learns in one compiled loop without parts to measure; ludus bench tabular "
            "measures its speed, and ludus profile works with --algorithm ppo or world_model"
        )


def _options() -> Any:
    """Without events of Python functions, which would slow everything down."""
    import jax

    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    return options


def read(path: pathlib.Path) -> tuple[dict[str, float], list[Operation]]:
    """Seconds of the parts, and the operations, of a trace."""
    parts, found = dict.fromkeys(PARTS, 0.0), defaultdict[tuple[str, str], list[float]](list)
    for event in _events(path):
        seconds = event.duration_ns / 1e9
        if event.name.startswith(PREFIX):
            parts[event.name.removeprefix(PREFIX)] += seconds
            continue
        stats = dict(event.stats)
        if "hlo_op" in stats and not event.name.startswith(NOT_TIMED):
            found[event.name, str(stats.get("hlo_module", ""))].append(seconds)
    parts["update"] -= _inside_update(path)
    operations = [Operation(name, program, len(times), sum(times)) for (name, program), times in found.items()]
    return parts, sorted(operations, key=lambda one: -one.seconds)


def _inside_update(path: pathlib.Path) -> float:
    """Seconds of transfers during updates, which are counted as transfers."""
    spans = [(event.start_ns, event.end_ns) for event in _events(path) if event.name == f"{PREFIX}update"]
    transfers = [event for event in _events(path) if event.name == f"{PREFIX}transfer"]
    inside = [one for one in transfers if any(start <= one.start_ns <= end for start, end in spans)]
    return sum(event.duration_ns for event in inside) / 1e9


def _events(path: pathlib.Path) -> Iterator[Any]:
    import jax

    data = jax.profiler.ProfileData.from_file(str(path))
    for plane in data.planes:
        for line in plane.lines:
            yield from line.events


def lines(found: Profile, top: int) -> Iterator[str]:
    """Tables for people."""
    work = f"{found.decisions:,} decisions and {found.updates} update(s) in {found.seconds:.2f} s"
    yield f"{found.game} by {found.algorithm}: {work}"
    yield f"{'first update':<14} {found.first_seconds:>8.2f} s  with opening and compiling, not included below"
    for name, seconds in found.parts.items():
        share = 100.0 * seconds / found.seconds
        yield f"{name:<14} {seconds:>8.3f} s {share:>5.1f} %  {1e6 * seconds / found.decisions:>8.2f} µs per decision"
    yield f"{'memory':<14} {found.peak_memory:>8.0f} MB at most, {found.array_memory:.1f} MB of arrays on devices"
    yield "\noperations (all devices)"
    for one in found.operations[:top]:
        yield f"  {one.name:<36} {one.program:<18} {one.calls:>7,} calls {1e3 * one.seconds:>9.2f} ms"
    yield f"\ntrace: {found.trace}; open it in https://ui.perfetto.dev"


def facts(found: Profile, top: int) -> JsonObject:
    """The profile as plain data."""
    operations = [one._asdict() for one in found.operations[:top]]
    return found._asdict() | {"operations": operations, "trace": str(found.trace)}
