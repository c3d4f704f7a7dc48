"""The replay buffer: the last steps of every row in arrays on the device, sampled as short sequences.

Everything here is a pure function of arrays with fixed shapes, so that one compiled program pushes, samples and learns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.neural.world_model import WorldModelAgent
from ludus.types import Mirror, Rollout

Array = jax.Array


class Experience(NamedTuple):
    """Steps in the order they were made, [T, N, ...]; or sampled sequences, [H, B, ...]."""

    observation: Any
    """[..., D] before the action"""
    action: Any
    """[..., k] between -1 and 1"""
    next_observation: Any
    """[..., D] after the action"""
    reward: Any
    """[...] multiplied by reward_scale"""
    continues: Any
    """[...] 0 if the step ended the episode, else 1"""
    valid: Any
    """[...] 0 if a new game was opened instead of a step made, else 1"""


class ReplayBuffer(NamedTuple):
    """A ring of the last `capacity` steps of every row."""

    storage: Experience
    """[capacity, N, ...]"""
    pushed: Any
    """steps per row that were ever pushed"""


def from_rollout(agent: WorldModelAgent, rollout: Rollout) -> Experience:
    """The steps of a rollout, scaled as the model reads them."""
    steps = rollout.steps
    observation = agent.flatten(steps.observation)
    return Experience(
        observation[:-1], agent.scale_action(rollout.decisions.action), observation[1:],
        np.asarray(steps.reward[1:, :, 0] * agent.reward_scale, np.float32),
        np.asarray(steps.discount[1:], np.float32), np.asarray(~steps.first[1:], np.float32),
    )  # fmt: skip


def new_replay_buffer(capacity: int, rows: int, observation_size: int, action_size: int) -> ReplayBuffer:
    """An empty replay buffer."""
    lead = (capacity, rows)
    observation, action = np.zeros((*lead, observation_size)), np.zeros((*lead, action_size))
    parts = [observation, action, observation, *[np.zeros(lead)] * 3]
    return ReplayBuffer(Experience(*(jnp.asarray(part, jnp.float32) for part in parts)), jnp.int32(0))


def push(replay: ReplayBuffer, steps: Experience) -> ReplayBuffer:
    """The buffer with [T, N] more steps, which replace the oldest."""
    times, capacity = steps.reward.shape[0], replay.storage.reward.shape[0]
    slots = (replay.pushed + jnp.arange(times)) % capacity
    storage = jax.tree.map(lambda array, new: array.at[slots].set(new), replay.storage, steps)
    return ReplayBuffer(storage, replay.pushed + times)


def sample(
    replay: ReplayBuffer, key: Array, horizon: int, batch_size: int, terminal_oversampling: Array
) -> tuple[Experience, Array]:
    """Sequences [H, B] and the mask [H, B] of their usable steps, see `sequence_mask`.

    A sequence has the weight 1, or 1 + terminal_oversampling if an episode ends in it. Start positions are drawn by
    inverting the cumulative sum of the weights.
    """
    capacity, rows = replay.storage.reward.shape
    filled = jnp.minimum(replay.pushed, capacity)
    age = (jnp.arange(capacity) - (replay.pushed - filled)) % capacity
    terminal = (1.0 - replay.storage.continues) * replay.storage.valid
    ends_within = jnp.stack([jnp.roll(terminal, -offset, axis=0) for offset in range(horizon)]).max(axis=0)
    weights = jnp.where((age <= filled - horizon)[:, None], 1.0 + terminal_oversampling * ends_within, 0.0)
    sums = jnp.cumsum(weights.ravel())
    start = jnp.searchsorted(sums, jax.random.uniform(key, (batch_size,)) * sums[-1], side="right")
    start = jnp.minimum(start, capacity * rows - 1)
    slots = (start // rows + jnp.arange(horizon)[:, None]) % capacity
    sequences = jax.tree.map(lambda array: array[slots, start % rows], replay.storage)
    return sequences, sequence_mask(sequences)


def mirror_half(mirror: Mirror, sequences: Experience, key: Array) -> Experience:
    """Sequences [H, B], each mirrored with probability 1/2."""
    chosen = jax.random.bernoulli(key, shape=sequences.reward.shape[1:])[..., None]
    order, signs = np.array(mirror.seen), np.array(mirror.actions, np.float32)
    observation, next_observation = (
        jnp.where(chosen, array[..., order], array) for array in (sequences.observation, sequences.next_observation)
    )
    action = jnp.where(chosen, sequences.action * signs, sequences.action)
    return sequences._replace(observation=observation, next_observation=next_observation, action=action)


def sequence_mask(sequences: Experience) -> Array:
    """[H, B] 1 while the steps of a sequence follow each other in one episode, 0 from the first gap on.

    Where a step does not start from the observation that the step before it led to, steps of another game lie between
    them: demonstrations are pushed into the same rows.
    """
    joined = (sequences.next_observation[:-1] == sequences.observation[1:]).all(axis=-1)
    joined = jnp.concatenate([jnp.ones_like(sequences.valid[:1], bool), joined])
    return jnp.cumprod(joined * sequences.valid, axis=0)
