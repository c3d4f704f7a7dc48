"""What a run must know of learning tables: who plays, how it begins, and what a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ludus import schedules
from ludus.agents.table import Table
from ludus.agents.tabular import TabularAgent
from ludus.algorithms.tabular import Learner
from ludus.algorithms.tabular.worker import check_discrete
from ludus.bridges import AnyPool
from ludus.pool import Pool
from ludus.types import Array, LudusError

CHUNK, STEPPED_CHUNK = 2**20, 2**13
"""decisions of a worker between two merges, where compiled code steps the games and where Python does"""
MPI_CHUNK = 2**18
"""mpiexec leaves half a second between Ctrl-C and SIGKILL, in which a chunk must end and be saved"""


def prepare(run: Any) -> None:
    """Nothing takes long."""


def chunk(run: Any, pool: AnyPool) -> int:
    """Decisions of a worker between two times that the learner is heard of."""
    native = isinstance(pool, Pool) and run.settings.form == "compiled"
    usual = STEPPED_CHUNK if not native else MPI_CHUNK if run.runtime == "mpi" else CHUNK
    # After one step more than there are seats, somebody has learned: checkpoints are numbered by that.
    least = run.rows * (pool.spec.seats + 1)
    return max(run.chunk or min(usual, -(-run.steps // max(run.workers, 1))), least)


def agent_for(settings: Any, pool: AnyPool) -> TabularAgent:
    check_discrete(pool.name, pool.spec)
    return TabularAgent.of(pool, settings.tables)


def player(agent: TabularAgent) -> TabularAgent:
    """The agent as it plays in earnest."""
    return agent


def describe(settings: Any) -> dict[str, Any]:
    return {"kind": "tabular", "tables": settings.tables}


def begin(settings: Any, agent: TabularAgent, seed: int) -> Learner:
    actions: Any = agent.spec.actions
    learner: Learner = settings.start(settings.new_table(agent.positions, actions.n, agent.spec.seats))
    return learner


def groups(learner: Learner) -> dict[str, dict[str, Array]]:
    """What a checkpoint keeps of a learner."""
    counters = np.array([learner.steps, learner.episodes], np.int64)
    return {"params": learner.table.state(), "learner": {"counters": counters}}


def resumed(settings: Any, agent: TabularAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
    """The learner of a checkpoint, if it is one for this game and these settings."""
    actions: Any = agent.spec.actions
    table = Table.from_state(dict(stored.get("params", {})), actions.n, settings.extra)
    agent.check(table)
    counters = stored.get("learner", {}).get("counters", np.zeros(0))
    if counters.shape != (2,):
        raise LudusError("it does not say how far it came; take this checkpoint away to go on from the one before")
    return Learner(table, int(counters[0]), int(counters[1]))


def rates(run: Any, chunks: int) -> dict[str, float]:
    """What the schedules say after so many chunks; like the workers, they count the openings of games as steps."""
    steps = float(chunks * max(run.chunk // run.rows, 1) * run.rows * run.workers)
    names = [name for name in ("learning_rate", "exploration") if hasattr(run.settings, name)]
    return {name: schedules.parse(getattr(run.settings, name))(steps) for name in names}
