"""Rewards for what is new: their scale, what is counted, and that what was seen often is new no longer."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms.ppo import rnd, sharding
from ludus.algorithms.rollout_worker import stack_steps
from ludus.bridges import open_pool


@pytest.fixture(scope="module")
def world():
    """An agent, its curiosity, and steps [5, 4] of tic-tac-toe."""
    pool = open_pool("tictactoe", 4, 1)
    steps = [pool.step, *(pool.advance(pool.random_actions(seed)) for seed in range(4))]
    agent = new_agent(pool, MLPArgs(width=8, depth=1), curious=True)
    curiosity = jax.jit(functools.partial(rnd.start, agent))(jax.random.key(0))
    return agent, curiosity, jax.tree.map(jnp.asarray, stack_steps(steps))


def surprise(agent, curiosity, steps):
    """[T * N], of all steps as one row after the other."""
    flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in steps.observation.items()}
    return np.asarray(jax.jit(functools.partial(rnd.prediction_error, agent))(curiosity.predictor, flat))


def identity(number):
    return number


def test_moments_are_those_of_all_numbers_the_older_the_less():
    """Counted in two parts, the first of them on two devices."""
    numbers = np.random.default_rng(0).gamma(2.0, 1.0, (2, 3, 4)).astype(np.float32)
    nothing = rnd.Curiosity((), *(jnp.zeros(2) for _ in range(3)))
    total = functools.partial(jax.lax.psum, axis_name=sharding.ROWS)
    halves = jax.vmap(lambda seen, part: rnd.with_moments(seen, part, total), axis_name=sharding.ROWS)(nothing, numbers)
    both = jax.tree.map(lambda array: array[0], halves)
    more = np.random.default_rng(1).gamma(5.0, 1.0, 7).astype(np.float32)
    found = rnd.with_moments(both, jnp.asarray(more), identity)
    every, weights = np.concatenate([numbers.ravel(), more]), np.array([rnd.DECAY] * 24 + [1.0] * 7)
    mean = np.average(every, weights=weights)
    np.testing.assert_allclose(found.seen, weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(found.squares, (weights * (every - mean) ** 2).sum(), rtol=1e-5)


def test_rewards_pile_up():
    """With γ = 1/2: 4, then 2 + 1, then 1.5 + 2."""
    found = jnp.array([[4.0, 0.0], [1.0, 8.0], [2.0, 0.0]])
    np.testing.assert_allclose(rnd.discounted_sums(found, 0.5), [[4.0, 0.0], [3.0, 8.0], [3.5, 4.0]])


def test_rewards_are_errors_in_deviations_of_what_they_pile_up_to(world):
    agent, curiosity, steps = world
    news, after = jax.jit(lambda seen: rnd.rewards(agent, seen, steps, 0.9, identity))(curiosity)
    raw = surprise(agent, curiosity, steps).reshape(5, 4)
    assert news.shape == (5, 4, 1) and after.seen == 20 and raw.min() > 0
    piles = np.array([sum(0.9 ** (late - t) * raw[t] for t in range(late + 1)) for late in range(5)])
    np.testing.assert_allclose(news[..., 0], raw / piles.std(), rtol=1e-3)


def test_what_was_learned_is_new_no_longer_and_the_target_never_moves(world):
    agent, curiosity, steps = world

    @jax.jit
    def follow(predictor):
        loss = functools.partial(rnd.loss, agent, steps=steps, proportion=1.0, key=jnp.zeros(2, jnp.uint32))
        value, gradient = jax.value_and_grad(loss)(predictor)
        return value, jax.tree.map(lambda p, g: p - 0.3 * g, predictor, gradient), gradient

    predictor = curiosity.predictor
    first, _, gradient = follow(predictor)
    for _ in range(30):
        last, predictor, _ = follow(predictor)
    assert last < 0.7 * first
    still = [
        name for name in gradient if all((np.asarray(leaf) == 0).all() for leaf in jax.tree.leaves(gradient[name]))
    ]
    assert still and len(still) < len(gradient)


def test_a_share_of_the_steps_is_a_mean_over_that_share(world):
    """The part is random; the same key draws the same steps, and never fewer than one."""
    agent, curiosity, steps = world
    raw = surprise(agent, curiosity, steps)
    for share, count in ((0.5, 10), (0.0, 1)):
        loss = jax.jit(lambda key, share=share: rnd.loss(agent, curiosity.predictor, steps, share, key))
        found = loss(jax.random.key_data(jax.random.key(3)))
        chosen = np.asarray(jax.random.randint(jax.random.key(3), (count,), 0, 20))
        np.testing.assert_allclose(found, raw[chosen].mean(), rtol=1e-5)
