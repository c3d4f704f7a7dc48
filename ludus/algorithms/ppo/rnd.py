"""Random network distillation: a reward for what was never seen.

A predictor learns what a fixed random network says of an observation; where it errs, the observation is new.
i_t = mean (f̂(o_t) - f(o_t))², divided by the deviation that R_t = γ R_{t-1} + i_t has had of late.
Burda et al. 2018, https://arxiv.org/abs/1810.12894
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ludus.agents.neural.agent import DeepAgent
from ludus.agents.neural.networks.layout import blank
from ludus.agents.neural.networks.rnd import RNDModel

Array = jax.Array
Total = Callable[[Any], Any]
CHANNELS = 32
"""width of both networks: they only have to tell observations apart"""
KEPT = 0.9
"""how much of all before still counts an update later; with all of it, the first surprises would dwarf the rest"""
LIVED_IN = 1e-8
"""added to the variance, for a world in which nothing differs"""


class Curiosity(NamedTuple):
    """What is known of the world, and how surprising it has been."""

    predictor: Any
    """parameters of both networks; those of the target have no gradient"""
    seen: Array
    """how many steps, the older the less"""
    mean: Array
    """of R"""
    squares: Array
    """Σ (R - mean)² over what was seen, the older the less"""


def start(agent: DeepAgent, key: Array) -> Curiosity:
    """Nothing is known."""
    zero = jnp.zeros((), jnp.float32)
    return Curiosity(model(agent).init(key, blank(agent.network.layout, 1))["params"], zero, zero, zero)


def model(agent: DeepAgent) -> RNDModel:
    return RNDModel(agent.network.layout, CHANNELS, CHANNELS)


def surprise(agent: DeepAgent, predictor: Any, observation: Any) -> Array:
    """i of B observations: [B]."""
    predicted, wanted = model(agent).apply({"params": predictor}, observation)
    return jnp.square(predicted - wanted).mean(axis=-1)


def rewards(
    agent: DeepAgent, curiosity: Curiosity, steps: Any, discount: float, total: Total
) -> tuple[Array, Curiosity]:
    """How new each step was, [T+1, N, 1], in deviations; and a curiosity that has counted them."""
    times, rows = steps.seat.shape
    found = surprise(agent, curiosity.predictor, _flat(steps.observation)).reshape(times, rows)
    curiosity = counted(curiosity, piled_up(found, discount), total)
    deviation = jnp.sqrt(curiosity.squares / curiosity.seen + LIVED_IN)
    return jax.lax.stop_gradient(found / deviation)[..., None], curiosity


def piled_up(found: Array, discount: float) -> Array:
    """R_t = γ R_{t-1} + i_t for [T, N]: what the rewards so far come to, the later the more."""

    def add(sums: Array, now: Array) -> tuple[Array, Array]:
        sums = discount * sums + now
        return sums, sums

    return jax.lax.scan(add, jnp.zeros_like(found[0]), found)[1]


def counted(curiosity: Curiosity, found: Array, total: Total) -> Curiosity:
    """The moments with some more numbers, those of all devices (Chan et al. 1979)."""
    count = total(jnp.float32(found.size))
    mean = total(found.sum()) / count
    squares = total(jnp.square(found - mean).sum())
    before = KEPT * curiosity.seen
    both, apart = before + count, mean - curiosity.mean
    return curiosity._replace(
        seen=both,
        mean=curiosity.mean + apart * count / both,
        squares=KEPT * curiosity.squares + squares + apart**2 * before * count / both,
    )


def loss(agent: DeepAgent, predictor: Any, steps: Any, share: float, dice: Array) -> Array:
    """The mean surprise of a random share of the steps; `dice` [2] are the numbers of a key."""
    count = steps.seat.size
    chosen = jax.random.randint(jax.random.wrap_key_data(dice), (max(int(share * count), 1),), 0, count)
    return surprise(agent, predictor, jax.tree.map(lambda array: array[chosen], _flat(steps.observation))).mean()


def _flat(observation: Any) -> Any:
    return jax.tree.map(lambda array: array.reshape(-1, *array.shape[2:]), observation)
