"""A served agent: `Loaded` is one version of it, with parameters in memory and compiled for batches of rows."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from ludus.agents.protocol import Agent, Params
from ludus.types import Array, DType, JsonObject, Spec

Memory = bytes
"""what an agent remembers of one session: opaque, of a fixed length for each model, and empty without a memory"""


class ModelInfo(msgspec.Struct, frozen=True):
    """What a caller needs to know about a served agent."""

    name: str
    version: str
    game: str
    fingerprint: str
    kind: str
    """mlp, rnn, tabular, world_model, onnx, tflite, or the kind of a named agent"""
    parameters: int
    """number of learned numbers"""
    memory: str
    """lstm, gru, rwkv, transformer, none, …"""
    seats: int
    turns: str
    actions: list[str]
    """names of the actions 0, 1, …; empty for continuous actions"""
    low: list[float]
    high: list[float]
    """bounds of each component of a continuous action; empty for discrete actions"""
    observation: JsonObject
    """JSON Schema"""
    sessions: bool
    """whether agent sessions are possible; if not, the agent needs a game session, because it simulates the game"""


class Rows(NamedTuple):
    """B requests for decisions."""

    observation: Array
    """[B] records of the game's OBSERVATION"""
    mask: Array
    """[B, A] legal actions; [B, 0] for continuous actions"""
    seat: Array
    """[B] int8"""
    first: Array
    """[B] True at the first step of a session"""
    memory: Sequence[Memory]
    """[B]"""
    seeds: Array
    """[B] uint32, for agents that sample: a row's random numbers depend on its own seed alone"""


class Answers(NamedTuple):
    """B decisions."""

    action: Array
    """[B] or [B, k]"""
    probabilities: Array
    """[B, A] of all actions; [B, 0] for continuous actions"""
    value: Array
    """[B] for the seat that acts"""
    degraded: Array
    """[B] True where the network failed: the action is then a legal default and the memory is unchanged"""
    memory: Sequence[Memory]
    """[B]"""


@dataclass(frozen=True, eq=False)
class Loaded:
    """One version of an agent for one game: parameters in memory, compiled."""

    name: str
    game: str
    spec: Spec
    observation: DType
    fingerprint: str
    version: str
    kind: str
    path: pathlib.Path | None
    memory_kind: str
    agent: Agent
    params: Params
    parameters: int = 0
    actions: tuple[str, ...] = field(default=(), repr=False)

    def memory_row(self) -> Memory:
        """The memory of a new session."""
        raise NotImplementedError

    def decide(self, rows: Rows) -> Answers:
        """Decide for B rows; blocking."""
        raise NotImplementedError

    def warm(self, tell: Callable[[str, int, int], None]) -> None:
        """Compile everything that `decide` may need."""
        raise NotImplementedError
