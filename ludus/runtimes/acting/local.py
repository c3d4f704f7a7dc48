"""A plain loop: play a rollout, learn from it, play the next with what was learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ludus.runtimes.acting.company import Company, together
from ludus.runtimes.job import Job
from ludus.types import Array, Rollout


class Local:
    """A source that plays in the thread of whoever asks."""

    def __init__(self, job: Job) -> None:
        self.job, self.company = job, Company(job, lag=0)
        self.actors = self.company.actors

    def __iter__(self) -> Iterator[Rollout]:
        number = 0
        while True:
            number += 1
            params, version = self.company.params_for(number)
            yield together([actor.collect(params, version, self.job.steps) for actor in self.actors])

    def publish(self, params: Any, version: int) -> None:
        self.company.publish(params, version)

    def state(self) -> dict[str, dict[str, Array]]:
        return self.company.state([actor.state() for actor in self.actors])

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        self.company.restore(state)

    def close(self) -> None:
        self.company.close()


def open_source(job: Job) -> Local:
    return Local(job)
