"""Actors in threads of their own, one rollout ahead of the learner: both work at once, and neither runs away.

The parameters that play are one version behind, always, so what comes out does not depend on who was faster.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ludus import checkpoint
from ludus.runtimes.acting.actor import Actor
from ludus.runtimes.acting.company import Company, together
from ludus.runtimes.job import Job
from ludus.types import Array, LudusError, Rollout

WAIT = 0.2
"""seconds after which a thread looks whether it is still wanted"""


class Threads:
    """A source whose actors play while the learner learns."""

    def __init__(self, job: Job) -> None:
        self.job, self.company = job, Company(job, lag=1)
        self.actors = self.company.actors
        self.news, self.closed = threading.Condition(), False
        self.begun: list[Any] = [None] * len(self.actors)
        """the state of every actor when it began the rollout that nobody has learned from yet"""
        self.ready: list[queue.Queue[Any]] = [queue.Queue(1) for _ in self.actors]
        self.threads: list[threading.Thread] = []
        self.number = 0

    def __iter__(self) -> Iterator[Rollout]:
        for number, actor in enumerate(self.actors):
            thread = threading.Thread(
                target=self._work, args=(number, actor), name=f"ludus-actor-{number}", daemon=True
            )
            self.threads.append(thread)
            thread.start()
        while True:
            begun = time.perf_counter()
            made = [self._next(number) for number in range(len(self.actors))]
            waited = time.perf_counter() - begun
            self.begun = [after for _, after in made]
            self.number += 1
            rollout = together([rollout for rollout, _ in made])
            played = max(rollout.notes["play_seconds"], 1e-9)
            yield rollout._replace(
                notes=rollout.notes | {"wait_seconds": waited, "overlap": max(0.0, 1.0 - waited / played)}
            )

    def publish(self, params: Any, version: int) -> None:
        with self.news:
            self.company.publish(params, version)
            self.news.notify_all()

    def _work(self, number: int, actor: Actor) -> None:
        """The life of an actor: play a rollout, hand it over with the state after it, wait for new parameters."""
        made = 0
        try:
            while (found := self._params(made + 1)) is not None:
                if made == 0:
                    self.begun[number] = self.begun[number] or actor.state()
                rollout = actor.collect(*found, self.job.steps)
                made += 1
                self._hand_over(number, (rollout, actor.state()))
        except BaseException as error:  # whatever it is, the learner must hear of it
            self._hand_over(number, error)

    def _params(self, rollout: int) -> tuple[Any, int] | None:
        """The parameters for a rollout, as soon as they are there; None once nobody wants any more."""
        needed = max(rollout - 1 - self.company.lag, 0)
        with self.news:
            while not self.closed and not any(known >= needed for known in self.company.params):
                self.news.wait(WAIT)
            return None if self.closed else self.company.params_for(rollout)

    def _hand_over(self, number: int, what: Any) -> None:
        handed = False
        while not (handed or self.closed):
            with contextlib.suppress(queue.Full):
                self.ready[number].put(what, timeout=WAIT)
                handed = True

    def _next(self, number: int) -> tuple[Rollout, Any]:
        found = self.ready[number].get()
        if isinstance(found, BaseException):
            cause = str(found) if isinstance(found, LudusError) else f"{type(found).__name__}: {found}"
            raise LudusError(f"actor {number} stopped: {cause}") from found
        return found

    def state(self) -> dict[str, dict[str, Array]]:
        """The actors where the rollouts began that are still to be learned from, and what those are played with."""
        with self.news:
            params, _ = self.company.params_for(self.number + 1)
        states = [begun or actor.state() for begun, actor in zip(self.begun, self.actors, strict=True)]
        return self.company.state(states) | {"acting": checkpoint.flatten(params)}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        self.company.restore(state)

    def close(self) -> None:
        with self.news:
            self.closed = True
            self.news.notify_all()
        for thread in self.threads:
            thread.join()
        self.company.close()


def open_source(job: Job) -> Threads:
    return Threads(job)
