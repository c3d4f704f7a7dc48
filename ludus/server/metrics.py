"""Metrics for Prometheus. With several workers, each writes its numbers to files that any of them can add up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""environment variable with the folder for the numbers of several workers; set before this module is imported"""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1, 2, 4, 8, 12, 16, 32)


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own = self._registry
        self._requests = Counter("ludus_requests", "Requests by route and status", ("route", "status"), registry=own)
        self._seconds = Histogram(
            "ludus_request_seconds", "Time to answer, by route", ("route",), buckets=SECONDS, registry=own
        )
        self._rows = Histogram(
            "ludus_batch_rows", "Requests per batch of a model", ("model",), buckets=ROWS, registry=own
        )
        self._degraded = Counter(
            "ludus_degraded", "Answers with a default action, because the network failed", ("model",), registry=own
        )
        self._sockets = Gauge("ludus_sockets", "Open WebSockets", registry=own, multiprocess_mode="livesum")
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        found = self._known.get((route, status))
        if found is None:
            found = self._requests.labels(route, str(status)), self._seconds.labels(route)
            self._known[route, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def batch(self, model: str, rows: int, degraded: int) -> None:
        """Count one batch of a model."""
        self._rows.labels(model).observe(rows)
        if degraded:
            self._degraded.labels(model).inc(degraded)

    def sockets(self, change: int) -> None:
        self._sockets.inc(change)

    def page(self, sessions: Mapping[str, int]) -> bytes:
        """Everything as text, with the present number of sessions of the store by their label."""
        now = CollectorRegistry()
        now.register(_Sessions(sessions))
        numbers = self._registry
        if SHARED in os.environ:
            numbers = CollectorRegistry()
            MultiProcessCollector(numbers)  # type: ignore[no-untyped-call]
        return prometheus_client.generate_latest(numbers) + prometheus_client.generate_latest(now)


class _Sessions(Collector):
    """The numbers of sessions, which are those of the store and not of one process."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily("ludus_sessions", "Live sessions by model or game", labels=["label"])
        for label, count in self._counts.items():
            family.add_metric([label], count)
        yield family
