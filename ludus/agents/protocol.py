"""The agent protocol: random, scripted, perfect, search, tabular, neural and world-model agents, and persons."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from ludus.pool.protocol import AnyPool
from ludus.types import Array, Decision, PyTree, Spec, Step

Key = int | np.integer[Any] | Array
"""a seed, or an array of N seeds: then the randomness of row i comes from seed i alone"""
Params = PyTree
"""everything learned, as a pytree"""
Memory = PyTree
"""what an agent remembers of N games: nested tuples, lists and dicts of arrays with N rows; () for no memory"""


@runtime_checkable
class Agent(Protocol):
    """A frozen dataclass: everything learned is in `params`, everything chosen in its fields."""

    def init(self, spec: Spec, key: Key) -> Params:
        """New parameters; () for an agent that learns nothing."""
        return ()

    def memory(self, rows: int) -> Memory:
        """The memory before the first step of a game; () for an agent that remembers nothing."""
        return ()

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Decide for the N rows of a step. Memory is reset where `step.first`."""
        ...


@runtime_checkable
class PoolAgent(Agent, Protocol):
    """An agent that needs the games themselves, like search or a person: only what `at` returns can act."""

    def at(self, pool: AnyPool) -> Agent:
        """The agent for the games of this pool; it acts on the newest step of the pool."""
        ...


def seated(agent: Agent, pool: AnyPool) -> Agent:
    """The agent for the games of this pool.

    In rows where it has nothing to decide, callers set the discount of the step to 0, as after the end of a game. The
    agent may skip its computation there; its action is ignored.
    """
    return agent.at(pool) if isinstance(agent, PoolAgent) else agent


def simulates(agent: Agent) -> bool:
    """Whether the agent simulates so many steps per decision that it waits for compiled rules (`simulates = True`)."""
    return bool(getattr(agent, "simulates", False))
