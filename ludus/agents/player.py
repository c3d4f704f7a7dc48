"""A player: an agent with its parameters, memory and random numbers, in all rows of one pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludus.agents.protocol import Agent, Key, Memory, Params, seated
from ludus.pool.protocol import AnyPool
from ludus.types import Array, Decision, LudusError, Step, step_rows

Contestant = tuple[Agent, Params]
"""an agent and its parameters"""


class Player:
    """An agent that plays in some rows of a pool; its memory changes only in these rows."""

    def __init__(self, name: str, agent: Agent, params: Params, pool: AnyPool, seed: int | Sequence[int]) -> None:
        self.name, self.params = name, params
        self.agent = seated(agent, pool)
        rows = step_rows(pool.step)
        self.memory = self.agent.memory(rows)
        self.unseen = np.ones(rows, bool)
        """[N] whether the player has not seen a step of this game yet"""
        self.dice = np.random.default_rng(seed)

    def key(self) -> int:
        """A new seed for the next decision."""
        return int(self.dice.integers(2**31))

    def notice(self, step: Step) -> None:
        """Mark the games that begin at this step as unseen."""
        self.unseen |= step.first

    def act(self, step: Step, own: Array, key: Key | None = None) -> Decision:
        """Decide in the rows that the booleans `own` mark; without a key, the player draws one.

        `first` is True at the first step of a game that this player sees, which for a later seat is not the first step
        of the game.
        """
        key = self.key() if key is None else key
        seen = step._replace(discount=np.where(own, step.discount, 0), first=self.unseen.copy())
        decision, memory = self.agent.act(self.params, self.memory, seen, key)
        self.memory = merged(own, memory, self.memory)
        self.unseen &= ~own
        return decision

    @property
    def remembers(self) -> bool:
        return remembers(self.memory)


def remembers(memory: Memory) -> bool:
    """Whether a memory contains any arrays."""
    if isinstance(memory, dict | tuple | list):
        return any(remembers(part) for part in (memory.values() if isinstance(memory, dict) else memory))
    return memory is not None


def merged(own: Array, new: Memory, old: Memory) -> Memory:
    """The new memory in the marked rows, and the old one in all others."""
    if isinstance(new, dict):
        return {name: merged(own, new[name], old[name]) for name in new}
    if new is None:
        return None
    if isinstance(new, tuple | list):
        parts = [merged(own, *pair) for pair in zip(new, old, strict=True)]
        return type(new)(*parts) if hasattr(new, "_fields") else type(new)(parts)
    if np.shape(new)[:1] != own.shape:
        raise LudusError(f"the memory of an agent must have one row for each of {len(own)} rows, not {np.shape(new)}")
    # Use the array's own library (NumPy or JAX), so that memory on a device stays there.
    where = new.__array_namespace__().where
    return where(own.reshape(-1, *[1] * (new.ndim - 1)), new, old)
