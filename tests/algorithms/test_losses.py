"""Losses: values by hand, gradients against finite differences, and elements of weight 0 have no effect."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.algorithms import losses

plain_and_jit = pytest.mark.parametrize("wrap", [lambda function: function, jax.jit], ids=["plain", "jit"])
seeds = st.integers(0, 2**32 - 1)

RATIOS = jnp.log(jnp.array([[1.5, 0.5, 1.1], [1.5, 0.5, 4.0]]))
"""log-probabilities of six decisions, for a behaviour policy with log-probability 0"""
ADVANTAGE = jnp.array([[2.0, 2.0, 2.0], [-2.0, -2.0, -2.0]])
ZERO = jnp.zeros((2, 3))
WEIGHTS = jnp.array([[1.0, 0.0, 1.0], [2.0, 1.0, 1.0]])


@plain_and_jit
def test_weighted_mean_by_hand(wrap):
    numbers = jnp.array([[1.0, jnp.nan, 3.0], [4.0, 5.0, 6.0]])
    # (1 + 3 + 2×4 + 5 + 6) / (1 + 1 + 2 + 1 + 1) = 23/6
    assert wrap(losses.weighted_mean)(numbers, WEIGHTS) == pytest.approx(23 / 6)
    assert wrap(losses.weighted_mean)(numbers, ZERO) == 0.0
    assert wrap(losses.weighted_mean)(jnp.array([1.0, 2.0, 6.0])) == 3.0
    # The weight of a decision holds for both of its seats: (1 + 2 + 2×(5 + 6)) / (2 + 4)
    seats = jnp.array([[[1.0, 2.0], [5.0, 6.0]]])
    assert wrap(losses.weighted_mean)(seats, jnp.array([[1, 2]])) == pytest.approx(25 / 6)
    assert wrap(losses.weighted_mean)(seats, jnp.array([[True, False]])) == pytest.approx(1.5)


@plain_and_jit
def test_surrogates_by_hand(wrap):
    # ε = .2: A = 2: min(3, 2.4), min(1, 1.6), 2.2;  A = -2: min(-3, -2.4), min(-1, -1.6), min(-8, -2.4)
    clipped = wrap(losses.clipped_surrogate)(RATIOS, ZERO, ADVANTAGE, 0.2)
    assert clipped == pytest.approx(-(2.4 + 1 + 2.2 - 3 - 1.6 - 8) / 6, rel=1e-5)
    # The dual clip 3 limits the last one to 3 × -2.
    dual = wrap(losses.dual_clipped_surrogate)(RATIOS, ZERO, ADVANTAGE, 0.2, 3.0)
    assert dual == pytest.approx(-(2.4 + 1 + 2.2 - 3 - 1.6 - 6) / 6, rel=1e-5)
    weighted = wrap(losses.clipped_surrogate)(RATIOS, ZERO, ADVANTAGE, 0.2, WEIGHTS)
    assert weighted == pytest.approx(-(2.4 + 2.2 - 2 * 3 - 1.6 - 8) / 6, rel=1e-5)
    # All ratios except 1.1 are outside [.8, 1.2].
    assert wrap(losses.clip_fraction)(RATIOS, ZERO, 0.2) == pytest.approx(5 / 6)
    assert wrap(losses.clip_fraction)(RATIOS, ZERO, 0.2, WEIGHTS) == pytest.approx(5 / 6)


def test_clipped_surrogates_have_no_gradient():
    gradient = jax.grad(losses.clipped_surrogate)(RATIOS, ZERO, ADVANTAGE, 0.2)
    # -r A / 6 where the plain term is the smaller one, else 0.
    expected = np.array([[0, -1 / 6, -2.2 / 6], [3 / 6, 0, 8 / 6]])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    dual = jax.grad(losses.dual_clipped_surrogate)(RATIOS, ZERO, ADVANTAGE, 0.2, 3.0)
    expected[1, 2] = 0.0
    np.testing.assert_allclose(dual, expected, rtol=1e-5, atol=1e-7)


@plain_and_jit
def test_policy_gradient_by_hand(wrap):
    log_prob, advantage = jnp.array([-1.0, -2.0, -jnp.inf]), jnp.array([3.0, -1.0, 9.0])
    weights = jnp.array([1.0, 1.0, 0.0])
    # -(3 × -1 + -1 × -2) / 2
    assert wrap(losses.policy_gradient)(log_prob, advantage, weights) == pytest.approx(0.5)
    gradient = jax.grad(wrap(losses.policy_gradient))(log_prob, advantage, weights)
    np.testing.assert_allclose(gradient, [-1.5, 0.5, 0.0])


@plain_and_jit
def test_value_losses_by_hand(wrap):
    value, target = jnp.array([[[1.0, 4.0], [0.0, 2.0]]]), jnp.array([[[0.0, 1.0], [0.5, 2.0]]])
    # errors 1, 3, -.5, 0: ½ (1 + 9 + .25 + 0) / 4
    assert wrap(losses.value_loss)(value, target) == pytest.approx(10.25 / 8)
    assert wrap(losses.value_loss)(value, target, jnp.array([[0.0, 1.0]])) == pytest.approx(0.25 / 4)
    # width 2: ½, 2 (3 - 1), ⅛, 0
    assert wrap(losses.huber_value_loss)(value, target, 2.0) == pytest.approx((0.5 + 4 + 0.125) / 4)
    # From the old values .5, 1, .5, 2, at most 1 away: 1, 2, 0, 2 with errors 1, 1, -.5, 0: each time the larger square
    # of both: 1, 9, .25, 0; from 4, 4, 0, 0: 3, 4, 0, 1 with errors 3, 3, -.5, -1: 9, 9, .25, 1
    near, far = jnp.array([[[0.5, 1.0], [0.5, 2.0]]]), jnp.array([[[4.0, 4.0], [0.0, 0.0]]])
    assert wrap(losses.clipped_value_loss)(value, near, target, 1.0) == pytest.approx(10.25 / 8)
    assert wrap(losses.clipped_value_loss)(value, far, target, 1.0) == pytest.approx(19.25 / 8)


@plain_and_jit
def test_kl_entropy_and_variance_by_hand(wrap):
    # r - 1 - log r for r = 2 and ½: 1 - log 2 and -½ + log 2, together ½
    log_prob = jnp.log(jnp.array([0.5, 0.25]))
    behaviour = jnp.log(jnp.array([0.25, 0.5]))
    assert wrap(losses.approximate_kl)(log_prob, behaviour) == pytest.approx(0.25, rel=1e-5)
    assert wrap(losses.approximate_kl)(log_prob, log_prob) == 0.0
    assert wrap(losses.entropy_bonus)(jnp.array([1.0, 2.0, 9.0]), jnp.array([1, 3, 0])) == pytest.approx(1.75)
    value, target = jnp.array([1.0, 2.0, 5.0]), jnp.array([1.0, 3.0, 5.0])
    # G - V = 0, 1, 0 has variance 2/9, G has 8/3: 1 - 1/12
    assert wrap(losses.explained_variance)(value, target) == pytest.approx(11 / 12)
    assert wrap(losses.explained_variance)(value, target, jnp.array([1, 0, 1])) == 1.0
    assert wrap(losses.explained_variance)(jnp.full(3, 3.0), target) == pytest.approx(0.0, abs=1e-6)
    assert wrap(losses.explained_variance)(value, jnp.ones(3)) == 0.0


@plain_and_jit
def test_normalised_by_hand(wrap):
    # 1, 1, 5, 5 have mean 3 and standard deviation 2; the NaN has weight 0.
    numbers, weights = jnp.array([1.0, 1.0, jnp.nan, 5.0]), jnp.array([1.0, 1.0, 0.0, 2.0])
    np.testing.assert_allclose(wrap(losses.normalised)(numbers, weights), [-1, -1, 0, 1], rtol=1e-5)
    np.testing.assert_array_equal(wrap(losses.normalised)(jnp.full(4, 2.0)), np.zeros(4))
    np.testing.assert_array_equal(wrap(losses.normalised)(numbers, jnp.zeros(4)), np.zeros(4))


@given(seeds)
@settings(max_examples=20)
def test_k3_is_unbiased_and_never_negative(seed):
    """Its mean over all actions, weighted by their probabilities, is the KL divergence."""
    rng = np.random.default_rng(seed)
    old, new = rng.dirichlet(np.ones(5)) + 1e-3, rng.dirichlet(np.ones(5)) + 1e-3
    old, new = old / old.sum(), new / new.sum()
    got = losses.approximate_kl(np.log(new), np.log(old), old)
    assert got == pytest.approx((old * np.log(old / new)).sum(), rel=1e-3, abs=1e-5)
    each = [losses.approximate_kl(np.log(new[[a]]), np.log(old[[a]])) for a in range(5)]
    assert min(each) >= -1e-6


def losses_of(log_prob, value, data):
    """Every loss as one number; the last two are not losses that are minimised."""
    old, advantage, target, weights = data
    return jnp.stack(
        [
            losses.policy_gradient(log_prob, advantage, weights),
            losses.clipped_surrogate(log_prob, old, advantage, 0.2, weights),
            losses.dual_clipped_surrogate(log_prob, old, advantage, 0.2, 2.0, weights),
            losses.approximate_kl(log_prob, old, weights),
            losses.entropy_bonus(log_prob, weights),
            losses.value_loss(value, target, weights),
            losses.clipped_value_loss(value, target + advantage[..., None], target, 0.3, weights),
            losses.huber_value_loss(value, target, 0.5, weights),
            (losses.normalised(value, weights) ** 3).sum(),
            losses.explained_variance(value, target, weights),
        ]
    )


jacobian = jax.jit(jax.jacrev(losses_of, argnums=(0, 1)))
compiled = jax.jit(losses_of)


def batch(seed):
    """[3, 2] log-probabilities and [3, 2, 2] values, and the data that the losses need."""
    rng = np.random.default_rng(seed)
    log_prob, old = (-rng.exponential(size=(3, 2)) for _ in range(2))
    weights = rng.uniform(0.1, 2.0, (3, 2)) * (np.arange(6).reshape(3, 2) != rng.integers(6))
    return log_prob, rng.normal(size=(3, 2, 2)), (old, rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2)), weights)


@settings(max_examples=20)
@given(seeds)
def test_gradients_equal_finite_differences(seed):
    with jax.enable_x64(True):
        log_prob, value, data = batch(seed)
        by_log_prob, by_value = jacobian(log_prob, value, data)
        width = 1e-6
        for index in np.ndindex(3, 2):
            nudge = np.zeros((3, 2))
            nudge[index] = width
            rise = compiled(log_prob + nudge, value, data) - compiled(log_prob - nudge, value, data)
            np.testing.assert_allclose(by_log_prob[:, *index], rise / (2 * width), atol=1e-7)
        for index in np.ndindex(3, 2, 2):
            nudge = np.zeros((3, 2, 2))
            nudge[index] = width
            rise = compiled(log_prob, value + nudge, data) - compiled(log_prob, value - nudge, data)
            np.testing.assert_allclose(by_value[:, *index], rise / (2 * width), atol=1e-7)


@settings(max_examples=20)
@given(seeds, st.sampled_from([np.nan, np.inf, -np.inf, 1e30]))
def test_elements_of_weight_zero_have_no_effect(seed, poison):
    log_prob, value, (old, advantage, target, weights) = batch(seed)
    out = weights == 0
    assert out.sum() == 1
    data = old, advantage, target, weights
    clean, jacobians = compiled(log_prob, value, data), jacobian(log_prob, value, data)
    for array in (log_prob, value, old, advantage, target):
        array[out] = poison
    np.testing.assert_array_equal(compiled(log_prob, value, data), clean)
    for before, after in zip(jacobians, jacobian(log_prob, value, data), strict=True):
        np.testing.assert_array_equal(after, before)
        assert not np.any(after[:, out])


@pytest.mark.parametrize(
    "loss",
    [
        lambda new, old, advantage: losses.clipped_surrogate(new, old, advantage, 0.2),
        lambda new, old, advantage: losses.dual_clipped_surrogate(new, old, advantage, 0.2),
        lambda new, old, advantage: losses.approximate_kl(new, old),
    ],
    ids=["clipped", "dual", "kl"],
)
def test_gradients_of_large_ratios_are_finite(loss):
    log_prob = jnp.array([-1e4, -100.0, 100.0, 1e4, -1e4, -100.0, 100.0, 1e4])
    advantage = jnp.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    loss_value, gradient = jax.jit(jax.value_and_grad(loss))(log_prob, jnp.zeros(8), advantage)
    assert np.isfinite(loss_value) and np.isfinite(gradient).all()


def test_no_gradient_flows_into_the_data():
    log_prob, value, (old, advantage, target, weights) = batch(3)

    def loss_of_data(old, advantage, target):
        return losses_of(log_prob, value, (old, advantage, target, weights))[:8].sum()

    for gradient in jax.jit(jax.grad(loss_of_data, argnums=(0, 1, 2)))(old, advantage, target):
        assert not np.any(gradient)
