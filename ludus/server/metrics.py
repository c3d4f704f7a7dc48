"""Metrics for Prometheus: counters of this process, and of all workers together.

Each worker writes its counters to a file of a shared folder once per second; whichever worker is asked adds them up.
Those of workers that have ended still count, so that counters never decrease.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import prometheus_client
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ludus.files import write_atomically
from ludus.server.batching import Histogram, Meter

FOLDER = "LUDUS_METRICS"
"""environment variable with the folder that the workers share"""
INTERVAL, SUFFIX = 1.0, ".metrics"


class Numbers(msgspec.Struct):
    """The counters of one process."""

    requests: dict[str, dict[int, int]] = {}
    """by route and status"""
    seconds: dict[str, Histogram] = {}
    """by route"""
    meters: dict[str, Meter] = {}
    """by model"""
    sockets: int = 0
    """open WebSockets"""


class Metrics:
    """Counts the requests of this process, and reports those of all."""

    def __init__(self, meters: dict[str, Meter], folder: pathlib.Path | None = None) -> None:
        self.numbers = Numbers(meters=meters)
        self._folder = folder

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        numbers = self.numbers
        if route not in numbers.requests:
            numbers.requests[route], numbers.seconds[route] = {}, Histogram()
        counts = numbers.requests[route]
        counts[status] = counts.get(status, 0) + 1
        numbers.seconds[route].observe(seconds)

    def page(self, sessions: Mapping[str, int]) -> bytes:
        """All metrics as text; the numbers of sessions are those of the store, by their labels."""
        registry = CollectorRegistry()
        registry.register(_Report(self._all(), sessions))
        return prometheus_client.generate_latest(registry)

    async def publish(self) -> None:
        """Write the counters for the other workers from time to time, until cancelled."""
        while self._folder is not None:
            self.write()
            await asyncio.sleep(INTERVAL)

    def write(self) -> None:
        """Write the counters for the other workers."""
        if self._folder is not None:
            with contextlib.suppress(OSError):  # a full disk must not stop the server
                write_atomically(self._folder / f"{os.getpid()}{SUFFIX}", msgspec.msgpack.encode(self.numbers))

    def _all(self) -> list[Numbers]:
        """The counters of all workers, this one included."""
        found = [self.numbers]
        for path in self._folder.glob(f"*{SUFFIX}") if self._folder else ():
            if path.stem == str(os.getpid()):
                continue
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                other = msgspec.msgpack.decode(path.read_bytes(), type=Numbers)
                other.sockets *= _is_running(int(path.stem))
                found.append(other)
        return found


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


class _Report(Collector):
    """The sum of the counters of all workers, in the form that Prometheus reads."""

    def __init__(self, numbers: Sequence[Numbers], sessions: Mapping[str, int]) -> None:
        self._numbers, self._sessions = numbers, sessions

    def collect(self) -> Iterator[Metric]:
        yield from self._requests()
        yield from self._models()
        sessions = GaugeMetricFamily("ludus_sessions", "Live sessions, by model and version or game", labels=["label"])
        for label, count in self._sessions.items():
            sessions.add_metric([label], count)
        yield sessions
        yield GaugeMetricFamily("ludus_sockets", "Open WebSockets", value=sum(one.sockets for one in self._numbers))

    def _requests(self) -> Iterator[Metric]:
        counts = CounterMetricFamily("ludus_requests", "Requests by route and status", labels=["route", "status"])
        times = HistogramMetricFamily("ludus_request_seconds", "Time to answer, by route", labels=["route"])
        for route in sorted({route for one in self._numbers for route in one.requests}):
            found = [one for one in self._numbers if route in one.requests]
            for status in sorted({status for one in found for status in one.requests[route]}):
                total = sum(one.requests[route].get(status, 0) for one in found)
                counts.add_metric([route, str(status)], total)
            _add(times, [route], [one.seconds[route] for one in found])
        yield from (counts, times)

    def _models(self) -> Iterator[Metric]:
        label = ["model"]
        families = {
            "requests": CounterMetricFamily("ludus_decisions_requested", "Decisions requested", labels=label),
            "answers": CounterMetricFamily("ludus_decisions", "Decisions made", labels=label),
            "degraded": CounterMetricFamily("ludus_degraded", "Default actions, as a network failed", labels=label),
            "overloaded": CounterMetricFamily("ludus_overloaded", "Decisions refused, as too many wait", labels=label),
        }
        times = HistogramMetricFamily("ludus_decision_seconds", "Time to decide, waiting included", labels=label)
        rows = HistogramMetricFamily("ludus_batch_rows", "Rows per batch", labels=label)
        for model in sorted({model for one in self._numbers for model in one.meters}):
            found = [one.meters[model] for one in self._numbers if model in one.meters]
            for name, family in families.items():
                family.add_metric([model], sum(getattr(meter, name) for meter in found))
            _add(times, [model], [meter.seconds for meter in found])
            _add_rows(rows, [model], found)
        yield from (*families.values(), times, rows)


def _add(family: HistogramMetricFamily, labels: list[str], found: Sequence[Histogram]) -> None:
    """Add the sum of histograms."""
    ends = [*(f"{end:g}" for end in found[0].ends), "+Inf"]
    counts = [sum(column) for column in zip(*(one.counts for one in found), strict=True)]
    family.add_metric(labels, _cumulative(ends, counts), sum(one.total for one in found))


def _add_rows(family: HistogramMetricFamily, labels: list[str], found: Sequence[Meter]) -> None:
    sizes = sorted({size for meter in found for size in meter.batches})
    counts = [sum(meter.batches.get(size, 0) for meter in found) for size in sizes]
    total = sum(size * count for size, count in zip(sizes, counts, strict=True))
    family.add_metric(labels, _cumulative([*map(str, sizes), "+Inf"], [*counts, 0]), total)


def _cumulative(ends: Sequence[str], counts: Sequence[int]) -> list[tuple[str, float]]:
    """The buckets of Prometheus, each of which contains those before it."""
    return [(end, sum(counts[: place + 1])) for place, end in enumerate(ends)]
