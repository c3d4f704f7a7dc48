"""A plain loop: play a rollout, learn from it, play the next with what was learned."""

from __future__ import annotations

from collections.abc import Iterator

from ludus.runtimes.acting.source import Acting, together
from ludus.runtimes.job import Job
from ludus.types import Array, Rollout


class Local(Acting):
    """A source that plays in the thread of whoever asks."""

    def __iter__(self) -> Iterator[Rollout]:
        number = 0
        while True:
            number += 1
            params, version = self.params_for(number)
            yield together([actor.collect(params, version, self.job.steps) for actor in self.actors])

    def state(self) -> dict[str, dict[str, Array]]:
        return self.everyone([actor.state() for actor in self.actors]) | self.past.state()


def open_source(job: Job) -> Local:
    return Local(job)
