"""Ludus' CartPole through Gymnasium's vector interface, compared with Gymnasium's own in the same run."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ludus.bench import Result, Tell, median_rate

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from ludus.types import Array

ROUND_SECONDS = 0.4


def suite(rounds: int, tell: Tell, environments: int = 64) -> Iterator[Result]:
    """Steps/s of `environments` CartPoles with precomputed actions, and the ratio."""
    import gymnasium

    import ludus.bridges.gymnasium  # noqa: F401  (registers ludus/…)

    tell(f"gymnasium/cartpole/environments={environments}", 0, 1)
    ours = gymnasium.make_vec("ludus/CartPole-v0", num_envs=environments)
    theirs = gymnasium.make_vec("CartPole-v1", num_envs=environments, vectorization_mode="sync")
    fast, slow = (median_rate(functools.partial(rate, both), rounds) for both in (ours, theirs))
    yield Result(f"gymnasium/ludus_cartpole/environments={environments}", fast, "steps/s")
    yield Result(f"gymnasium/sync_vector_cartpole/environments={environments}", slow, "steps/s")
    yield Result("gymnasium/cartpole/over_sync_vector", fast / slow, "x")


def rate(environments: VectorEnv[Array, Array, Array]) -> float:
    environments.reset(seed=1)
    actions = [environments.action_space.sample() for _ in range(32)]
    start, steps = time.perf_counter(), 0
    while (spent := time.perf_counter() - start) < ROUND_SECONDS:
        environments.step(actions[steps % 32])
        steps += 1
    return steps * environments.num_envs / spent
