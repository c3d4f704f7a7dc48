"""Who sits at a table: an agent with its memory, its dice, and the games that are new to it; or a person."""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np

from ludus import agents
from ludus.agents.person import NAME as PERSON
from ludus.agents.search import lookahead
from ludus.bridges import AnyPool
from ludus.evaluate.playing import merged, remembers
from ludus.games import split_name
from ludus.pool import Pool
from ludus.types import Array, Continuous, Decision, Step, step_rows

STRENGTH = ("random", "scripted", "greedy", "mcts", "run", "dreamer", "trained", "lookahead", "expert", "perfect")
"""from the weakest to the strongest, by how their names begin"""
ADVISER_SEARCH = "mcts(400)"


class Shelf(Protocol):
    """Where agents are found by name, never by a path."""

    def agent(self, name: str, game: str) -> tuple[Any, Any]:
        """The agent and its parameters."""

    def newer(self, name: str) -> Any:
        """Something that changes whenever a newer agent stands under this name."""


class Player:
    """An agent that plays one seat in all rows of a pool; `own` rows alone change its memory."""

    def __init__(self, name: str, agent: Any, params: Any, pool: AnyPool, seed: int) -> None:
        self.name, self.params = name, params
        self.agent = agents.seated(agent, pool)
        rows = step_rows(pool.step)
        self.memory = self.agent.memory(rows)
        self.unseen = np.ones(rows, bool)
        self.dice = np.random.default_rng(seed % 2**64)

    def key(self) -> int:
        return int(self.dice.integers(2**31))

    def act(self, step: Step, own: Array) -> Decision:
        """Decide in its own rows; a game is `first` at the first step that this seat sees of it."""
        seen = step._replace(discount=np.where(own, step.discount, 0), first=self.unseen.copy())
        decision, memory = self.agent.act(self.params, self.memory, seen, self.key())
        self.memory = merged(own, memory, self.memory)
        self.unseen &= ~own
        return decision

    @property
    def remembers(self) -> bool:
        return remembers(self.memory)


def strength(name: str) -> int:
    """How strong an agent is by its name."""
    return max(STRENGTH.index(kind) if name.startswith(kind) else 0 for kind in STRENGTH)


def best_adviser(pool: AnyPool) -> str | None:
    """The strongest agent that a game has for hints; None for games that only chance plays."""
    if not isinstance(pool, Pool) or ":" in pool.name:
        return None
    name = split_name(pool.name)[0]
    known = agents.kinds_for(name)
    search = [] if isinstance(pool.spec.actions, Continuous) else [ADVISER_SEARCH]
    learned = ["lookahead"] * lookahead.fits(name) + agents.shipped_kinds(name)
    wanted = [*(kind for kind in ("perfect", "expert") if kind in known), *learned, *search]
    return next(iter([*wanted, *(kind for kind in known if kind not in ("random", "trained"))]), None)


def is_run(name: str) -> bool:
    """Whether a newer agent may come to stand under this name: a run, and not one checkpoint of it."""
    return re.fullmatch(r"run:[^@]+(@best)?", name) is not None


__all__ = ["PERSON", "Player", "Shelf", "best_adviser", "is_run", "strength"]
