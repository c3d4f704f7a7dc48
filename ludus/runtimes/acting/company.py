"""What the ways of playing have in common: actors, the parameters they play with, and how they go on exactly.

Rollout k is played with the parameters of version k - 1 - `lag`, no older and no newer: so a run can be repeated and
resumed to the bit, although several threads have a part in it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ludus import checkpoint, devices
from ludus.algorithms import craft_of
from ludus.bridges import open_pool
from ludus.runtimes.acting.actor import Actor
from ludus.runtimes.acting.opponents import Opponents
from ludus.runtimes.acting.past import Past
from ludus.runtimes.job import Job
from ludus.types import Array, LudusError, Rollout
from ludus.words import random


class Company:
    """Actors and the parameters that were published; `local` and `threads` say who plays when."""

    def __init__(self, job: Job, lag: int) -> None:
        self.job, self.lag = job, lag
        """`lag`: how many versions the parameters that play are behind the newest"""
        self.past = Past(job.algorithm.past_every, job.algorithm.past_kept)
        self.first = devices.process() * job.workers
        """the number of our first actor; those of all processes are counted on"""
        self.actors = [new_actor(job, self.first + number, self.past) for number in range(job.workers)]
        self.params: dict[int, Any] = {}
        """by version; those that nobody will play with any more are let go"""

    def publish(self, params: Any, version: int) -> None:
        """Parameters that the rollouts to come are played with."""
        self.params[version] = params
        self.past.take(params, version)
        for old in [known for known in self.params if known < version - self.lag]:
            del self.params[old]

    def params_for(self, number: int) -> tuple[Any, int]:
        """What rollout `number`, counted from 1, is played with, and its version."""
        version = number - 1 - self.lag
        if version in self.params:
            return self.params[version], version
        return self.params[0], 0  # nothing older was known when the run began

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        """Go on where `state` was taken: the actors where their rollouts began, with the parameters of then."""
        actors = {name: arrays for name, arrays in state.items() if name.startswith("worker_")}
        everyone = len(self.actors) * devices.processes()
        if set(actors) != {f"worker_{number}" for number in range(everyone)}:
            raise LudusError(
                f"this checkpoint is of a run with {len(actors)} actors in all, not {everyone}; resume it with its own "
                "run.toml, on as many processes as before"
            )
        self.past.restore(state, self.like)
        for number, actor in enumerate(self.actors, self.first):
            actor.restore(actors[f"worker_{number}"])
        if "acting" in state:
            self.params[-self.lag] = checkpoint.unflatten(self.like, dict(state["acting"]))

    def state(self, actors: Sequence[dict[str, Array]]) -> dict[str, dict[str, Array]]:
        """The states of our actors, and of those of all other processes, by their numbers; and the past selves."""
        everyone = [state for process in devices.gathered(list(actors)) for state in process]
        return {f"worker_{number}": state for number, state in enumerate(everyone)} | self.past.state()

    @functools.cached_property
    def like(self) -> Any:
        """Parameters of the right shapes."""
        shapes = craft_of(self.job.algorithm).shapes(self.actors[0].agent)
        return jax.tree.map(lambda array: np.zeros(array.shape, array.dtype), shapes)

    def close(self) -> None:
        for actor in self.actors:
            actor.close()


def new_actor(job: Job, number: int, past: Past) -> Actor:
    """Actor `number` of a job, with games and dice of its own."""
    seed = int(random.keys(job.seed, number + 1)[number] >> 33)
    pool = open_pool(job.game, job.rows, seed, threads=1)
    agent = craft_of(job.algorithm).agent_for(job.algorithm, pool)
    opponents = Opponents(job.algorithm.opponents, pool, agent, past, seed)
    places = devices.actors(job.algorithm.actor_devices)
    return Actor(pool, agent, opponents, job.seed, number, places[number % len(places)] if places else None)


def together(rollouts: Sequence[Rollout]) -> Rollout:
    """The rollouts of several actors as one of all their rows."""
    if len(rollouts) == 1:
        return rollouts[0]
    wide: list[Any] = [rollout._replace(memory=(), tally=np.zeros(()), notes={}, version=0) for rollout in rollouts]
    joined = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1) if np.ndim(parts[0]) else parts[0], *wide)
    memory = jax.tree.map(lambda *parts: np.concatenate(parts), *(rollout.memory for rollout in rollouts))
    tally = np.sum([rollout.tally for rollout in rollouts], axis=0)
    names = {name for rollout in rollouts for name in rollout.notes}
    notes = {
        name: float(np.mean([rollout.notes[name] for rollout in rollouts if name in rollout.notes])) for name in names
    }
    return joined._replace(memory=memory, tally=tally, notes=notes, version=rollouts[0].version)
