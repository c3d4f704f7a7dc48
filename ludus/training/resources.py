"""What a run uses of its machine: resident memory, and GPUs where NVML knows some.

Both are read at most once a second, whatever the number of updates. A number that cannot be measured is left out.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PROCESSES = Path("/proc")
INTERVAL = 1.0
"""seconds between two readings"""


class Resources:
    """The metrics `memory_used` and `gpu_utilization`, as read last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._due = clock, -float("inf")
        self._newest: dict[str, float] = {}

    def metrics(self) -> dict[str, float]:
        if (now := self._clock()) >= self._due:
            read = {"memory_used": memory_used(os.getpid()), "gpu_utilization": gpu_utilization()}
            self._newest = {name: number for name, number in read.items() if number is not None}
            self._due = now + INTERVAL
        return self._newest


def memory_used(root: int) -> float | None:
    """Resident memory of a process and of all processes that it started, directly or not, in GB of 10^9 bytes.

    Memory that several of them share counts in each. None on systems without /proc/<pid>/task/<tid>/children.
    """
    if not (PROCESSES / str(root) / "task" / str(root) / "children").exists():
        return None
    return sum(resident_bytes(process) for process in family(root)) / 1e9


def family(root: int) -> Iterator[int]:
    """A process and its descendants."""
    waiting = [root]
    while waiting:
        process = waiting.pop()
        yield process
        for thread in _listed(PROCESSES / str(process) / "task"):
            waiting += map(int, _read(PROCESSES / str(process) / "task" / thread / "children").split())


def resident_bytes(process: int) -> int:
    """The resident memory of a process, 0 if it has ended."""
    pages = _read(PROCESSES / str(process) / "statm").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # the process has ended
        return []


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process or the thread has ended
        return ""


def gpu_utilization() -> float | None:
    """Percentage of the last moments in which the GPUs computed, mean over the GPUs; None without NVML or a GPU."""
    if not (gpus := _gpus()):
        return None
    import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]

    try:
        return sum(float(pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu) for gpu in gpus) / len(gpus)
    except pynvml.NVMLError:  # parts of a GPU (MIG) have no utilisation; a GPU may be lost
        return None


@functools.cache
def _gpus() -> tuple[Any, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES names, or all; found once per process."""
    try:
        import pynvml  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return ()
    try:
        pynvml.nvmlInit()
        names = _visible(int(pynvml.nvmlDeviceGetCount()))
        return tuple(
            pynvml.nvmlDeviceGetHandleByIndex(int(name)) if name.isdigit() else pynvml.nvmlDeviceGetHandleByUUID(name)
            for name in names
        )
    except pynvml.NVMLError:  # no driver, or a name that it does not know
        return ()


def _visible(count: int) -> list[str]:
    """The numbers or UUIDs of the GPUs that this process may use; as in CUDA, a negative number ends the list."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None:
        return [str(number) for number in range(count)]
    names = [name.strip() for name in named.split(",")]
    ends = [index for index, name in enumerate(names) if not name or name.startswith("-")]
    return names[: min(ends, default=len(names))]
