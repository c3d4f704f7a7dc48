"""Sharding of rollouts over devices by rows, so that sequences stay whole; sums over rows are sums over devices."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from ludus.agents.neural import devices
from ludus.algorithms.ppo import PPO
from ludus.types import LudusError, PyTree, Rollout

ROWS = "rows"
"""name of the mesh axis over which rows are sharded"""
PartitionSpec: Any = jax.sharding.PartitionSpec  # JAX has no types for it


class Batch(NamedTuple):
    """The part of a rollout that one device learns from, [T+1, N, …] and [T, N, …]."""

    steps: PyTree
    """a `Step` of device arrays"""
    decisions: PyTree
    """a `Decision` of device arrays"""
    own: PyTree
    """[T, N] True for decisions of the agent itself"""
    memory: PyTree
    """[N, …]"""
    intrinsic: PyTree = ()
    """[T+1, N, 1] intrinsic rewards; () without random network distillation"""
    weight: PyTree = ()
    """[T, N] importance weights π/μ; () if rollouts are not refreshed"""


class Order(NamedTuple):
    """The rows of each minibatch of all epochs, and the random keys, for each device."""

    rows: PyTree
    """[devices, minibatches of all epochs, rows of each]"""
    keys: PyTree
    """[devices, minibatches of all epochs, gradient_accumulation, 2] one key per part"""


def shuffled(settings: PPO, learners: int, rows: int, *seed: int) -> Order:
    """A random order for every epoch. It is drawn on the host, because XLA takes seconds to compile a sort."""
    generator, parts = np.random.default_rng(seed), settings.update_epochs * settings.num_minibatches
    orders = np.broadcast_to(np.arange(rows, dtype=np.int32), (learners, settings.update_epochs, rows))
    keys = generator.integers(2**32, size=(learners, parts, settings.gradient_accumulation, 2), dtype=np.uint32)
    return Order(generator.permuted(orders, axis=-1).reshape(learners, parts, -1), keys)


def check_rows(settings: PPO, rows: int, copies: int = 1) -> None:
    """Raise LudusError if `rows` times `copies` (workers x simultaneous seats) cannot be split evenly."""
    learners = len(devices.learners(settings.devices, settings.actor_devices)) // devices.processes()
    parts = learners * settings.num_minibatches * settings.gradient_accumulation
    if rows * copies % parts:
        step = parts // math.gcd(parts, copies)
        raise LudusError(
            f"{rows * copies} rows cannot be split evenly into {settings.num_minibatches} minibatches of "
            f"{settings.gradient_accumulation} parts on {learners} devices; use --num-envs {rows + -rows % step}, or "
            "change --num-minibatches"
        )


@functools.cache
def mesh_of(wanted: int, acting: int = 0) -> Mesh:
    """The learner devices, in the order of processes."""
    return Mesh(np.array(devices.learners(wanted, acting)), (ROWS,))


def shard(mesh: Mesh, rollout: Rollout) -> Batch:
    """The rollout on the devices, each with its part of the rows."""
    batch = Batch(rollout.steps, rollout.decisions, rollout.own, rollout.memory)
    return jax.tree.map(lambda array, spec: devices.put(array, NamedSharding(mesh, spec)), batch, placed(batch))


def placed(batch: Batch) -> Batch:
    """Partition specs of a batch: rows are the second axis, but the first axis of the memory."""
    by_time = jax.tree.map(lambda _: PartitionSpec(None, ROWS), batch._replace(memory=()))
    memory = jax.tree.map(lambda _: PartitionSpec(ROWS), batch.memory)
    return by_time._replace(memory=memory)


def on(sharding: NamedSharding, array: jax.ShapeDtypeStruct | jax.Array) -> jax.ShapeDtypeStruct:
    """Shape and dtype of an array with this sharding."""
    return jax.ShapeDtypeStruct(array.shape, jax.dtypes.canonicalize_dtype(array.dtype), sharding=sharding)


def total(tree: PyTree, mean: bool = False) -> PyTree:
    """The sum over all devices, or the mean."""
    return (jax.lax.pmean if mean else jax.lax.psum)(tree, ROWS)
