"""The worker of algorithms that learn from rollouts: rows of games, and an agent that plays them.

Its learner publishes {"params": …, "snapshots": {…}, "number": …}: the parameters of the agent, earlier parameters to
play against by the number of updates they had, and the number of updates that the learner has made.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import jax
import numpy as np

from ludus.agents import Agent, checkpoint
from ludus.agents.neural import devices
from ludus.algorithms import tally as tallies
from ludus.algorithms.opponents import SELF, Opponents
from ludus.algorithms.protocol import Arrays, Desk
from ludus.bridges import AnyPool, pool_state, restore_pool
from ludus.dsl import random
from ludus.types import Array, Decision, LudusError, PyTree, Rollout, Step

ACTOR = 0x6C7564757302
"""makes the random numbers of actors differ from those of games and learners with the same seed"""


class RolloutWorker:
    """Plays the games of its pool; the agent runs on `device` if given, else where the parameters are."""

    def __init__(
        self, pool: AnyPool, agent: Agent, opponents: Opponents, desk: Desk, device: jax.Device | None = None
    ) -> None:
        self.pool, self.agent, self.opponents, self.desk, self.device = pool, agent, opponents, desk, device
        self.dice = int(random.keys(desk.seed ^ ACTOR, desk.number + 1)[desk.number])
        self.time, self.version = 0, 0
        self.params: Mapping[str, PyTree] | None = None
        self.memory = agent.memory(pool.rows * pool.spec.views)
        self.returns, self.lengths = np.zeros((pool.rows, pool.spec.seats)), np.zeros(pool.rows, np.int64)

    def publish(self, params: Mapping[str, PyTree], version: int) -> None:
        self.params, self.version = params, version

    def work(self) -> Rollout:
        """Play the steps of a rollout in every row."""
        assert self.params is not None, "publish parameters before the first unit"
        begun, memory = time.perf_counter(), self.memory
        with devices.annotated("transfer"):
            params = jax.device_put(self.params["params"], self.device)
        self.opponents.prepare(self.params, self.time, self.device)
        steps, decisions, own = [self.pool.step], [], []
        for _ in range(self.desk.steps):
            with devices.annotated("act"):
                decision, self.memory = self.agent.act(params, self.memory, steps[-1], self.key())
            action, mine = self.opponents.play(steps[-1], np.asarray(decision.action), self.key())
            decisions.append(decision._replace(action=action))
            own.append(mine)
            with devices.annotated("step"):
                steps.append(self.pool.advance(action))
            self.time += 1
        last, _ = self.agent.act(params, self.memory, steps[-1], self.key())
        stacked = stack_steps(steps)
        tally = self._count(stacked, np.array(own))
        notes = {"play_seconds": time.perf_counter() - begun} | self.opponents.notes() | completed_parts(self.pool)
        made = Decision(
            np.stack([decision.action for decision in decisions]),
            np.stack([np.asarray(decision.log_prob) for decision in decisions]),
            np.stack([np.asarray(decision.value) for decision in (*decisions, last)]),
        )
        return Rollout(stacked, made, np.array(own), memory, self.version, tally, notes)

    def key(self) -> np.uint32:
        """The random seed of this time step; it depends on the time only, so a resumed run draws the same numbers."""
        return np.uint32((self.dice + self.time * 0x9E3779B97F4A7C15) % 2**64 >> 32)

    def _count(self, steps: Step, own: Array) -> Array:
        """The tally of a rollout; a game is counted when the next one begins."""
        views = self.pool.spec.views
        tally = tallies.empty(self.pool.spec.seats)
        tally[tallies.DECISIONS] = (own & ~steps.first[1:]).sum()
        for reward, first in zip(steps.reward[1:, ::views], steps.first[1:, ::views], strict=True):
            if first.any():
                tallies.count(tally, self.returns[first], self.lengths[first])
                self.opponents.count(self.returns, first)
                self.returns[first], self.lengths[first] = 0.0, 0
            self.returns += reward
            self.lengths += ~first
        return tally

    def state(self) -> Arrays:
        """Everything needed to continue exactly; games of pools that cannot be saved start again."""
        parts = {
            "time": np.array([self.time], np.int64),
            "returns": self.returns.copy(),
            "lengths": self.lengths.copy(),
        }
        memory = {f"memory.{name}": array for name, array in checkpoint.flatten(self.memory).items()}
        return parts | memory | self.opponents.state() | pool_state(self.pool)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue where `state` was taken."""
        self.time = int(state["time"][0])
        if set(state) == {"time"} or not self.pool.can_save:
            return  # nothing else of a lost worker is left: its games start again
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


def completed_parts(pool: AnyPool) -> dict[str, float]:
    """The largest count of completed parts (laps of a race) in a game now, if the game declares one in GHOST."""
    ghost = getattr(pool.compiled.game.rules, "GHOST", None) if pool.compiled is not None else None
    if pool.compiled is None or ghost is None or not isinstance(ghost.completed, str):
        return {}
    return {ghost.completed: float(pool.compiled.states[ghost.completed].max())}


def stack_steps(steps: list[Step]) -> Step:
    """T+1 steps as one, [T+1, N, …]."""
    observation = {name: np.stack([step.observation[name] for step in steps]) for name in steps[0].observation}
    return Step(observation, *(np.stack(parts) for parts in zip(*(step[1:] for step in steps), strict=True)))


def new_worker(
    agent: Agent,
    pool: AnyPool,
    desk: Desk,
    opponents: Sequence[str] = (SELF,),
    snapshots: int = 1,
    actor_devices: int = 0,
) -> RolloutWorker:
    """A worker with these opponents; the workers of a process share its actor devices."""
    places = devices.actors(actor_devices)
    device = places[desk.number % len(places)] if places else None
    return RolloutWorker(pool, agent, Opponents(opponents, pool, agent, desk.pool_seed, snapshots), desk, device)


def joined(rollouts: Sequence[Rollout]) -> Rollout:
    """The rollouts of several workers as one rollout with all their rows."""
    if len(rollouts) == 1:
        return rollouts[0]
    wide = [rollout._replace(memory=(), tally=np.zeros(()), notes={}, version=0) for rollout in rollouts]
    whole = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1) if np.ndim(parts[0]) else parts[0], *wide)
    memory = jax.tree.map(lambda *parts: np.concatenate(parts), *(rollout.memory for rollout in rollouts))
    tally = tallies.merged([rollout.tally for rollout in rollouts])
    names = {name for rollout in rollouts for name in rollout.notes}
    notes = {
        name: float(np.mean([rollout.notes[name] for rollout in rollouts if name in rollout.notes])) for name in names
    }
    return whole._replace(memory=memory, tally=tally, notes=notes, version=rollouts[0].version)
