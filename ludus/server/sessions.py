"""Agent sessions: the caller plays the game and sends observations; the index of a request makes retries safe."""

from __future__ import annotations

import msgspec

from ludus.server.model import Memory


class SessionInfo(msgspec.Struct, frozen=True):
    """A new session."""

    id: str
    model: str
    version: str
    seat: int
    index: int
    """the index of the next request"""


class Answer(msgspec.Struct, frozen=True):
    """The decision for one observation."""

    action: int | list[float]
    name: str
    probabilities: list[float]
    """one for each action; empty for continuous actions"""
    value: float
    """expected return of the seat that acts"""
    index: int
    """the index of the next request"""
    degraded: bool = False
    """the network failed, and the action is a legal default"""


class Decided(msgspec.Struct, frozen=True):
    """A decision without a session."""

    action: int | list[float]
    name: str
    probabilities: list[float]
    value: float
    degraded: bool
    memory: Memory
    """for the next decision of the same game"""
