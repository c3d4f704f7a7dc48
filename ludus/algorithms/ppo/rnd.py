"""Random network distillation: intrinsic rewards for novel observations.

A predictor f̂ learns the output of a fixed random network f; where its error is large, the observation is novel.
i_t = mean (f̂(o_t) - f(o_t))², divided by a running standard deviation of R_t = γ R_{t-1} + i_t.
Burda et al. 2018, https://arxiv.org/abs/1810.12894
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from ludus.agents.neural.agent import DeepAgent
from ludus.agents.neural.networks.layout import blank
from ludus.agents.neural.networks.rnd import RNDModel
from ludus.types import PyTree

Array = jax.Array
Observation = dict[str, Array]
T = TypeVar("T")
Total = Callable[[T], T]
"""sums over all devices"""
CHANNELS = 32
"""width of both networks"""
DECAY = 0.9
"""of the moments per update; without it, the large errors at the start would dominate forever"""
EPSILON = 1e-8
"""added to the variance"""


class Curiosity(NamedTuple):
    """The predictor, and decayed moments of the discounted intrinsic return R."""

    predictor: PyTree
    """parameters of both networks; those of the target have no gradient"""
    seen: Array
    """decayed number of steps"""
    mean: Array
    """decayed mean of R"""
    squares: Array
    """decayed sum of (R - mean)²"""


def start(agent: DeepAgent, key: Array) -> Curiosity:
    """New parameters, no moments yet."""
    zero = jnp.zeros((), jnp.float32)
    return Curiosity(model(agent).init(key, blank(agent.network.layout, 1))["params"], zero, zero, zero)


def model(agent: DeepAgent) -> RNDModel:
    return RNDModel(agent.network.layout, CHANNELS, CHANNELS)


def prediction_error(agent: DeepAgent, predictor: PyTree, observation: Observation) -> Array:
    """The intrinsic reward i, before normalisation, of B observations: [B]."""
    predicted, target = model(agent).apply({"params": predictor}, observation)
    return jnp.square(predicted - target).mean(axis=-1)


def rewards(
    agent: DeepAgent, curiosity: Curiosity, steps: PyTree, gamma: float, total: Total[Array]
) -> tuple[Array, Curiosity]:
    """The normalised intrinsic reward of each step, [T+1, N, 1], and the updated moments."""
    times, rows = steps.seat.shape
    errors = prediction_error(agent, curiosity.predictor, _flat(steps.observation)).reshape(times, rows)
    curiosity = with_moments(curiosity, discounted_sums(errors, gamma), total)
    deviation = jnp.sqrt(curiosity.squares / curiosity.seen + EPSILON)
    return jax.lax.stop_gradient(errors / deviation)[..., None], curiosity


def discounted_sums(rewards: Array, gamma: float) -> Array:
    """R_t = γ R_{t-1} + i_t for rewards i [T, N]."""

    def add(sums: Array, now: Array) -> tuple[Array, Array]:
        sums = gamma * sums + now
        return sums, sums

    return jax.lax.scan(add, jnp.zeros_like(rewards[0]), rewards)[1]


def with_moments(curiosity: Curiosity, values: Array, total: Total[Array]) -> Curiosity:
    """The decayed moments combined with those of values on all devices (Chan et al. 1979)."""
    count = total(jnp.float32(values.size))
    mean = total(values.sum()) / count
    squares = total(jnp.square(values - mean).sum())
    before = DECAY * curiosity.seen
    both, difference = before + count, mean - curiosity.mean
    return curiosity._replace(
        seen=both,
        mean=curiosity.mean + difference * count / both,
        squares=DECAY * curiosity.squares + squares + difference**2 * before * count / both,
    )


def loss(agent: DeepAgent, predictor: PyTree, steps: PyTree, proportion: float, key: Array) -> Array:
    """The mean prediction error of a random part of the steps; `key` [2] is raw key data."""
    count = steps.seat.size
    chosen = jax.random.randint(jax.random.wrap_key_data(key), (max(int(proportion * count), 1),), 0, count)
    return prediction_error(
        agent, predictor, jax.tree.map(lambda array: array[chosen], _flat(steps.observation))
    ).mean()


def _flat(observation: Observation) -> Observation:
    return jax.tree.map(lambda array: array.reshape(-1, *array.shape[2:]), observation)
