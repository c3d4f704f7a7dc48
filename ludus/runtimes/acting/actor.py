"""An actor: rows of games, and an agent that plays them for the length of a rollout at a time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ludus import checkpoint
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.pool import Pool
from ludus.runtimes.acting.opponents import Opponents
from ludus.types import Array, Decision, LudusError, Rollout, Step
from ludus.words import random

ACTOR = 0x6C7564757302
"""told apart from the dice of the games and of other learners, which come from the same seed"""
GROWING = ("laps",)
"""what the record of a game may count while it is played, worth telling as it grows"""


class Actor:
    """Plays the games of its pool; `number` tells it from others that play beside it.

    It decides on its `device`, or where the parameters lie that it is given.
    """

    def __init__(
        self, pool: AnyPool, agent: Any, opponents: Opponents, seed: int, number: int, device: Any = None
    ) -> None:
        self.pool, self.agent, self.opponents, self.device = pool, agent, opponents, device
        self.dice = int(random.keys(seed ^ ACTOR, number + 1)[number])
        self.time = 0
        self.memory = agent.memory(pool.rows * pool.spec.views)
        self.returns, self.lengths = np.zeros((pool.rows, pool.spec.seats)), np.zeros(pool.rows, np.int64)

    def collect(self, params: Any, version: int, length: int) -> Rollout:
        """Play `length` steps in every row with these parameters."""
        begun, memory = time.perf_counter(), self.memory
        params = jax.device_put(params, self.device)
        self.opponents.prepare(version, self.time, self.device)
        steps, decisions, own = [self.pool.step], [], []
        for _ in range(length):
            decision, self.memory = self.agent.act(params, self.memory, steps[-1], self.key())
            action, mine = self.opponents.play(steps[-1], np.asarray(decision.action), self.key())
            decisions.append(decision._replace(action=action))
            own.append(mine)
            steps.append(self.pool.advance(action))
            self.time += 1
        last, _ = self.agent.act(params, self.memory, steps[-1], self.key())
        stacked = stack_steps(steps)
        tally = self._count(stacked, np.array(own))
        notes = {"play_seconds": time.perf_counter() - begun} | self.opponents.notes() | grown(self.pool)
        made = Decision(
            np.stack([decision.action for decision in decisions]),
            np.stack([np.asarray(decision.log_prob) for decision in decisions]),
            np.stack([np.asarray(decision.value) for decision in (*decisions, last)]),
        )
        return Rollout(stacked, made, np.array(own), memory, version, tally, notes)

    def key(self) -> np.uint32:
        """The dice of this moment: by time alone, so that a run which is resumed throws the same ones."""
        return np.uint32((self.dice + self.time * 0x9E3779B97F4A7C15) % 2**64 >> 32)

    def _count(self, steps: Step, own: Array) -> Array:
        """The tally of a rollout: a game is counted when the next one opens."""
        views, seats = self.pool.spec.views, self.pool.spec.seats
        tally = np.zeros(3 + seats)
        tally[2] = (own & ~steps.first[1:]).sum()
        for reward, first in zip(steps.reward[1:, ::views], steps.first[1:, ::views], strict=True):
            if first.any():
                tally[0] += first.sum()
                tally[1] += self.lengths[first].sum()
                tally[3:] += self.returns[first].sum(axis=0)
                self.opponents.count(self.returns, first)
                self.returns[first], self.lengths[first] = 0.0, 0
            self.returns += reward
            self.lengths += ~first
        return tally

    def state(self) -> dict[str, Array]:
        """All that is needed to go on exactly; the games of others can only be opened anew."""
        parts = {
            "time": np.array([self.time], np.int64),
            "returns": self.returns.copy(),
            "lengths": self.lengths.copy(),
        }
        memory = {f"memory.{name}": array for name, array in checkpoint.flatten(self.memory).items()}
        return parts | memory | self.opponents.state() | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on where `state` was taken."""
        self.time = int(state["time"][0])
        if set(state) == {"time"} or not isinstance(self.pool, Pool):
            return  # all that is left of an actor that was lost: its games are opened anew
        missing = set(self.state()) - set(state)
        if missing or state["returns"].shape != self.returns.shape:
            raise LudusError(
                "this checkpoint is of a run with another agent, opponents or number of rows; "
                "resume it with its own run.toml"
            )
        self.returns[:], self.lengths[:] = state["returns"], state["lengths"]
        known = {name.removeprefix("memory."): array for name, array in state.items() if name.startswith("memory.")}
        self.memory = checkpoint.unflatten(self.memory, known)
        self.opponents.restore(state)
        restore_pool(self.pool, state)

    def close(self) -> None:
        self.pool.close()


def grown(pool: AnyPool) -> dict[str, float]:
    """The most that a row has counted so far in its game, by what is counted."""
    if not isinstance(pool, Pool):
        return {}
    return {name: float(pool.states[name].max()) for name in GROWING if name in (pool.states.dtype.names or ())}


def stack_steps(steps: list[Step]) -> Step:
    """T+1 steps as one, [T+1, N, …]."""
    observation = {name: np.stack([step.observation[name] for step in steps]) for name in steps[0].observation}
    return Step(observation, *(np.stack(parts) for parts in zip(*(step[1:] for step in steps), strict=True)))
