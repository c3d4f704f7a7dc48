"""The one training loop, the same for every algorithm and every runtime.

It is a generator: logging, evaluation, checkpoints and stopping are `for` loops around it, not callbacks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from ludus import runtimes
from ludus.algorithms.protocol import Algorithm, Experience, Learner, Metrics
from ludus.runtimes import Source

A = TypeVar("A")
L = TypeVar("L", bound=Learner)
E = TypeVar("E", bound=Experience)


class Progress(NamedTuple, Generic[L]):
    """The state of training after an update."""

    version: int
    learner: L
    metrics: Metrics
    age: int
    """how many versions old the parameters were that the experience was made with"""


def train(
    agent: A, algorithm: Algorithm[A, L, E], learner: L, source: Source[E], ready: Callable[[], None] = lambda: None
) -> Iterator[Progress[L]]:
    """Update with every round of the source and publish the new parameters, until the algorithm is finished.

    `ready` is called before the first update, to wait for its compilation.
    """
    source.publish(algorithm.broadcast(learner), version=0)
    requested_at = time.perf_counter()
    for version, experience in enumerate(source, start=1):
        waited = time.perf_counter() - requested_at
        ready()
        learner, metrics = algorithm.update(agent, learner, experience)
        source.publish(algorithm.broadcast(learner), version)
        age = version - 1 - experience[0].version
        yield Progress(version, learner, metrics | waiting(metrics, waited) | runtimes.metrics(source), age)
        if metrics.get("finished") == 1.0:
            return
        requested_at = time.perf_counter()


def waiting(metrics: Metrics, waited: float) -> Metrics:
    """Seconds that the learner waited for experience, and the fraction of playing that happened during updates."""
    if "play_seconds" not in metrics:
        return {"wait_seconds": waited}
    return {"wait_seconds": waited, "overlap": max(0.0, 1.0 - waited / max(metrics["play_seconds"], 1e-9))}
