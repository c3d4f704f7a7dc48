"""Rows are dealt to the devices, so sequences stay whole; what is averaged over rows is averaged over devices."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from ludus.agents.neural import devices
from ludus.algorithms.ppo import PPO
from ludus.types import LudusError, Rollout

ROWS = "rows"
"""the axis of the mesh of devices, over which rows are dealt"""
PartitionSpec: Any = jax.sharding.PartitionSpec  # JAX has no types for it


class Batch(NamedTuple):
    """The part of a rollout that one device learns from, [T+1, N, …] and [T, N, …]."""

    steps: Any
    """`Step`"""
    decisions: Any
    """`Decision`"""
    own: Any
    """[T, N] decisions that were the agent's own"""
    memory: Any
    """[N, …]"""
    news: Any = ()
    """[T+1, N, 1] how new what is seen was; () where nobody asks"""
    weight: Any = ()
    """[T, N] how much more likely each decision has become since it was made; () where nobody asks"""


class Order(NamedTuple):
    """Which rows each device learns from, one minibatch after the other, through all epochs."""

    rows: Any
    """[devices, minibatches of all epochs, rows of each]"""
    dice: Any
    """[devices, minibatches of all epochs, pieces, 2] a key for each piece"""


def shuffled(settings: PPO, learners: int, rows: int, *seed: int) -> Order:
    """An order by chance, anew in every epoch. Dice on the host: a sort by XLA takes seconds to compile."""
    dice, parts = np.random.default_rng(seed), settings.epochs * settings.minibatches
    orders = np.broadcast_to(np.arange(rows, dtype=np.int32), (learners, settings.epochs, rows))
    keys = dice.integers(2**32, size=(learners, parts, settings.pieces, 2), dtype=np.uint32)
    return Order(dice.permuted(orders, axis=-1).reshape(learners, parts, -1), keys)


def check_rows(settings: PPO, rows: int, copies: int = 1) -> None:
    """A sentence where the rows, of which every actor and every seat that acts at once has a copy, cannot be dealt."""
    learners = len(devices.learners(settings.devices, settings.actor_devices)) // devices.processes()
    parts = learners * settings.minibatches * settings.pieces
    if rows * copies % parts:
        step = parts // math.gcd(parts, copies)
        raise LudusError(
            f"{rows * copies} rows cannot be dealt evenly to {settings.minibatches} minibatches of {settings.pieces} "
            f"on {learners} devices; take --rows {rows + -rows % step}, or other parts"
        )


@functools.cache
def mesh_of(wanted: int, acting: int = 0) -> Mesh:
    """The devices that learn, in a row, those of a process side by side."""
    return Mesh(np.array(devices.learners(wanted, acting)), (ROWS,))


def dealt(mesh: Mesh, rollout: Rollout) -> Batch:
    """The rollout on the devices, each with its rows."""
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    return jax.tree.map(lambda array, spec: devices.put(array, NamedSharding(mesh, spec)), batch, placed(batch))


def placed(batch: Batch) -> Batch:
    """Where the rows are in each part of a batch: the second axis, but the first in the memory."""
    by_time = jax.tree.map(lambda _: PartitionSpec(None, ROWS), batch._replace(memory=()))
    memory = jax.tree.map(lambda _: PartitionSpec(ROWS), batch.memory)
    return by_time._replace(memory=memory)


def on(sharding: NamedSharding, array: Any) -> Any:
    """The shape of an array that lies there."""
    like: Any = jax.ShapeDtypeStruct  # JAX has no types for it
    return like(array.shape, jax.dtypes.canonicalize_dtype(array.dtype), sharding=sharding)


def total(tree: Any, mean: bool = False) -> Any:
    """Summed over the devices, or their mean."""
    over_devices: Any = jax.lax.pmean if mean else jax.lax.psum
    return over_devices(tree, ROWS)
