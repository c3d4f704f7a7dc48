"""Distributions: values by hand, normalisation, and illegal actions without probability or gradient."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.agents.neural import distributions as d

plain_and_jit = pytest.mark.parametrize("wrap", [lambda function: function, jax.jit], ids=["plain", "jit"])
seeds = st.integers(0, 2**32 - 1)

LOGITS = jnp.log(jnp.array([1.0, 100.0, 3.0, 4.0]))
MASK = np.array([1, 0, 1, 1], np.uint8)
PROBABILITIES = [1 / 8, 0, 3 / 8, 4 / 8]


@plain_and_jit
def test_masked_categorical_by_hand(wrap):
    log_probs = wrap(d.log_probabilities)(LOGITS, MASK)
    np.testing.assert_allclose(jnp.exp(log_probs), PROBABILITIES, rtol=1e-6)
    assert log_probs[1] == -np.inf
    assert wrap(d.categorical_log_prob)(log_probs, jnp.array(2, jnp.int8)) == pytest.approx(math.log(3 / 8))
    assert wrap(d.categorical_mode)(log_probs) == 3
    entropy = -(math.log(1 / 8) / 8 + 3 * math.log(3 / 8) / 8 + math.log(1 / 2) / 2)
    assert wrap(d.categorical_entropy)(log_probs) == pytest.approx(entropy, rel=1e-6)
    even = wrap(d.log_probabilities)(jnp.zeros(4), MASK)
    # Σ p log 3p = log 3 - H(p); the other way round Σ ⅓ (log ⅓ - log p)
    assert wrap(d.categorical_kl)(log_probs, even) == pytest.approx(math.log(3) - entropy, rel=1e-5)
    back = math.log(1 / 3) - (math.log(1 / 8) + math.log(3 / 8) + math.log(1 / 2)) / 3
    assert wrap(d.categorical_kl)(even, log_probs) == pytest.approx(back, rel=1e-5)


def test_kl_is_infinite_if_q_is_0():
    wide, narrow = d.log_probabilities(LOGITS, np.ones(4)), d.log_probabilities(LOGITS, MASK)
    assert d.categorical_kl(wide, narrow) == np.inf
    assert d.categorical_kl(narrow, wide) == pytest.approx(math.log(108 / 8), rel=1e-5)  # p is q × 108/8 where legal


def legal_numbers(logits):
    """Numbers that depend on the legal actions."""
    log_probs, other = d.log_probabilities(logits, MASK), d.log_probabilities(2.0 * logits, MASK)
    chosen, entropy = d.categorical_log_prob(log_probs, jnp.array(0)), d.categorical_entropy(log_probs)
    return jnp.stack([chosen, entropy, d.categorical_kl(log_probs, other), d.categorical_kl(other, log_probs)])


legal_numbers_compiled, legal_gradients = jax.jit(legal_numbers), jax.jit(jax.jacrev(legal_numbers))


@pytest.mark.parametrize("poison", [1e30, -1e30, np.inf, -np.inf, np.nan])
def test_illegal_actions_have_no_probability_and_no_gradient(poison):
    poisoned = LOGITS.at[1].set(poison)
    np.testing.assert_array_equal(legal_numbers_compiled(poisoned), legal_numbers_compiled(LOGITS))
    np.testing.assert_array_equal(legal_numbers(poisoned), legal_numbers(LOGITS))
    slope = legal_gradients(poisoned)
    assert np.isfinite(slope).all() and not slope[:, 1].any()
    np.testing.assert_array_equal(slope, legal_gradients(LOGITS))
    # d log p_0 / d logits = 1 - p_0, 0, -p_2, -p_3
    np.testing.assert_allclose(slope[0], [7 / 8, 0, -3 / 8, -1 / 2], rtol=1e-5)


def test_large_logits_and_rows_without_legal_actions():
    logits = jnp.array([[1e30, -1e30, 0.0], [-1e30, -1e30, -1e30], [5.0, 5.0, 5.0]])
    mask = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0]], bool)

    def total(logits):
        return d.categorical_entropy(d.log_probabilities(logits, mask)).sum()

    np.testing.assert_allclose(jnp.exp(d.log_probabilities(logits, mask)), [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]])
    assert total(logits) == pytest.approx(math.log(2))
    assert np.isfinite(jax.jit(jax.grad(total))(logits)).all()


def test_samples_are_legal_and_have_the_right_frequencies():
    log_probs = jnp.broadcast_to(d.log_probabilities(LOGITS, MASK), (20_000, 4))
    drawn = jax.jit(d.categorical_sample)(jax.random.key(1), log_probs)
    frequency = np.bincount(drawn, minlength=4) / 20_000
    assert frequency[1] == 0
    np.testing.assert_allclose(frequency, PROBABILITIES, atol=0.02)  # more than five deviations of √(¼/20000)


def test_samples_of_many_actions_are_legal_and_have_the_right_frequencies():
    """Large numbers of actions are sampled by another method."""
    dice = np.random.default_rng(3)
    logits, mask = dice.normal(size=1000) * 2, dice.random(1000) < 0.05
    mask[[0, 999]] = False, True
    log_probs = d.log_probabilities(jnp.array(logits, jnp.float32)[None], jnp.array(mask)[None])
    drawn = jax.jit(d.categorical_sample)(jax.random.key(1), jnp.broadcast_to(log_probs, (50_000, 1000)))
    frequency = np.bincount(drawn, minlength=1000) / 50_000
    assert not frequency[~mask].any()
    np.testing.assert_allclose(frequency, np.exp(np.asarray(log_probs[0])), atol=0.0115)  # five of √(¼/50000)


@pytest.mark.parametrize("only", [0, 31, 32, 99])
def test_the_only_legal_action_of_many_is_always_drawn(only):
    log_probs = d.log_probabilities(jnp.zeros((5000, 100)), jnp.arange(100)[None] == only)
    assert (np.asarray(d.categorical_sample(jax.random.key(2), log_probs)) == only).all()


@jax.jit
def categorical_numbers(logits, mask):
    log_probs = d.log_probabilities(logits, mask)
    even = d.log_probabilities(jnp.zeros_like(logits), mask)
    return log_probs, d.categorical_entropy(log_probs), d.categorical_kl(log_probs, even)


@settings(max_examples=50)
@given(seeds)
def test_probabilities_sum_to_one_and_bounds_hold(seed):
    rng = np.random.default_rng(seed)
    logits, mask = 10 * rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.5
    mask[np.arange(6), rng.integers(0, 5, 6)] = True
    log_probs, entropy, divergence = categorical_numbers(logits.astype(np.float32), mask)
    np.testing.assert_allclose(np.exp(log_probs).sum(axis=-1), np.ones(6), rtol=1e-5)
    assert (np.isneginf(log_probs) == ~mask).all()
    most = np.log(mask.sum(axis=-1))
    assert (entropy >= -1e-6).all() and (entropy <= most + 1e-5).all()
    np.testing.assert_allclose(divergence, most - entropy, atol=1e-4)


def gaussian(mean, log_std, low=-1.0, high=1.0):
    """A squashed Gaussian of one component."""
    return d.SquashedGaussian(
        jnp.array([mean]), jnp.array([log_std]), np.array([low], np.float32), np.array([high], np.float32)
    )


@plain_and_jit
def test_squashed_gaussian_by_hand(wrap):
    # u = 0 becomes the middle, 4, of [1, 7]; the density there is N(0; 0, 2²) / (3 × (1 - 0)) = 1 / (2 √(2π) 3)
    wide = gaussian(0.0, math.log(2.0), 1.0, 7.0)
    assert wrap(d.squashed_log_prob)(wide, jnp.array([4.0])) == pytest.approx(-math.log(6 * math.sqrt(2 * math.pi)))
    # u = log 2 becomes tanh u = (2 - ½) / (2 + ½) = .6; 1 - .36 = .64, so the density is N(log 2; 0, 1) / .64
    density = math.exp(-0.5 * math.log(2) ** 2) / math.sqrt(2 * math.pi) / 0.64
    assert wrap(d.squashed_log_prob)(gaussian(0.0, 0.0), jnp.array([0.6])) == pytest.approx(math.log(density), rel=1e-5)
    assert wrap(d.squashed_mode)(gaussian(math.log(2.0), 1.0, 0.0, 10.0))[0] == pytest.approx(8.0)
    # Two components: the sum of both.
    both = d.SquashedGaussian(jnp.zeros(2), jnp.zeros(2), jnp.array([-1.0, -1.0]), jnp.array([1.0, 1.0]))
    one = d.squashed_log_prob(gaussian(0.0, 0.0), jnp.array([0.6]))
    middle = -0.5 * math.log(2 * math.pi)
    assert wrap(d.squashed_log_prob)(both, jnp.array([0.6, 0.0])) == pytest.approx(float(one) + middle, rel=1e-5)


integrand, entropy_of = jax.jit(d.squashed_log_prob), jax.jit(d.squashed_entropy)


@settings(max_examples=30)
@given(st.floats(-1.5, 1.5), st.floats(-2.0, 0.3), st.floats(-5.0, 5.0), st.floats(0.1, 10.0))
def test_density_integrates_to_one_and_gives_the_entropy(mean, log_std, low, width):
    with jax.enable_x64(True):
        curve = d.SquashedGaussian(jnp.array([mean]), jnp.array([log_std]), np.array([low]), np.array([low + width]))
        # Trapezoidal rule for p(a) da with equal steps of u, which are dense in a where p is steep.
        raw = np.linspace(-7.2, 7.2, 8001)[:, None]
        action = np.asarray(d.squash(jnp.asarray(raw), curve.low, curve.high))
        log_prob = np.asarray(integrand(curve, action))
        density = np.exp(log_prob)
        assert np.trapezoid(density, action[:, 0]) == pytest.approx(1.0, abs=1e-3)
        entropy = -np.trapezoid(density * log_prob, action[:, 0])
        assert entropy_of(curve) == pytest.approx(entropy, abs=5e-3)


def test_samples_are_within_bounds_and_have_the_right_density():
    rows = 20_000
    low, high = np.array([-1.0, 0.0], np.float32), np.array([1.0, 0.2], np.float32)
    many = d.SquashedGaussian(jnp.full((rows, 2), 0.5), jnp.full((rows, 2), -0.5), low, high)
    action, log_prob = jax.jit(d.squashed_sample)(jax.random.key(2), many)
    assert (action > low).all() and (action < high).all()
    # Half of the samples are below the median, and the mean of -log p is the entropy.
    np.testing.assert_allclose((action < d.squashed_mode(many)).mean(axis=0), [0.5, 0.5], atol=0.02)
    assert -log_prob.mean() == pytest.approx(float(d.squashed_entropy(many)[0]), abs=0.05)


def test_unchanged_policy_has_a_ratio_of_exactly_one():
    wide = d.SquashedGaussian(jnp.zeros((1000, 1)), jnp.full((1000, 1), 2.0), np.array([-3.0]), np.array([9.0]))
    action, log_prob = d.squashed_sample(jax.random.key(3), wide)
    np.testing.assert_array_equal(log_prob, d.squashed_log_prob(wide, action))


@jax.jit
def edge_numbers(mean, log_std, edge):
    curve = d.SquashedGaussian(mean, log_std, -np.ones(1), np.ones(1))
    action, log_prob = d.squashed_sample(jax.random.key(0), curve)
    raw = d.squashed_raw_sample(jax.random.key(0), curve)
    own = d.squashed_raw_log_prob(curve, raw) + d.squashed_entropy(curve)
    return (action[:, 0] + log_prob + d.squashed_log_prob(curve, edge) + own).sum()


@pytest.mark.parametrize("edge", [-1.0, 1.0])
def test_values_at_the_bounds_are_finite(edge):
    mean = jnp.array([[-1e4], [-30.0], [0.0], [30.0], [1e4]])
    slopes = jax.grad(edge_numbers, argnums=(0, 1))(mean, jnp.zeros((5, 1)), jnp.full((5, 1), edge))
    assert np.isfinite(edge_numbers(mean, jnp.zeros((5, 1)), jnp.full((5, 1), edge)))
    assert np.isfinite(slopes).all()


def test_log_slope_is_accurate_for_large_inputs():
    # log(1 - tanh² u) = log 4 - 2u - 2 log(1 + e^(-2u)); for u = 20 that is log 4 - 40
    assert d.log_slope(jnp.array(20.0)) == pytest.approx(math.log(4) - 40, rel=1e-6)
    assert d.log_slope(jnp.array(-20.0)) == pytest.approx(math.log(4) - 40, rel=1e-6)
    raw = np.linspace(-3, 3, 13)
    np.testing.assert_allclose(d.log_slope(jnp.asarray(raw)), np.log(1 - np.tanh(raw) ** 2), rtol=1e-4, atol=1e-6)


@jax.jit
def squashed_numbers(mean, log_std, action):
    curve = d.SquashedGaussian(mean, log_std, np.array([-1.0, 2.0]), np.array([1.0, 7.0]))
    raw = d.squashed_raw_sample(jax.random.key(4), curve)
    again = d.squashed_raw_log_prob(curve, raw)
    return jnp.stack([d.squashed_log_prob(curve, action), d.squashed_entropy(curve), again, d.squashed_mode(curve)[1]])


slopes_of = jax.jit(jax.jacrev(squashed_numbers, argnums=(0, 1)))


@settings(max_examples=20)
@given(seeds)
def test_gradients_equal_finite_differences(seed):
    with jax.enable_x64(True):
        rng = np.random.default_rng(seed)
        numbers, action = 0.7 * rng.normal(size=(2, 2)), np.array([rng.uniform(-0.99, 0.99), rng.uniform(2.01, 6.99)])
        slopes = slopes_of(*numbers, action)
        for which, k in np.ndindex(2, 2):
            nudge = np.zeros((2, 2))
            nudge[which, k] = 1e-6
            rise = squashed_numbers(*(numbers + nudge), action) - squashed_numbers(*(numbers - nudge), action)
            np.testing.assert_allclose(slopes[which][:, k], rise / 2e-6, rtol=1e-5, atol=1e-6)
