"""Planning as the algorithm of a run: what a source hands over is a plan, and a plan becomes a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import tyro

from ludus.agents.table import ILLEGAL, Positions, Table
from ludus.agents.tabular import enter_all
from ludus.algorithms.planning.dynamics import Dynamics
from ludus.algorithms.planning.value_iteration import MARGIN, Plan
from ludus.algorithms.tabular import Learner
from ludus.types import LudusError

NUDGE = 1e-5
"""by which the table marks down actions that are as good as the plan's: two of them may lead in a circle"""


@dataclass(frozen=True)
class Planning:
    """The settings of value_iteration and policy_iteration."""

    CRAFT: ClassVar[str] = "ludus.algorithms.tabular.craft"
    DEEP: ClassVar[bool] = False

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "value_iteration"
    """value_iteration or policy_iteration"""
    discount: float = 1.0
    """what a step later is worth"""
    tolerance: float = 1e-10
    """the change of a value that is small enough to end"""

    tables = "shared"
    form = "compiled"
    extra = ()
    mergeable = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.discount <= 1.0 or not self.tolerance > 0.0:
            raise LudusError(f"discount is 0 to 1 and tolerance above 0, not {self.discount:g} and {self.tolerance:g}")

    def new_table(self, positions: Positions, actions: int, seats: int) -> Table:
        return Table(positions.count, actions)

    def start(self, table: Table) -> Learner:
        return Learner(table, 0, 0)

    def batches(self, experience: Iterator[Planned]) -> Iterator[Planned]:
        return experience

    def update(self, agent: Any, learner: Learner, planned: Planned) -> tuple[Learner, dict[str, float]]:
        """Write the plan into the table."""
        write(learner.table, agent.positions, planned.dynamics, planned.plan)
        backups = float(planned.backups)
        metrics = {"updates": backups, "positions": float(len(learner.table)), "change": planned.change}
        opening = float(planned.plan.values @ planned.dynamics.start)
        metrics |= {"sweeps": float(planned.plan.sweeps), "opening": opening, "finished": float(planned.finished)}
        return Learner(learner.table, learner.steps + planned.backups, 0), metrics


class Planned(NamedTuple):
    """How far planning has come."""

    plan: Plan
    dynamics: Dynamics
    backups: int
    """values reckoned since the last one"""
    change: float
    finished: bool
    version: int


def write(table: Table, positions: Positions, dynamics: Dynamics, plan: Plan) -> None:
    """The action values of every state that is not an end, found by what the seat to move sees."""
    running = np.flatnonzero(np.asarray(dynamics.legal, bool).any(axis=1))
    observations, codes = positions.new_observations(len(running))
    for name in observations.dtype.names or ():
        observations[name] = dynamics.observations[name][running]
    while table.hashed and len(running) > len(table.rows):
        table.grow()
    places = np.zeros(len(running), np.int64)
    enter_all(*table.arrays(), codes, positions.lows, positions.weights, positions.count, places)
    values = np.array(plan.action_values[running])
    best = values.max(axis=1, keepdims=True)
    others = np.arange(values.shape[1]) != plan.policy[running][:, None]
    values[(values >= best - MARGIN) & others] -= NUDGE
    table.rows["values"][places] = np.where(np.isfinite(values), values, ILLEGAL)
