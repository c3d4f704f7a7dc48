"""A served agent: `Loaded` is one version of it, with parameters in memory and compiled for batches of rows."""

from __future__ import annotations

import logging
import pathlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from ludus.agents.protocol import Agent, Params
from ludus.server.deciders import Decider, Inputs, Outputs, Tell
from ludus.server.problems import Problem
from ludus.server.rows import MemoryForm, Observation, ObservationForm, read_mask
from ludus.types import Array, Discrete, DType, JsonObject, LudusError, Spec

log = logging.getLogger("ludus.server")
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
    """lstm, gru, rwkv, transformer, plan, state, or none"""
    memory_bytes: int
    """bytes that are kept for each session"""
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


class Row(NamedTuple):
    """One request for a decision, as bytes."""

    observation: bytes
    mask: bytes
    """of bools; empty for continuous actions"""
    seat: int
    first: bool
    """whether this is the first step of a session"""
    memory: Memory
    seed: int
    """for agents that sample: its random numbers depend on this seed alone"""


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
    """the folder of the checkpoint or the exported file; None for other agents"""
    memory_kind: str
    agent: Agent
    params: Params
    parameters: int
    actions: tuple[str, ...]
    """names of the actions, empty for continuous ones"""
    decider: Decider | None
    """None for an agent that needs the games themselves"""
    memory_form: MemoryForm
    observation_form: ObservationForm
    name_of: Callable[[Array], str] = field(repr=False)
    """the name of a continuous action"""
    seconds: dict[int, float] = field(default_factory=dict, repr=False)
    """measured by `warm`: the time of a batch by its number of rows"""

    def memory_row(self) -> Memory:
        """The memory of a new session."""
        return self.memory_form.empty

    @property
    def acts_on_observations(self) -> bool:
        """Whether agent sessions are possible; else only games on the server."""
        return self.decider is not None

    def read(
        self, observation: Observation, mask: ArrayLike | None, seat: int, first: bool, memory: Memory, seed: int
    ) -> Row:
        """A checked request; raises Problem if this game cannot have such an observation, mask or seat."""
        if self.decider is None:
            raise needs_game(self.name)
        if len(memory) != self.memory_form.size:
            raise Problem(422, "invalid_memory", f"the memory has {len(memory)} bytes, not {self.memory_form.size}")
        self.check_seat(seat)
        try:
            row = self.observation_form.read(observation)
        except LudusError as error:
            raise Problem(422, "invalid_observation", str(error)) from None
        try:
            legal = read_mask(self.spec.actions, mask)
        except LudusError as error:
            raise Problem(422, "invalid_mask", str(error)) from None
        return Row(row, legal, seat, first, memory, seed)

    def check_seat(self, seat: int) -> None:
        """Raise Problem for a seat that the game does not have."""
        if not 0 <= seat < self.spec.seats:
            detail = f"seat {seat} does not exist; {self.game} has the seats 0 to {self.spec.seats - 1}"
            raise Problem(422, "invalid_seat", detail)

    def decide(self, rows: Sequence[Row]) -> Answers:
        """Decide for B rows, at most `most`; blocking. If the agent fails, the answers are legal default actions."""
        count = len(rows)
        inputs = self._inputs(rows, self._padded(count))
        try:
            assert self.decider is not None
            found = self.decider.decide(inputs)
            action, probabilities, value = (np.asarray(part)[:count] for part in found[:3])
            outputs = Outputs(action, probabilities, value, found.memory)
            return self._checked(rows, inputs, outputs)
        except Exception:  # whatever a network or a device does, sessions live on
            log.exception("the agent %s failed in a batch of %d", self.name, count)
            return self._defaults(rows, inputs)

    @property
    def most(self) -> int:
        """The maximum rows of a batch."""
        return self.decider.most if self.decider else 1

    def best_size(self, waiting: int) -> int:
        """The number of waiting rows to decide together, so that each takes the least time."""
        known = self.seconds
        if waiting >= self.most or not known:
            return min(waiting, self.most)
        size = min(known, key=lambda size: known[size] / min(size, waiting))
        return min(size, waiting)

    def warm(self, tell: Tell) -> None:
        """Compile everything that `decide` may need, and measure the time of batches."""
        if self.decider is None:
            return
        self.decider.warm(lambda count: self._inputs(self._blank(count), count), tell)
        for size in self.decider.sizes or (self.most,):
            rows = self._blank(size)
            self.decide(rows)
            self.seconds[size] = min(_seconds(self, rows) for _ in range(3))

    def describe(self) -> ModelInfo:
        """What a caller needs to know."""
        actions = self.spec.actions
        low, high = ([], []) if isinstance(actions, Discrete) else (list(actions.low), list(actions.high))
        return ModelInfo(
            self.name, self.version, self.game, self.fingerprint, self.kind, self.parameters, self.memory_kind,
            self.memory_form.size, self.spec.seats, self.spec.turns, list(self.actions), low, high,
            self.observation_form.schema(), self.acts_on_observations,
        )  # fmt: skip

    def _padded(self, count: int) -> int:
        sizes = self.decider.sizes if self.decider else ()
        return next((size for size in sizes if size >= count), count)

    def _inputs(self, rows: Sequence[Row], size: int) -> Inputs:
        """The inputs of the agent, padded to `size` rows by repeating the last one."""
        observations, masks, seats, first, memories, seeds = zip(*rows, *[rows[-1]] * (size - len(rows)), strict=True)
        records = self.observation_form.batch(observations)
        observation = {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}
        mask = np.frombuffer(b"".join(masks), bool).reshape(size, len(self.actions))
        return Inputs(
            observation, mask, np.array(seats, np.int8), np.array(first, bool), self.memory_form.unpack(memories),
            np.array(seeds, np.uint32),
        )  # fmt: skip

    def _checked(self, rows: Sequence[Row], inputs: Inputs, outputs: Outputs) -> Answers:
        """The answers, with defaults in rows where the agent has computed NaN or an illegal action."""
        count = len(rows)
        action, probabilities, value = outputs[:3]
        memory = self.memory_form.pack(outputs.memory, count)
        valid = np.isfinite(value) & np.isfinite(probabilities).all(axis=1) & self.memory_form.is_finite(memory)
        if isinstance(self.spec.actions, Discrete):
            places = np.clip(action, 0, self.spec.actions.n - 1)
            valid &= (action == places) & inputs.mask[np.arange(count), places]
        else:
            action = np.clip(action.astype(np.float64), self.spec.actions.low, self.spec.actions.high)
            valid &= np.isfinite(action).all(axis=1)
        if valid.all():
            return Answers(action, probabilities, value, ~valid, memory)
        default = self._defaults(rows, inputs)
        action = np.where(valid.reshape(-1, *[1] * (action.ndim - 1)), action, default.action)
        probabilities = np.where(valid[:, None], probabilities, default.probabilities)
        kept = [new if good else row.memory for good, new, row in zip(valid, memory, rows, strict=True)]
        return Answers(action, probabilities, np.where(valid, value, 0.0), ~valid, kept)

    def _defaults(self, rows: Sequence[Row], inputs: Inputs) -> Answers:
        """The first legal action, or the middle of the range, with the memory unchanged."""
        count = len(rows)
        if isinstance(self.spec.actions, Discrete):
            mask = inputs.mask[:count]
            action = mask.argmax(axis=1)
            probabilities = (np.arange(mask.shape[1]) == action[:, None]).astype(np.float32)
        else:
            middle = (np.array(self.spec.actions.low) + np.array(self.spec.actions.high)) / 2
            action = np.tile(np.nan_to_num(middle, nan=0.0, posinf=0.0, neginf=0.0), (count, 1))
            probabilities = np.zeros((count, 0), np.float32)
        zeros = np.zeros(count, np.float32)
        return Answers(action, probabilities, zeros, np.ones(count, bool), [row.memory for row in rows])

    def _blank(self, count: int) -> list[Row]:
        """Rows of blank observations."""
        legal = read_mask(self.spec.actions, None)
        return [Row(self.observation_form.blank(), legal, 0, True, self.memory_row(), 0)] * count


def needs_game(name: str) -> Problem:
    """The problem of an agent session with an agent that simulates the game."""
    detail = (
        f"{name} simulates the game and cannot act on an observation alone; use a game session (POST /v1/games), "
        "in which the server plays the rules"
    )
    return Problem(422, "needs_game_session", detail)


def _seconds(loaded: Loaded, rows: Sequence[Row]) -> float:
    start = time.perf_counter()
    loaded.decide(rows)
    return time.perf_counter() - start
