"""Shared by algorithms that learn tables: the learner, the result of a worker, and the arrays of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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
    """What a worker returns: its improved table, which is the learner's own if the worker updates it in place."""

    table: Table
    tally: Array
    """counts and moments of the games that ended; see `ludus.algorithms.tally`"""
    version: int
    """of the table that the worker started from"""
    notes: Metrics
    """values of the schedules after this unit"""


def own_table(mine: Table | None, params: Table, workers: int) -> Table:
    """The table that a worker updates: the learner's own if it is the only worker and shares memory, else a copy."""
    if workers == 1 and params.searchable:
        return params
    if mine is None or mine is params:
        return params.copy()
    mine.take(params)
    return mine


def rates(algorithm: object, steps: float) -> Metrics:
    """The values of the schedules after so many steps; the first step of a game counts as a step, as in the workers."""
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
        raise LudusError("it has no step counters; delete this checkpoint to resume from the one before")
    return Learner(table, int(counters[0]), int(counters[1]))


def check_discrete(name: str, spec: Spec) -> None:
    """Raise LudusError if the actions of a game are continuous."""
    if isinstance(spec.actions, Continuous):
        raise LudusError(
            f"{name} has continuous actions, but a table needs discrete actions; choose another game or a deep agent"
        )
