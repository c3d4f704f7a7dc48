"""Planning as an algorithm: its worker computes a plan from the dynamics of the game and writes it into a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import tyro

from ludus import algorithms
from ludus.agents.table import ILLEGAL, Positions, Table, positions_of
from ludus.agents.tabular import TabularAgent, enter_all
from ludus.algorithms.planning.dynamics import Dynamics, dynamics_of
from ludus.algorithms.planning.methods.value_iteration import MARGIN, Plan
from ludus.algorithms.protocol import Ahead, Arrays, Desk, Groups, Metrics, nothing_ahead
from ludus.algorithms.tabular import checkpoints
from ludus.algorithms.tabular.checkpoints import Learner, Replica, check_discrete
from ludus.bridges import AnyPool
from ludus.games import Game
from ludus.types import Array, Continuous, Discrete, JsonObject, LudusError, Spec

TIE = 1e-5
"""subtracted from actions that tie with the action of the plan: random play among them might never end the game"""
UNIT_SECONDS = 0.25
"""minimum duration of one unit of work"""


@dataclass(frozen=True)
class Planning:
    """The settings of value_iteration and policy_iteration."""

    overlap: ClassVar[bool] = False
    data_parallel: ClassVar[bool] = False

    RENAMED: ClassVar[dict[str, str]] = {"discount": "gamma"}
    """former names, for the error message about an old run.toml"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "value_iteration"
    """value_iteration or policy_iteration"""
    gamma: float = 1.0
    """γ: discount factor per step; 0 to 1"""
    tolerance: float = 1e-10
    """planning ends when no value changes by more than this; above 0"""

    def __post_init__(self) -> None:
        if not 0.0 <= self.gamma <= 1.0 or not self.tolerance > 0.0:
            raise LudusError(
                f"gamma must be between 0 and 1 and tolerance above 0, not {self.gamma:g} and {self.tolerance:g}"
            )

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> JsonObject:
        return {}

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        """Planning needs numbered positions, no hidden information, and one seat or an alternating zero-sum game."""
        spec = game.spec
        if isinstance(spec.actions, Continuous):
            return False
        try:
            positions = positions_of(game.name, game.rules.OBSERVATION)
        except LudusError:
            return False
        plannable = spec.seats == 1 or (spec.zero_sum and spec.turns == "alternating")
        return positions.count > 0 and plannable and not hasattr(game.rules, "redeal")

    def count_workers(self, wanted: int, places: int) -> int:
        if wanted > 1:
            raise LudusError(f"{self.method} uses one worker, not {wanted}; leave out --workers")
        return 1

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        return wanted or rows

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        return nothing_ahead(game, rows, workers)

    def new_agent(self, pool: AnyPool) -> TabularAgent:
        check_discrete(pool.name, pool.spec)
        return TabularAgent.of(pool)

    def describe(self) -> JsonObject:
        return {"kind": "tabular", "tables": "shared"}

    def evaluation_agent(self, agent: TabularAgent) -> TabularAgent:
        return agent

    def new_learner(self, agent: TabularAgent, seed: int) -> Learner:
        assert isinstance(agent.spec.actions, Discrete)
        return Learner(Table(agent.positions.count, agent.spec.actions.n), 0, 0)

    def new_worker(self, agent: TabularAgent, pool: AnyPool, desk: Desk) -> Planner:
        return Planner(self, agent, pool)

    def update(
        self, agent: TabularAgent, learner: Learner, experience: Sequence[Replica]
    ) -> tuple[Learner, dict[str, float]]:
        """Copy the plan into the learner's table."""
        (planned,) = experience
        if planned.table is not learner.table:
            learner.table.take(planned.table)
        backups = int(planned.tally[2])
        metrics = {"decisions": float(backups), "positions": float(len(learner.table))} | planned.notes
        return Learner(learner.table, learner.steps + backups, 0), metrics

    def broadcast(self, learner: Learner) -> Table:
        return learner.table

    def save(self, learner: Learner) -> Groups:
        return checkpoints.save(learner)

    def restore(self, agent: TabularAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        return checkpoints.restore(agent, stored, ())


class Planner:
    """A worker that plays no games: each unit of work is some sweeps over all states."""

    def __init__(self, algorithm: Planning, agent: TabularAgent, pool: AnyPool) -> None:
        self.algorithm, self.positions, self.time, self.version = algorithm, agent.positions, 0, 0
        try:
            self.dynamics = dynamics_of(pool)
        finally:
            pool.close()
        self.backups, self.swept = int(self.dynamics.legal.sum()), 0
        plans = algorithms.method_module(algorithm.method).plans
        self.stages = plans(self.dynamics, algorithm.gamma, algorithm.tolerance)
        self.table: Table | None = None

    def publish(self, params: Table, version: int) -> None:
        self.table = params if params.searchable else params.copy()
        self.version = version

    def work(self) -> Replica:
        """Sweep for UNIT_SECONDS and write the plan into the table."""
        assert self.table is not None, "publish a table before the first unit"
        start = time.perf_counter()
        for stage in self.stages:
            if stage.finished or time.perf_counter() - start > UNIT_SECONDS:
                break
        plan: Plan = stage.plan()
        write(self.table, self.positions, self.dynamics, plan)
        opening = float(plan.values @ self.dynamics.start)
        notes: Metrics = {"change": stage.change, "sweeps": float(stage.sweeps), "opening": opening}
        tally = np.array([0.0, 0.0, float((stage.sweeps - self.swept) * self.backups)])
        self.swept = stage.sweeps
        return Replica(self.table, tally, self.version, notes | {"finished": float(stage.finished)})

    def state(self) -> Arrays:
        return {"time": np.array([self.time], np.int64)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Planning starts again, because it takes only seconds."""

    def close(self) -> None:
        pass


def write(table: Table, positions: Positions, dynamics: Dynamics, plan: Plan) -> None:
    """Write the action values of every state that is not terminal into the row of its observation."""
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
    values[(values >= best - MARGIN) & others] -= TIE
    table.rows["values"][places] = np.where(np.isfinite(values), values, ILLEGAL)
