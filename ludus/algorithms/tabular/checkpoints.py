"""What algorithms that learn tables share: the learner, what a worker returns, and the arrays of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ludus.agents.table import Fields, Table
from ludus.agents.tabular import TabularAgent
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Groups, Metrics
from ludus.types import Array, Continuous, Discrete, LudusError, Spec


class Learner(NamedTuple):
    """The progress of a run."""

    table: Table
    steps: int
    """updates made"""
    episodes: int

    @property
    def params(self) -> Table:
        return self.table


class Replica(NamedTuple):
    """What a worker returns: a table that has learned, which is the learner's own if it learned in place."""

    table: Table
    tally: Array
    """[3 + P] games ended, their steps, updates, and the return of each seat in those games"""
    version: int
    """of the table that it began with"""
    notes: Metrics
    """values of the schedules after this unit"""


def own_table(mine: Table | None, params: Table, workers: int) -> Table:
    """The table that a worker learns into: the learner's if it is the only worker and shares memory, else a copy."""
    if workers == 1 and params.searchable:
        return params
    if mine is None or mine is params:
        return params.copy()
    mine.take(params)
    return mine


def rates(algorithm: Any, steps: float) -> Metrics:
    """The values of the schedules after so many steps; like the workers, this counts the openings of games as steps."""
    return {name: schedules.parse(getattr(algorithm, name))(steps) for name in ("learning_rate", "exploration")}


def save(learner: Learner) -> Groups:
    counters = np.array([learner.steps, learner.episodes], np.int64)
    return {"params": learner.table.state(), "learner": {"counters": counters}}


def restore(agent: TabularAgent, stored: Mapping[str, Mapping[str, Array]], extra: Fields) -> Learner:
    """The learner of a checkpoint; raises LudusError if it is of another game or other settings."""
    assert isinstance(agent.spec.actions, Discrete)
    table = Table.from_state(dict(stored.get("params", {})), agent.spec.actions.n, extra)
    agent.check(table)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (2,):
        raise LudusError("it does not say how far it came; take this checkpoint away to go on from the one before")
    return Learner(table, int(counters[0]), int(counters[1]))


def check_discrete(name: str, spec: Spec) -> None:
    if isinstance(spec.actions, Continuous):
        raise LudusError(
            f"{name} has continuous actions, and a table needs numbered ones; choose another game or a deep agent"
        )
