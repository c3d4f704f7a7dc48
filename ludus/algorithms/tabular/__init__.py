"""Tabular learning: a method, a policy and a schedule or two, compiled together with the game (`kernel.py`).

A runtime hands over tables that learned side by side from the same beginning; `update` makes one table of them.
"""

from __future__ import annotations

import importlib
import pathlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import tyro

from ludus import schedules
from ludus.agents.table import Fields, Positions, Table
from ludus.algorithms.tabular.merge import merge
from ludus.algorithms.tally import means
from ludus.pool import binding
from ludus.types import Array, LudusError

HERE = pathlib.Path(__file__).parent
RATES = ("rate", "explore")
SETTINGS = np.dtype(
    [(name, np.float64) for name in ("learning_rate", "exploration", "discount", "trace", "threshold")]
    + [(name, np.int64) for name in ("lookahead", "planning", "explore_below")]
    + [(f"{rate}_{part}", np.float64) for rate in RATES for part in ("kind", "a", "b", "c")]
)
"""what the compiled loop reads: the rates of this moment, and the schedules that they follow"""


@dataclass(frozen=True)
class Tabular:
    """The settings of a tabular run."""

    CRAFT: ClassVar[str] = "ludus.algorithms.tabular.craft"
    DEEP: ClassVar[bool] = False

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "q_learning"
    """what is learned from a step: q_learning, sarsa, …"""
    form: Literal["compiled", "numpy", "list"] = "compiled"
    """how Q-learning is reckoned; list and numpy are for reading and comparing"""
    policy: str = "epsilon_greedy"
    """how actions are tried: epsilon_greedy, boltzmann, ucb"""
    learning_rate: str = "0.1"
    """a number, or a schedule over steps: linear(0.5, 0.01, 1000000), exponential(0.5, 0.01, 1e-6)"""
    exploration: str = "0.1"
    """the ε of epsilon_greedy, the temperature of boltzmann, the width of ucb; a number or a schedule"""
    discount: float = 1.0
    """what a step later is worth"""
    trace: float = 0.9
    """λ of the methods with traces"""
    lookahead: int = 4
    """n of n_step"""
    planning: int = 10
    """imagined steps for each real one, of dyna_q and prioritized_sweeping"""
    threshold: float = 1e-4
    """the smallest surprise that prioritized_sweeping follows up"""
    tables: Literal["shared", "seat"] = "shared"
    """one table for all seats, or one for each"""

    def __post_init__(self) -> None:
        part("method", self.method)
        part("policy", self.policy)
        for text in (self.learning_rate, self.exploration):
            schedules.parse(text)
        if not 0.0 <= self.discount <= 1.0 or not 0.0 <= self.trace <= 1.0:
            raise LudusError(f"discount and trace lie between 0 and 1; {self.discount:g} and {self.trace:g} do not")
        if self.lookahead < 1 or self.planning < 0 or not self.threshold > 0.0:
            raise LudusError("lookahead is 1 or more, planning 0 or more, threshold above 0")
        if self.method == "n_step" and self.lookahead > 64:
            raise LudusError(f"n_step looks at most 64 steps ahead, not {self.lookahead}; take fewer, or monte_carlo")
        if self.form != "compiled" and (self.method, self.policy) != ("q_learning", "epsilon_greedy"):
            raise LudusError(f"the {self.form} form knows q_learning with epsilon_greedy only; use form=compiled")

    @property
    def extra(self) -> Fields:
        """What rows hold beside the values."""
        parts = (part("method", self.method), part("policy", self.policy))
        return tuple(dict.fromkeys(field for module in parts for field in getattr(module, "EXTRA", ())))

    @property
    def mergeable(self) -> bool:
        """Whether tables that learned side by side can become one."""
        return not hasattr(part("method", self.method), "MEMORY")

    def new_table(self, positions: Positions, actions: int, seats: int) -> Table:
        """An empty table for a game with these positions."""
        return Table(positions.count * (seats if self.tables == "seat" else 1), actions, self.extra)

    def settings(self) -> Array:
        """The record that the compiled loop reads."""
        record = np.zeros(1, SETTINGS)
        for name in ("discount", "trace", "threshold", "lookahead", "planning"):
            record[name] = getattr(self, name)
        for rate, text in zip(RATES, (self.learning_rate, self.exploration), strict=True):
            for field, number in zip(("kind", "a", "b", "c"), schedules.parse(text).numbers(), strict=True):
                record[f"{rate}_{field}"] = number
        return record

    def start(self, table: Table) -> Learner:
        return Learner(table, 0, 0)

    def batches(self, experience: Iterator[Learned]) -> Iterator[Learned]:
        return experience

    def update(self, agent: Any, learner: Learner, learned: Learned) -> tuple[Learner, dict[str, float]]:
        """Take over what was learned; metrics are of the games that ended meanwhile."""
        learned.settle(learner.table)
        tally = np.sum(learned.tallies, axis=0)
        grown = Learner(learner.table, learner.steps + int(tally[2]), learner.episodes + int(tally[0]))
        return grown, means(tally) | {"positions": float(len(learner.table))}


class Learner(NamedTuple):
    """How far a run has come."""

    table: Table
    steps: int
    """updates made"""
    episodes: int

    @property
    def params(self) -> Table:
        return self.table


class Learned(NamedTuple):
    """What a runtime hands over: tables that learned since `version` of the learner's, and what was played."""

    tables: list[Table]
    """empty where the learner's own table has learned in place"""
    tallies: list[Array]
    version: int
    mappings: list[Array]
    """filled by `settle`: where the rows of each table are now"""

    def settle(self, table: Table) -> None:
        """Make one table of many."""
        self.mappings[:] = merge(table, self.tables)


def names(kind: str) -> list[str]:
    """Every method, or every policy."""
    folder = HERE / {"method": "methods", "policy": "policies"}[kind]
    return sorted(module.name for module in pkgutil.iter_modules([str(folder)]))


def part(kind: str, name: str) -> ModuleType:
    """The module of a method or a policy."""
    if name not in names(kind):
        raise LudusError(f'unknown {kind} "{name}"; known are {", ".join(names(kind))}')
    folder = {"method": "methods", "policy": "policies"}[kind]
    return importlib.import_module(f"ludus.algorithms.tabular.{folder}.{name}")


_bound: dict[tuple[ModuleType, str, str], Any] = {}


def bind(name: str, rules: ModuleType, method: str, policy: str) -> Any:
    """The compiled loop of a game with a method and a policy, one per process."""
    key = (rules, method, policy)
    if key not in _bound:
        plain = re.sub(binding.NOT_FOR_FILES, "_", name)[:60]
        _bound[key] = binding.instantiate(
            HERE / "kernel.py", f"ludus_tabular_{method}_{policy}_{plain}",
            rules=rules, method=part("method", method), policy=part("policy", policy),
        )  # fmt: skip
    return _bound[key]
