"""The one training loop, the same for every algorithm and every runtime.

It is a generator: logging, evaluation, checkpoints and stopping are `for` loops around it, not callbacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ludus.runtimes import Source


class Progress(NamedTuple):
    """Where training stands after an update."""

    version: int
    learner: Any
    metrics: dict[str, float]
    age: int
    """how many versions old the parameters were that the experience was made with"""


def train(agent: Any, algorithm: Any, learner: Any, source: Source) -> Iterator[Progress]:
    """Learn from all that the source brings, and let it know the newest parameters."""
    source.publish(learner.params, version=0)
    for version, batch in enumerate(algorithm.batches(iter(source)), start=1):
        learner, metrics = algorithm.update(agent, learner, batch)
        source.publish(learner.params, version)
        yield Progress(version, learner, metrics, age=version - 1 - batch.version)
