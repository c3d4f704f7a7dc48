"""Tabular learning: a method, a policy and schedules, compiled together with the game (`kernel.py`).

Each worker learns into its own copy of the table; `update` merges the copies.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, ClassVar, Literal

import numpy as np
import tyro

from ludus import algorithms
from ludus.agents.table import Fields, Positions, Table, positions_of
from ludus.agents.tabular import TabularAgent
from ludus.algorithms import schedules
from ludus.algorithms.protocol import Ahead, Desk, Groups, Worker, nothing_ahead
from ludus.algorithms.tabular import checkpoints, methods, policies
from ludus.algorithms.tabular.checkpoints import Learner, Replica, check_discrete
from ludus.algorithms.tabular.merge import merge
from ludus.algorithms.tally import means, merged
from ludus.bridges import AnyPool
from ludus.files import discovery
from ludus.games import Game
from ludus.pool import binding
from ludus.types import Array, Continuous, Discrete, JsonObject, LudusError, Spec

HERE = pathlib.Path(__file__).parent
CHUNK, STEPPED_CHUNK = 2**20, 2**13
"""decisions of a worker between two merges, if the games are stepped by compiled code and if by Python"""
LARGEST_POSITION = 256
"""maximum size of an observation in bytes; larger observations hardly ever repeat"""
RATES = ("rate", "explore")
SETTINGS = np.dtype(
    [(name, np.float64) for name in ("learning_rate", "exploration", "gamma", "trace_decay", "priority_threshold")]
    + [(name, np.int64) for name in ("n_steps", "planning_steps", "explore_below")]
    + [(f"{rate}_{part}", np.float64) for rate in RATES for part in ("kind", "a", "b", "c")]
)
"""the record that the compiled loop reads: current values of the schedules, constants, and the schedules themselves"""


@dataclass(frozen=True)
class Tabular:
    """The settings of a tabular run."""

    overlap: ClassVar[bool] = False
    data_parallel: ClassVar[bool] = False

    RENAMED: ClassVar[dict[str, str]] = {
        "discount": "gamma", "trace": "trace_decay", "lookahead": "n_steps", "planning": "planning_steps",
        "threshold": "priority_threshold",
    }  # fmt: skip
    """former names, for the error message about an old run.toml"""

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "q_learning"
    """name of the algorithm: q_learning, sarsa, …; planning methods, ppo and world_model have other flags"""
    form: Literal["compiled", "numpy", "list"] = "compiled"
    """implementation of Q-learning; list and numpy are slow and meant to be read and compared"""
    policy: str = "epsilon_greedy"
    """exploration policy: epsilon_greedy, boltzmann or ucb"""
    learning_rate: str = "0.1"
    """α: a number, or a schedule over steps such as linear(0.5, 0.01, 1000000) or exponential(0.5, 0.01, 1e-6)"""
    exploration: str = "0.1"
    """ε of epsilon_greedy, temperature of boltzmann or coefficient of ucb; a number or a schedule over steps"""
    gamma: float = 1.0
    """γ: discount factor per step; 0 to 1"""
    trace_decay: float = 0.9
    """λ: decay of eligibility traces per step, for sarsa_lambda and q_lambda; 0 to 1"""
    n_steps: int = 4
    """n of n_step: steps before a return is bootstrapped; 1 to 64"""
    planning_steps: int = 10
    """simulated steps per real step, for dyna_q and prioritized_sweeping; 0 or more"""
    priority_threshold: float = 1e-4
    """θ of prioritized_sweeping: smaller errors are not queued; above 0"""
    tables: Literal["shared", "seat"] = "shared"
    """one table for all seats, or one for each seat"""

    def __post_init__(self) -> None:
        part("method", self.method)
        part("policy", self.policy)
        for text in (self.learning_rate, self.exploration):
            schedules.parse(text)
        if not 0.0 <= self.gamma <= 1.0 or not 0.0 <= self.trace_decay <= 1.0:
            raise LudusError(
                f"gamma and trace_decay must be between 0 and 1, not {self.gamma:g} and {self.trace_decay:g}"
            )
        if self.n_steps < 1 or self.planning_steps < 0 or not self.priority_threshold > 0.0:
            raise LudusError("n_steps must be 1 or more, planning_steps 0 or more, priority_threshold above 0")
        if self.method == "n_step" and self.n_steps > 64:
            raise LudusError(f"n_steps must be at most 64, not {self.n_steps}; use fewer steps, or monte_carlo")
        if self.form != "compiled" and (self.method, self.policy) != ("q_learning", "epsilon_greedy"):
            raise LudusError(f"form={self.form} supports q_learning with epsilon_greedy only; use form=compiled")

    @property
    def extra(self) -> Fields:
        """Fields that rows have besides the values, for each action."""
        parts = (part("method", self.method), part("policy", self.policy))
        return tuple(dict.fromkeys(field for module in parts for field in getattr(module, "EXTRA", ())))

    @property
    def mergeable(self) -> bool:
        """Whether the tables of several workers can be merged."""
        return not hasattr(part("method", self.method), "MEMORY")

    def new_table(self, positions: Positions, actions: int, seats: int) -> Table:
        """An empty table for a game with these positions."""
        return Table(positions.count * (seats if self.tables == "seat" else 1), actions, self.extra)

    def settings(self) -> Array:
        """The record that the compiled loop reads."""
        record = np.zeros(1, SETTINGS)
        for name in ("gamma", "trace_decay", "priority_threshold", "n_steps", "planning_steps"):
            record[name] = getattr(self, name)
        for rate, text in zip(RATES, (self.learning_rate, self.exploration), strict=True):
            for field, number in zip(("kind", "a", "b", "c"), schedules.parse(text).numbers(), strict=True):
                record[f"{rate}_{field}"] = number
        return record

    @classmethod
    def defaults(cls, spec_of: Callable[[], Spec | None], steps: int | None) -> JsonObject:
        return {}

    @classmethod
    def fits(cls, name: str, game: Game) -> bool:
        """Tables need numbered actions and positions that repeat."""
        if isinstance(game.spec.actions, Continuous) or game.rules.OBSERVATION.itemsize > LARGEST_POSITION:
            return False
        try:
            positions_of(game.name, game.rules.OBSERVATION)
        except LudusError:
            return False
        return True

    def count_workers(self, wanted: int, places: int) -> int:
        workers = wanted or places
        if workers > 1 and not self.mergeable:
            raise LudusError(
                f"{self.method} learns a model that cannot be merged: run it with --runtime local --workers 1"
            )
        return workers

    def chunk(self, pool: AnyPool, desk: Desk, rows: int, wanted: int, longest: int) -> int:
        """At least one update for every seat, because checkpoints are numbered by updates."""
        native = pool.compiled is not None and self.form == "compiled"
        usual = min(CHUNK, longest) if native else STEPPED_CHUNK
        least = rows * (pool.spec.seats + 1)
        return max(wanted or min(usual, -(-desk.steps // max(desk.workers, 1))), least)

    def compile_ahead(self, game: str, rows: int, workers: int) -> Ahead:
        return nothing_ahead(game, rows, workers)

    def new_agent(self, pool: AnyPool) -> TabularAgent:
        check_discrete(pool.name, pool.spec)
        return TabularAgent.of(pool, self.tables)

    def describe(self) -> JsonObject:
        return {"kind": "tabular", "tables": self.tables}

    def evaluation_agent(self, agent: TabularAgent) -> TabularAgent:
        return agent

    def new_learner(self, agent: TabularAgent, seed: int) -> Learner:
        assert isinstance(agent.spec.actions, Discrete)
        return Learner(self.new_table(agent.positions, agent.spec.actions.n, agent.spec.seats), 0, 0)

    def new_worker(self, agent: TabularAgent, pool: AnyPool, desk: Desk) -> Worker[Replica]:
        from ludus.algorithms.tabular import worker
        from ludus.algorithms.tabular.forms.worker import FormWorker

        kind = worker.Worker if self.form == "compiled" else FormWorker
        return kind(pool, self, desk)

    def update(
        self, agent: TabularAgent, learner: Learner, experience: Sequence[Replica]
    ) -> tuple[Learner, dict[str, float]]:
        """Merge the tables of the workers; metrics are means over the games that ended."""
        merge(learner.table, [replica.table for replica in experience if replica.table is not learner.table])
        tally = merged([replica.tally for replica in experience])
        grown = Learner(learner.table, learner.steps + int(tally[2]), learner.episodes + int(tally[0]))
        return grown, means(tally) | {"positions": float(len(learner.table))} | experience[-1].notes

    def broadcast(self, learner: Learner) -> Table:
        return learner.table

    def save(self, learner: Learner) -> Groups:
        return checkpoints.save(learner)

    def restore(self, agent: TabularAgent, stored: Mapping[str, Mapping[str, Array]], seed: int) -> Learner:
        return checkpoints.restore(agent, stored, self.extra)


ALGORITHM = Tabular


def names(kind: str) -> list[str]:
    """The names of all methods or policies; `kind` is "method" or "policy"."""
    if kind == "method":
        others = discovery.load_all(algorithms.GROUP, None).modules
        return sorted([*algorithms.methods("tabular"), *(name for name in others if hasattr(others[name], "backup"))])
    return discovery.bundled(policies.__name__)


def part(kind: str, name: str) -> ModuleType:
    """The module of a method or policy; raises LudusError if there is none of that name."""
    if name in (algorithms.methods("tabular") if kind == "method" else names(kind)):
        return discovery.load_bundled((methods if kind == "method" else policies).__name__, name)
    if name not in names(kind):
        raise LudusError(f'unknown {kind} "{name}"; known are {", ".join(names(kind))}')
    return discovery.load(algorithms.GROUP, None, name)


_bound: dict[tuple[ModuleType, str, str], ModuleType] = {}


def bind(name: str, rules: ModuleType, method: str, policy: str) -> ModuleType:
    """The compiled loop of a game with a method and a policy, one per process."""
    key = (rules, method, policy)
    if key not in _bound:
        plain = re.sub(binding.NOT_FOR_FILES, "_", name)[:60]
        _bound[key] = binding.instantiate(
            HERE / "kernel.py", f"ludus_tabular_{method}_{policy}_{plain}",
            rules=rules, method=part("method", method), policy=part("policy", policy),
        )  # fmt: skip
    return _bound[key]
