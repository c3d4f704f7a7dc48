"""A preference for each action, whatever the position: an algorithm with an agent of its own in one module."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import tyro

from ludus.algorithms import rollout_worker
from ludus.algorithms.protocol import nothing_ahead
from ludus.algorithms.tally import means
from ludus.types import Decision, Discrete, LudusError, Spec


@dataclass(frozen=True)
class PreferenceAgent:
    """Plays the legal action with the highest preference; while it learns, noise is added to preferences."""

    spec: Spec
    noise: float = 0.0

    def init(self, spec, key):
        return np.zeros(spec.actions.n)

    def memory(self, rows):
        return ()

    def act(self, params, memory, step, key):
        noise = np.random.default_rng(key).normal(0.0, 1.0, step.mask.shape)
        preferences = np.where(step.mask, np.asarray(params) + self.noise * noise, -np.inf)
        rows = len(step.seat)
        return Decision(preferences.argmax(axis=1), np.zeros(rows), np.zeros(step.reward.shape)), memory


class Learner(NamedTuple):
    """The progress of a run."""

    params: Any
    steps: int
    episodes: int


@dataclass(frozen=True)
class Preferences:
    """The settings of a run."""

    overlap: ClassVar[bool] = False
    data_parallel: ClassVar[bool] = False

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "preferences"
    """name of the algorithm"""
    learning_rate: float = 0.1
    """change of a preference for a reward of 1"""

    @classmethod
    def defaults(cls, spec_of, steps):
        return {"num_envs": 8}

    @classmethod
    def fits(cls, name, game):
        return isinstance(game.spec.actions, Discrete)

    def count_workers(self, wanted, places):
        return wanted or 1

    def chunk(self, pool, desk, rows, wanted, longest):
        return wanted or 16 * rows

    compile_ahead = staticmethod(nothing_ahead)

    def new_agent(self, pool):
        return PreferenceAgent(pool.spec, noise=1.0)

    def describe(self):
        return {"kind": self.method}

    def evaluation_agent(self, agent):
        return replace(agent, noise=0.0)

    def new_learner(self, agent, seed):
        return Learner(agent.init(agent.spec, seed), 0, 0)

    def new_worker(self, agent, pool, desk):
        return rollout_worker.new_worker(agent, pool, desk)

    def update(self, agent, learner, experience):
        rollout = rollout_worker.joined(experience)
        seats = rollout.steps.seat[:-1, :, None].astype(np.int64)
        rewards = np.take_along_axis(rollout.steps.reward[1:], seats, axis=-1)[..., 0] * ~rollout.steps.first[1:]
        params = learner.params.copy()
        np.add.at(params, rollout.decisions.action, self.learning_rate * rewards)
        metrics = means(rollout.tally) | rollout.notes
        steps, episodes = learner.steps + int(metrics["decisions"]), learner.episodes + int(metrics["episodes"])
        return Learner(params, steps, episodes), metrics

    def broadcast(self, learner):
        return {"params": learner.params, "number": np.int64(0), "snapshots": {}}

    def save(self, learner):
        counters = np.array([learner.steps, learner.episodes], np.int64)
        return {"params": {"preferences": learner.params}, "learner": {"counters": counters}}

    def restore(self, agent, stored, seed):
        counters = stored.get("learner", {}).get("counters", np.zeros(0))
        if counters.shape != (2,):
            raise LudusError("it has no step counters")
        return Learner(preferences_of(stored, agent.spec), *counters.tolist())


def preferences_of(stored, spec):
    preferences = stored.get("params", {}).get("preferences", np.zeros(0))
    if preferences.shape != (spec.actions.n,):
        raise LudusError(f"it has no preferences for {spec.actions.n} actions")
    return preferences


def restore_agent(stored, pool):
    """The agent and the parameters of a checkpoint."""
    return PreferenceAgent(pool.spec), preferences_of(stored.arrays, pool.spec)


ALGORITHM = Preferences
