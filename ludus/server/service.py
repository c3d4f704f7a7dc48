"""Everything of the server but HTTP: models, sessions and batches, in one event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ludus.server.model import Loaded, Memory, ModelInfo
from ludus.server.problems import Problem
from ludus.server.sessions import Answer, Decided, SessionInfo
from ludus.server.stores import Store

Observation = Mapping[str, ArrayLike] | ArrayLike
"""of one row: all fields by name, or the array of a game with one field"""


@dataclass(frozen=True)
class Settings:
    """How requests are answered."""

    batch: int = 16
    """maximum rows of a batch"""
    queue: int = 256
    """rows that may wait for a model; more are answered 503 (overloaded)"""
    timeout: float = 10.0
    """seconds after which a request that still waits is answered 503 (timeout)"""
    sample: bool = False
    """sample actions from the policy instead of choosing the most likely one; repeatable for the seed of a session"""


class Service:
    """Serves agents to sessions; all coroutines run in one event loop.

    `agents` are runs, checkpoints, exported files, or agents with their game (`connect4:mcts(200)`), each optionally
    with a name: `best=runs/car-0007`.
    """

    def __init__(self, agents: Sequence[str], store: Store, settings: Settings = Settings()) -> None:  # noqa: B008
        self.store, self.settings = store, settings
        self.models: Mapping[str, Loaded] = {}
        """the newest version of each model by name"""
        self.ready = False

    async def start(self) -> None:
        """Open the store, load all models and compile them; then the service is `ready`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Answer what is waiting, refuse everything new, and close the store."""
        raise NotImplementedError

    def describe(self) -> list[ModelInfo]:
        """All models, for GET /v1/models."""
        raise NotImplementedError

    async def reload(self) -> list[str]:
        """Look for better checkpoints in the folders of runs; returns the names of models with a new version.

        New sessions use the new version, old ones keep theirs.
        """
        raise NotImplementedError

    async def open_session(self, model: str, seat: int = 0, seed: int | None = None) -> SessionInfo:
        """A new session with an agent that plays this seat."""
        raise NotImplementedError

    async def act(self, session: str, index: int, observation: Observation, mask: ArrayLike | None = None) -> Answer:
        """The decision for an observation; with the last index, the last answer again."""
        raise NotImplementedError

    async def close_session(self, session: str) -> None:
        """Forget a session."""
        raise NotImplementedError

    async def decide(
        self, model: str, version: str, memory: Memory, observation: Observation, mask: ArrayLike | None, seat: int,
        first: bool, seed: int,
    ) -> Decided:  # fmt: skip
        """One decision with a given memory (`models[model].memory_row()` at first), without a session.

        The version is that of an earlier decision, or "" for the newest.
        """
        raise NotImplementedError


__all__ = ["Answer", "Decided", "Loaded", "ModelInfo", "Observation", "Problem", "Service", "SessionInfo", "Settings"]
