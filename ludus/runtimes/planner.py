"""The source of plans: it plays nothing, and reckons with the dynamics of the game itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from ludus.algorithms.planning import Plan, dynamics_of, policy_iteration, value_sweeps
from ludus.algorithms.planning.settings import Planned
from ludus.algorithms.planning.value_iteration import action_values, best_policy
from ludus.bridges import open_pool
from ludus.runtimes.job import Job
from ludus.types import Array, LudusError

SECONDS, LONGEST = 0.25, 100_000
"""between two plans that are handed over, and sweeps after which values that still change are given up"""


class Planner:
    """Plans, each better than the one before; the last one is finished."""

    def __init__(self, job: Job) -> None:
        self.settings: Any = job.algorithm
        pool = open_pool(job.game, 1, job.seed, threads=1)
        try:
            self.dynamics = dynamics_of(pool)
        finally:
            pool.close()
        self.backups = int(self.dynamics.legal.sum())
        self.version = 0

    def __iter__(self) -> Iterator[Planned]:
        if self.settings.method == "policy_iteration":
            plan = policy_iteration(self.dynamics, self.settings.discount, self.settings.tolerance)
            yield Planned(plan, self.dynamics, plan.sweeps * self.backups, 0.0, True, self.version)
            return
        told, at = 0, time.perf_counter()
        for sweep in value_sweeps(self.dynamics, self.settings.discount):
            finished = sweep.change <= self.settings.tolerance
            if finished or time.perf_counter() - at > SECONDS:
                worth = action_values(self.dynamics, sweep.values, self.settings.discount)
                plan = Plan(sweep.values, worth, best_policy(self.dynamics, worth), sweep.number)
                backups, told = (sweep.number - told) * self.backups, sweep.number
                yield Planned(plan, self.dynamics, backups, sweep.change, finished, self.version)
                at = time.perf_counter()
            if finished:
                return
            if sweep.number >= LONGEST:
                raise LudusError(
                    f"values still change by {sweep.change:g} after {LONGEST:,} sweeps; use a discount below 1"
                )

    def publish(self, params: Any, version: int) -> None:
        self.version = version

    def state(self) -> dict[str, dict[str, Array]]:
        return {}

    def restore(self, state: Mapping[str, Mapping[str, Array]]) -> None:
        """Planning begins anew; it takes seconds."""

    def close(self) -> None:
        pass
