"""Players of a table: persons, agents found by name, and the strongest agent for hints."""

from __future__ import annotations

import re
from typing import Protocol

from ludus import agents
from ludus.agents.player import Contestant, Player
from ludus.agents.players.person import NAME as PERSON
from ludus.agents.search import lookahead
from ludus.bridges import AnyPool
from ludus.games import split_name
from ludus.types import Continuous

STRENGTH = ("random", "scripted", "greedy", "mcts", "run", "dreamer", "trained", "lookahead", "expert", "perfect")
"""from the weakest to the strongest, by how their names begin"""
ADVISER_SEARCH = "mcts(400)"


class Shelf(Protocol):
    """Finds agents by name, never by a path."""

    def agent(self, name: str, game: str) -> Contestant:
        """The agent and its parameters."""

    def newer(self, name: str) -> object:
        """A value that changes whenever there is a newer agent of this name."""


def strength(name: str) -> int:
    """How strong an agent is by its name."""
    return max(STRENGTH.index(kind) if name.startswith(kind) else 0 for kind in STRENGTH)


def best_adviser(pool: AnyPool) -> str | None:
    """The strongest agent for hints; None for games that have only the random agent."""
    if pool.compiled is None or ":" in pool.name:
        return None
    name = split_name(pool.name)[0]
    known = agents.kinds_for(name)
    search = [] if isinstance(pool.spec.actions, Continuous) else [ADVISER_SEARCH]
    learned = ["lookahead"] * lookahead.fits(name) + agents.shipped_kinds(name)
    wanted = [*(kind for kind in ("perfect", "expert") if kind in known), *learned, *search]
    return next(iter([*wanted, *(kind for kind in known if kind not in ("random", "trained"))]), None)


def is_run(name: str) -> bool:
    """Whether this name is a run, which may get newer checkpoints, and not one checkpoint of it."""
    return re.fullmatch(r"run:[^@]+(@best)?", name) is not None


__all__ = ["PERSON", "Player", "Shelf", "best_adviser", "is_run", "strength"]
