"""How agents decide for batches: tables, and all agents that have only `act`; networks are in network.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from ludus.agents.protocol import Agent, Memory, Params
from ludus.agents.tabular import TabularAgent, best_of
from ludus.pool.actions import any_of
from ludus.types import Array, Spec, Step

SIZES = (1, 2, 4, 8, 16)
"""numbers of rows for which agents are compiled"""
Tell = Callable[[str, int, int], None]
"""(what, done, of how many): progress of compilation"""


def sizes_up_to(most: int) -> tuple[int, ...]:
    """The numbers of rows to compile for batches of at most `most` rows."""
    return (*(size for size in SIZES if size < most), most)


class Inputs(NamedTuple):
    """B rows as an agent reads them."""

    observation: Mapping[str, Array]
    mask: Array
    seat: Array
    first: Array
    memory: Memory
    seeds: Array


class Outputs(NamedTuple):
    """The decisions of an agent for B rows."""

    action: Array
    probabilities: Array
    value: Array
    """[B] for the seat that acts"""
    memory: Memory


class Decider(Protocol):
    """An agent with its parameters, ready to decide."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of rows that `decide` accepts; smaller batches are padded. Empty if any number will do."""

    @property
    def most(self) -> int:
        """The maximum rows of a batch."""

    def decide(self, inputs: Inputs) -> Outputs:
        """Decide for these rows; blocking."""

    def warm(self, blank: Callable[[int], Inputs], tell: Tell) -> None:
        """Compile everything that `decide` may need; `blank(rows)` makes inputs."""


class TableDecider:
    """A table: the best known action, and the same probability for all that are equally good."""

    sizes = ()

    def __init__(self, agent: TabularAgent, params: Params, sample: bool, most: int) -> None:
        self._agent, self._table, self._sample, self.most = agent, params, sample, most

    def decide(self, inputs: Inputs) -> Outputs:
        """Decide for these rows."""
        values = self._agent.values(self._table, step_of(inputs, self._agent.spec))
        best = best_of(values)
        action = any_of(best, inputs.seeds) if self._sample else best.argmax(axis=1)
        probabilities = (best / best.sum(axis=1, keepdims=True)).astype(np.float32)
        return Outputs(action, probabilities, values.max(axis=1), inputs.memory)

    def warm(self, blank: Callable[[int], Inputs], tell: Tell) -> None:
        """Compile the search for positions."""
        self.decide(blank(1))


class AgentDecider:
    """Any other agent that acts on observations: its action has probability 1, and its value is 0 if it gives none."""

    def __init__(self, agent: Agent, params: Params, spec: Spec, sizes: tuple[int, ...], most: int) -> None:
        self._agent, self._params, self._spec, self.sizes = agent, params, spec, sizes
        self.most = sizes[-1] if sizes else most

    def decide(self, inputs: Inputs) -> Outputs:
        """Decide for these rows."""
        # An agent that compiles for a few sizes takes one seed for all rows.
        seeds = int(inputs.seeds[0]) if self.sizes else inputs.seeds
        decision, memory = self._agent.act(self._params, inputs.memory, step_of(inputs, self._spec), seeds)
        action, count = np.asarray(decision.action), inputs.mask.shape[1]
        chosen = (np.arange(count) == action[:, None]) if count else np.zeros((len(action), 0))
        own = np.take_along_axis(np.asarray(decision.value), inputs.seat[:, None].astype(np.int64), axis=1)
        return Outputs(action, chosen.astype(np.float32), own[:, 0], memory)

    def warm(self, blank: Callable[[int], Inputs], tell: Tell) -> None:
        """Compile for every size."""
        for done, size in enumerate(self.sizes or (1,)):
            tell("compiling", done, len(self.sizes or (1,)))
            self.decide(blank(size))


def step_of(inputs: Inputs, spec: Spec) -> Step:
    """The step that an agent sees: nobody has been rewarded, and no game has ended."""
    rows = len(inputs.seat)
    rewards, discount = np.zeros((rows, spec.seats), np.float32), np.ones(rows, np.float32)
    return Step(dict(inputs.observation), inputs.mask, inputs.seat, rewards, discount, inputs.first)
