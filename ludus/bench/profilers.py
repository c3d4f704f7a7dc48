"""The profilers that `ludus profile` uses: JAX's and PyTorch's. Each records a trace and reads it back.

Parts of training are events with the name `ludus:` and the part: `devices.annotated` for JAX,
`torch.profiler.record_function` for PyTorch.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ludus.types import LudusError

PARTS = ("act", "step", "transfer", "update")
PREFIX = "ludus:"
NOT_TIMED = ("while", "call", "conditional")
"""operations of XLA that contain others, which are counted themselves"""


class Operation(NamedTuple):
    """An operation, summed over its executions on all devices, without the operations that it calls."""

    name: str
    program: str
    """of XLA; for PyTorch the kind of device"""
    calls: int
    seconds: float


class Trace(NamedTuple):
    """What was recorded."""

    parts: dict[str, float]
    """seconds by name"""
    operations: list[Operation]
    """the longest first"""
    array_memory: float | None
    """MB of arrays on devices at the end; None if the library does not tell"""
    file: pathlib.Path
    """for https://ui.perfetto.dev or chrome://tracing"""


class Profiler(Protocol):
    def recording(self, out: pathlib.Path) -> AbstractContextManager[None]:
        """Record what happens inside of it, and write the trace to a folder."""
        ...

    def read(self) -> Trace:
        """What was recorded last."""
        ...


class JaxProfiler:
    """JAX's profiler: operations of XLA have their own events."""

    @contextlib.contextmanager
    def recording(self, out: pathlib.Path) -> Iterator[None]:
        import jax

        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # events of Python functions would slow everything down
        with jax.profiler.trace(str(out), create_perfetto_trace=True, profiler_options=options):
            yield
        live: Callable[[], list[jax.Array]] = jax.live_arrays  # JAX has no types for it
        self.array_memory = sum(array.nbytes for array in live()) / 1e6
        self.folder = max((out / "plugins" / "profile").iterdir(), key=lambda path: path.stat().st_mtime)

    def read(self) -> Trace:
        path = next(self.folder.glob("*.xplane.pb"))
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
        return Trace(parts, _longest(operations), self.array_memory, self.folder / "perfetto_trace.json.gz")


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


class TorchProfiler:
    """PyTorch's profiler, on the CPU and on CUDA where there is a GPU; it sees the operations of this process."""

    @contextlib.contextmanager
    def recording(self, out: pathlib.Path) -> Iterator[None]:
        torch = _torch()
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        with torch.profiler.profile(activities=activities, record_shapes=True, profile_memory=True) as self.profile:
            yield
        self.array_memory = torch.cuda.memory_allocated() / 1e6 if torch.cuda.is_available() else None
        out.mkdir(parents=True, exist_ok=True)
        self.file = out / "torch_trace.json.gz"
        self.profile.export_chrome_trace(str(self.file))

    def read(self) -> Trace:
        parts, operations = dict[str, float](), list[Operation]()
        for one in self.profile.key_averages():
            kind = one.device_type.name.lower()
            if not one.key.startswith(PREFIX):
                time = one.self_cpu_time_total if kind == "cpu" else one.self_device_time_total
                operations.append(Operation(one.key, kind, one.count, time / 1e6))
            elif kind == "cpu":
                parts[one.key.removeprefix(PREFIX)] = one.cpu_time_total / 1e6
        return Trace(parts, _longest(operations), self.array_memory, self.file)


def _torch() -> Any:
    try:
        import torch
    except ImportError as missing:
        raise LudusError("this algorithm is profiled by PyTorch: pip install 'ludus[rllib]'") from missing
    return torch


def _longest(operations: list[Operation]) -> list[Operation]:
    return sorted(operations, key=lambda one: -one.seconds)


PROFILERS: dict[str, type[Profiler]] = {"jax": JaxProfiler, "torch": TorchProfiler}
"""by the name that an algorithm declares (`ludus.algorithms.protocol.Profiled`)"""
