"""Planning finds what is known to be best, by samples alone and by what the actor proposes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus.agents import mppi
from ludus.agents.networks.world_model_args import PlanArgs
from ludus.types import LudusError

ARGS = PlanArgs(horizon=4, samples=400, proposals=0, elites=40, rounds=12, temperature=0.5, least=0.1)
NOTHING = jnp.zeros((0, 4, 2))


def planned(worth_of, args=ARGS, mean=None, proposals=NOTHING, seed=0):
    start = jnp.zeros((4, 2)) if mean is None else mean
    return np.asarray(mppi.plan(args, worth_of, start, proposals, jax.random.key(seed)))


@pytest.mark.parametrize("best", [(0.3, -0.6), (0.9, 0.1), (-0.5, -0.5)])
def test_the_best_action_of_a_linear_world_is_found(best):
    """A place moves by the action; each step costs the square of its distance to (best) x time: walk there evenly."""
    best = jnp.array(best)

    def worth_of(futures):
        places, times = jnp.cumsum(futures, axis=1), jnp.arange(1, 5)[:, None]
        return -jnp.square(places - times * best).sum(axis=(1, 2))

    assert planned(worth_of) == pytest.approx(np.tile(best, (4, 1)), abs=0.15)


def test_actions_stay_within_their_bounds():
    """The best would be 3 and -3."""
    found = planned(lambda futures: -jnp.square(futures - jnp.array([3.0, -3.0])).sum(axis=(1, 2)))
    assert (np.abs(found) <= 1.0).all() and found == pytest.approx(np.tile([1.0, -1.0], (4, 1)), abs=0.05)


def test_what_the_actor_proposes_is_taken_where_it_is_best():
    """A needle that no sample hits."""
    needle = jnp.full((1, 4, 2), 0.777)

    def worth_of(futures):
        return jnp.where(jnp.abs(futures - 0.777).max(axis=(1, 2)) < 1e-6, 100.0, 0.0)

    args = PlanArgs(horizon=4, samples=50, proposals=1, elites=5, rounds=2, temperature=0.01)
    assert planned(worth_of, args, proposals=needle) == pytest.approx(np.asarray(needle[0]), abs=1e-3)
    assert np.abs(planned(worth_of, args) - 0.777).max() > 0.1


def test_elites_count_by_their_worth():
    """Worths 3, 2 and 1, of which two are elites: their deviation is ½, so weights are softmax((0, -1) / (T ½))."""
    args = PlanArgs(horizon=1, samples=3, proposals=0, elites=2, rounds=1, temperature=2.0, least=0.0)
    futures = jnp.array([[[0.8]], [[0.2]], [[-1.0]]])
    mean, deviation = mppi.best_of(args, futures, jnp.array([3.0, 2.0, 1.0]))
    weights = np.exp([0.0, -1.0]) / np.exp([0.0, -1.0]).sum()
    expected = weights @ [0.8, 0.2]
    assert float(mean[0, 0]) == pytest.approx(expected, abs=1e-5)
    assert float(deviation[0, 0]) == pytest.approx(
        np.sqrt(weights @ np.square([0.8 - expected, 0.2 - expected])), abs=1e-5
    )


def test_the_same_dice_give_the_same_plan():
    def worth_of(futures):
        return futures.sum(axis=(1, 2))

    assert (planned(worth_of) == planned(worth_of)).all()
    assert (
        planned(worth_of, PlanArgs(horizon=4, rounds=1), seed=1) != planned(worth_of, PlanArgs(horizon=4, rounds=1))
    ).any()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"samples": 0}, "samples of a plan is 1 or more, not 0"),
        ({"samples": 4, "proposals": 2, "elites": 7}, "7 elites cannot be taken from 4 samples and 2 proposals"),
        ({"temperature": 0.0}, "a temperature above 0"),
        ({"least": 2.0}, "0 <= least <= most"),
    ],
)
def test_plans_that_cannot_be_made_are_refused(wrong, sentence):
    with pytest.raises(LudusError, match=sentence):
        PlanArgs(**wrong)
