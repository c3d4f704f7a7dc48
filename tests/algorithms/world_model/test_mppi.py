"""MPPI finds known optima, by samples alone and by the action sequences of the actor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus.agents.neural import mppi
from ludus.agents.neural.networks.world_model_args import PlannerArgs
from ludus.types import LudusError

ARGS = PlannerArgs(
    horizon=4, num_samples=400, num_pi_trajs=0, num_elites=40, iterations=12, temperature=0.5, min_std=0.1
)
NOTHING = jnp.zeros((0, 4, 2))


def planned(value_of, args=ARGS, mean=None, pi_actions=NOTHING, seed=0):
    start = jnp.zeros((4, 2)) if mean is None else mean
    return np.asarray(mppi.plan(args, value_of, start, pi_actions, jax.random.key(seed)))


@pytest.mark.parametrize("best", [(0.3, -0.6), (0.9, 0.1), (-0.5, -0.5)])
def test_finds_the_optimum_of_a_linear_system(best):
    """The position is the sum of actions; the cost is its squared distance to best x time. `best` is optimal."""
    best = jnp.array(best)

    def value_of(candidates):
        positions, times = jnp.cumsum(candidates, axis=1), jnp.arange(1, 5)[:, None]
        return -jnp.square(positions - times * best).sum(axis=(1, 2))

    assert planned(value_of) == pytest.approx(np.tile(best, (4, 1)), abs=0.15)


def test_actions_stay_within_bounds():
    """The unconstrained optimum is (3, -3)."""
    found = planned(lambda candidates: -jnp.square(candidates - jnp.array([3.0, -3.0])).sum(axis=(1, 2)))
    assert (np.abs(found) <= 1.0).all() and found == pytest.approx(np.tile([1.0, -1.0], (4, 1)), abs=0.05)


def test_uses_the_actions_of_the_actor_if_they_are_best():
    """An optimum so narrow that no random sample hits it."""
    needle = jnp.full((1, 4, 2), 0.777)

    def value_of(candidates):
        return jnp.where(jnp.abs(candidates - 0.777).max(axis=(1, 2)) < 1e-6, 100.0, 0.0)

    args = PlannerArgs(horizon=4, num_samples=50, num_pi_trajs=1, num_elites=5, iterations=2, temperature=0.01)
    assert planned(value_of, args, pi_actions=needle) == pytest.approx(np.asarray(needle[0]), abs=1e-3)
    assert np.abs(planned(value_of, args) - 0.777).max() > 0.1


def test_elites_are_weighted_by_their_values():
    """Values 3, 2 and 1 with two elites: their standard deviation is ½, so the weights are softmax((0, -1) / (T ½))."""
    args = PlannerArgs(
        horizon=1, num_samples=3, num_pi_trajs=0, num_elites=2, iterations=1, temperature=2.0, min_std=0.0
    )
    candidates = jnp.array([[[0.8]], [[0.2]], [[-1.0]]])
    mean, std = mppi.fit_elites(args, candidates, jnp.array([3.0, 2.0, 1.0]))
    weights = np.exp([0.0, -1.0]) / np.exp([0.0, -1.0]).sum()
    expected = weights @ [0.8, 0.2]
    assert float(mean[0, 0]) == pytest.approx(expected, abs=1e-5)
    assert float(std[0, 0]) == pytest.approx(np.sqrt(weights @ np.square([0.8 - expected, 0.2 - expected])), abs=1e-5)


def test_the_same_key_gives_the_same_plan():
    def value_of(candidates):
        return candidates.sum(axis=(1, 2))

    assert (planned(value_of) == planned(value_of)).all()
    assert (
        planned(value_of, PlannerArgs(horizon=4, iterations=1), seed=1)
        != planned(value_of, PlannerArgs(horizon=4, iterations=1))
    ).any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_samples": 0}, "num_samples of the planner must be 1 or more, not 0"),
        ({"num_samples": 4, "num_pi_trajs": 2, "num_elites": 7}, r"7 elites cannot be chosen from 4 \+ 2 sequences"),
        ({"temperature": 0.0}, "temperature of the planner must be above 0, not 0"),
        ({"min_std": 2.0}, "0 <= min_std <= max_std, not 2 and 1"),
    ],
)
def test_invalid_planner_settings_raise_an_error(wrong, message):
    with pytest.raises(LudusError, match=message):
        PlannerArgs(**wrong)
