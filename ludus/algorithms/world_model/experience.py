"""The ring of experience: the last steps of every row, as arrays on the device, drawn from in short sequences."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.world_model import WorldModelAgent
from ludus.types import Mirror, Rollout

Array = jax.Array


class Experience(NamedTuple):
    """Steps as they were played, [T, N, …]; or sequences of them, [H, B, …]."""

    seen: Any
    """[…, D] before the action"""
    action: Any
    """[…, k] between -1 and 1"""
    following: Any
    """[…, D] after it"""
    reward: Any
    """[…] scaled"""
    goes_on: Any
    """[…] 0 where the game has truly ended"""
    real: Any
    """[…] 0 where a new game was opened instead of a step made"""


class Ring(NamedTuple):
    """The last `capacity` times of all rows."""

    held: Experience
    """[capacity, N, …]"""
    pushed: Any
    """how many times were ever pushed"""


def from_rollout(agent: WorldModelAgent, rollout: Rollout) -> Experience:
    """A rollout in the units of the model."""
    steps = rollout.steps
    seen = agent.flat(steps.observation)
    return Experience(
        seen[:-1], agent.from_game(rollout.decisions.action), seen[1:],
        np.asarray(steps.reward[1:, :, 0] * agent.reward_scale, np.float32),
        np.asarray(steps.discount[1:], np.float32), np.asarray(~steps.first[1:], np.float32),
    )  # fmt: skip


def new_ring(capacity: int, rows: int, shown: int, actions: int) -> Ring:
    """A ring with nothing in it."""
    lead = (capacity, rows)
    parts = [np.zeros((*lead, shown)), np.zeros((*lead, actions)), np.zeros((*lead, shown)), *[np.zeros(lead)] * 3]
    return Ring(Experience(*(jnp.asarray(part, jnp.float32) for part in parts)), jnp.int32(0))


def push(ring: Ring, news: Experience) -> Ring:
    """The ring with [T, N] steps more; the oldest make room."""
    times, capacity = news.reward.shape[0], ring.held.reward.shape[0]
    places = (ring.pushed + jnp.arange(times)) % capacity
    held = jax.tree.map(lambda array, new: array.at[places].set(new), ring.held, news)
    return Ring(held, ring.pushed + times)


def draw(ring: Ring, key: Array, horizon: int, batch: int, ends: Array) -> tuple[Experience, Array]:
    """Sequences [H, B], 1 + `ends` times as often where a game ends in them; and which of their steps count [H, B].

    A weight for every place where a sequence may begin; a random share of their sum says which it is.
    """
    capacity, rows = ring.held.reward.shape
    filled = jnp.minimum(ring.pushed, capacity)
    age = (jnp.arange(capacity) - (ring.pushed - filled)) % capacity
    over = (1.0 - ring.held.goes_on) * ring.held.real
    soon = jnp.stack([jnp.roll(over, -later, axis=0) for later in range(horizon)]).max(axis=0)
    weights = jnp.where((age <= filled - horizon)[:, None], 1.0 + ends * soon, 0.0)
    sums = jnp.cumsum(weights.ravel())
    begin = jnp.searchsorted(sums, jax.random.uniform(key, (batch,)) * sums[-1], side="right")
    begin = jnp.minimum(begin, capacity * rows - 1)
    places = (begin // rows + jnp.arange(horizon)[:, None]) % capacity
    drawn = jax.tree.map(lambda array: array[places, begin % rows], ring.held)
    return drawn, counted(drawn)


def reflected(mirror: Mirror, drawn: Experience, key: Array) -> Experience:
    """Sequences [H, B], each in a mirror or not."""
    turned = jax.random.bernoulli(key, shape=drawn.reward.shape[1:])[..., None]
    order, signs = np.array(mirror.seen), np.array(mirror.actions, np.float32)
    seen, following = (jnp.where(turned, array[..., order], array) for array in (drawn.seen, drawn.following))
    return drawn._replace(seen=seen, following=following, action=jnp.where(turned, drawn.action * signs, drawn.action))


def counted(drawn: Experience) -> Array:
    """[H, B] 1 for steps that follow each other since the first of the sequence, in one game, else 0.

    Where one does not begin with what the step before has led to, somebody else's experience lies between them.
    """
    joined = (drawn.following[:-1] == drawn.seen[1:]).all(axis=-1)
    joined = jnp.concatenate([jnp.ones_like(drawn.real[:1], bool), joined])
    return jnp.cumprod(joined * drawn.real, axis=0)
