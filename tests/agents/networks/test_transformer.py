"""Transformer layers: values by hand, masked padding, and order only by positions."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cards import made, numbers

from ludus.agents.neural.networks import transformer as t
from ludus.types import LudusError

plain_and_jit = pytest.mark.parametrize("wrap", [lambda function: function, jax.jit], ids=["plain", "jit"])
both_styles = pytest.mark.parametrize("noam", [True, False], ids=["noam", "classic"])
seeds = st.integers(0, 2**32 - 1)


@functools.cache
def compiled(layer):
    """The layer as a function of parameters and inputs."""
    return jax.jit(layer.apply)


def test_heads_are_128_wide_and_at_least_two():
    assert [t.heads_for(channels) for channels in (32, 128, 255, 256, 512, 1024)] == [2, 2, 2, 2, 4, 8]


@pytest.mark.parametrize(("channels", "heads"), [(10, 3), (8, 0), (0, 2)])
def test_invalid_heads_raise(channels, heads):
    with pytest.raises(LudusError, match=f"{channels} channels cannot be split into {heads} heads"):
        t.head_width(channels, heads)


@plain_and_jit
def test_rms_norm_by_hand(wrap):
    norm = t.RMSNorm(epsilon=0.5)
    scale = {"params": {"scale": jnp.array([1.0, 2.0])}}
    # mean of 3² and 4² is 12.5, with ε 13
    expected = [[3 / math.sqrt(13), 8 / math.sqrt(13)]]
    np.testing.assert_allclose(wrap(norm.apply)(scale, jnp.array([[3.0, 4.0]])), expected, rtol=1e-6)


@plain_and_jit
def test_glu_by_hand(wrap):
    kernels = {"linear": [[2.0, 0.0], [0.0, 1.0]], "gate": [[1.0, 0.0], [0.0, 1.0]], "out": [[1.0], [10.0]]}
    params = {"params": {name: {"kernel": jnp.array(kernel)} for name, kernel in kernels.items()}}
    silu = [1 / (1 + math.exp(-1)), -2 / (1 + math.exp(2))]
    expected = [[2 * silu[0] + 10 * -2 * silu[1]]]
    glu = t.GLU(features=1, hidden=2)
    np.testing.assert_allclose(wrap(glu.apply)(params, jnp.array([[1.0, -2.0]])), expected, rtol=1e-6)
    assert jax.tree.structure(glu.init(jax.random.key(0), jnp.ones((1, 2)))) == jax.tree.structure(params)


@plain_and_jit
def test_attention_over_two_tokens_by_hand(wrap):
    query = jnp.array([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]).reshape(1, 2, 1, 4)
    key = jnp.array([[math.log(3.0), 5.0, 5.0, 5.0], [0.0, 7.0, 7.0, 7.0]]).reshape(1, 2, 1, 4)
    value = jnp.array([[8.0, 0.0, 1.0, 4.0], [0.0, 4.0, 1.0, 8.0]]).reshape(1, 2, 1, 4)
    # The scores of the first are 2 log 3 / √4 and 0, so its weights are 3 to 1; those of the second are equal.
    expected = [[6, 1, 1, 5], [4, 2, 1, 6]]
    np.testing.assert_allclose(wrap(t.attend)(query, key, value)[0, :, 0], expected, rtol=1e-6)
    only_second = wrap(t.attend)(query, key, value, jnp.array([[False, True]]))
    np.testing.assert_allclose(only_second[0, :, 0], [value[0, 1, 0]] * 2, rtol=1e-6)
    assert not wrap(t.attend)(query, key, value, jnp.zeros((1, 2), bool)).any()


def attention_by_loops(query, key, value, valid):
    out = np.zeros_like(query)
    for b, q, h in np.ndindex(query.shape[:3]):
        weights = np.exp(key[b, :, h] @ query[b, q, h] / math.sqrt(query.shape[-1])) * valid[b]
        out[b, q, h] = weights @ value[b, :, h] / max(weights.sum(), 1e-300)
    return out


attend_compiled = jax.jit(t.attend)


@given(seeds, st.sampled_from([(1, 1, 4, 1), (2, 3, 5, 2), (3, 4, 4, 3)]))
@settings(max_examples=30)
def test_attention_equals_plain_loops(seed, shape):
    batch, queries, keys, heads = shape
    rng = np.random.default_rng(seed)
    query, key, value = (rng.normal(size=(batch, length, heads, 4)) for length in (queries, keys, keys))
    valid = rng.random((batch, keys)) < 0.6
    output = attend_compiled(*(x.astype(np.float32) for x in (query, key, value)), valid)
    np.testing.assert_allclose(output, attention_by_loops(query, key, value, valid), atol=1e-5)


def test_attention_does_not_overflow():
    big = jnp.full((1, 2, 1, 2), 1e4)
    np.testing.assert_allclose(t.attend(big, big, big), big)
    np.testing.assert_allclose(t.attend(-big, big, big), big)


rotary_compiled = jax.jit(t.rotary)


@given(seeds, st.integers(-50, 50))
@settings(max_examples=30)
def test_rotary_products_depend_only_on_distances(seed, moved):
    query, key = numbers(seed, 1, 2, 8), numbers(seed + 1, 1, 2, 8)

    def product(at, other):
        return np.sum(rotary_compiled(query, np.array([at])) * rotary_compiled(key, np.array([other])), axis=-1)

    np.testing.assert_allclose(product(3, 7), product(3 + moved, 7 + moved), atol=1e-4)
    assert not np.allclose(product(3, 7), product(3, 8), atol=1e-4)


def test_rotary_by_hand():
    x = jnp.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 4)
    fast, slow = 5.0, 0.05  # position 5 at speeds 1 and 1/100
    expected = [
        1 * math.cos(fast) - 3 * math.sin(fast),
        2 * math.cos(slow) - 4 * math.sin(slow),
        3 * math.cos(fast) + 1 * math.sin(fast),
        4 * math.cos(slow) + 2 * math.sin(slow),
    ]
    np.testing.assert_allclose(t.rotary(x, jnp.array([5]))[0, 0], expected, rtol=1e-5)
    np.testing.assert_array_equal(t.rotary(x, jnp.array([0])), x)
    with pytest.raises(LudusError, match="even number of channels per head, not 3"):
        t.rotary(x[..., :3], jnp.array([5]))


def test_rotary_positions_may_differ_by_row():
    x = numbers(0, 2, 3, 2, 4)
    positions = jnp.array([[0, 1, 2], [7, 8, 9]])
    both = t.rotary(x, positions)
    for row in range(2):
        np.testing.assert_array_equal(both[row], t.rotary(x[row], positions[row]))


def test_sinusoids_by_hand():
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    np.testing.assert_allclose(t.sinusoid(2, 4), expected, rtol=1e-6)
    assert t.sinusoid(3, 5).shape == (3, 5)


@both_styles
def test_padding_has_no_influence(noam):
    layer = t.EncoderLayer(16, 2, noam)
    x, valid = numbers(0, 2, 5, 16), jnp.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], bool)
    params, apply = made(layer, x), compiled(layer)
    output = apply(params, x, valid)
    other = apply(params, jnp.where(valid[..., None], x, 100.0), valid)
    np.testing.assert_array_equal(output[valid], other[valid])
    without = apply(params, x[:1, jnp.array([0, 1, 3])])
    np.testing.assert_allclose(output[:1, jnp.array([0, 1, 3])], without, atol=1e-5)
    assert not np.allclose(output[valid], apply(params, x)[valid], atol=1e-3)


def test_attention_without_valid_keys_is_zero():
    layer = t.Attention(16, 2)
    x, valid = numbers(0, 2, 5, 16), jnp.array([[False] * 5, [True] * 5])
    params, apply = made(layer, x), compiled(layer)

    def total(params, x):
        return jnp.sum(apply(params, x, valid) ** 2)

    output = apply(params, x, valid)
    assert not output[0].any() and output[1].any()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(jax.grad(total, (0, 1))(params, x)))


@both_styles
@given(seed=seeds)
@settings(max_examples=10)
def test_encoder_layer_is_permutation_equivariant(noam, seed):
    layer = t.EncoderLayer(16, 2, noam)
    x, order = numbers(seed, 2, 6, 16), np.random.default_rng(seed).permutation(6)
    valid = jnp.asarray(np.random.default_rng(seed).random((2, 6)) < 0.7)
    params, apply = made(layer, x), compiled(layer)
    np.testing.assert_allclose(
        apply(params, x[:, order], valid[:, order]), apply(params, x, valid)[:, order], atol=1e-4
    )


def test_rope_depends_only_on_relative_positions():
    layer = t.EncoderLayer(16, 2, rope=True)
    x, order = numbers(0, 2, 6, 16), jnp.array([3, 1, 5, 0, 2, 4])
    params, apply = made(layer, x), compiled(layer)
    output = apply(params, x)
    assert not np.allclose(apply(params, x[:, order]), output[:, order], atol=1e-3)
    np.testing.assert_allclose(apply(params, x[:, order], positions=order), output[:, order], atol=1e-4)
    np.testing.assert_allclose(apply(params, x, positions=jnp.arange(6) + 40), output, atol=1e-4)


@both_styles
def test_identity_film_changes_nothing(noam):
    layer = t.EncoderLayer(16, 2, noam)
    x, ones, zeros = numbers(0, 2, 5, 16), jnp.ones((2, 16)), jnp.zeros((2, 16))
    params, apply = made(layer, x), compiled(layer)
    output = apply(params, x)
    np.testing.assert_array_equal(apply(params, x, film=t.Film(ones, zeros, ones, zeros)), output)
    np.testing.assert_array_equal(apply(params, x, film=t.Film(zeros, zeros, zeros, zeros)), x)
    biases = numbers(1, 2, 16), numbers(2, 2, 16)
    added = apply(params, x, film=t.Film(zeros, biases[0], zeros, biases[1]))
    np.testing.assert_allclose(added, x + (biases[0] + biases[1])[:, None], atol=1e-5)


def test_film_scales_attention_and_mlp_separately():
    layer = t.EncoderLayer(16, 2)
    x, ones, zeros = numbers(0, 2, 5, 16), jnp.ones((2, 16)), jnp.zeros((2, 16))
    params, apply = made(layer, x), compiled(layer)
    attention = apply(params, x, film=t.Film(ones, zeros, zeros, zeros)) - x
    doubled = apply(params, x, film=t.Film(2 * ones, zeros, zeros, zeros)) - x
    np.testing.assert_allclose(doubled, 2 * attention, atol=1e-5)
    mlp = apply(params, x, film=t.Film(zeros, zeros, ones, zeros)) - x
    np.testing.assert_allclose(apply(params, x, film=t.Film(zeros, zeros, 3 * ones, zeros)) - x, 3 * mlp, atol=1e-5)
    assert np.abs(attention).max() > 0.1 and np.abs(mlp).max() > 0.1


def parameters(layer):
    leaves = jax.tree.leaves(jax.eval_shape(layer.init, jax.random.key(0), jnp.ones((1, 3, layer.channels))))
    return sum(leaf.size for leaf in leaves)


def test_number_of_parameters():
    c = 16
    assert parameters(t.EncoderLayer(c, 2)) == 4 * c * c + 6 * c * c + 2 * c
    assert parameters(t.EncoderLayer(c, 2, noam=False)) == 4 * (c * c + c) + 8 * c * c + 5 * c + 4 * c


@both_styles
def test_compiled_layer_equals_plain_layer_and_gradients_are_finite(noam):
    layer = t.EncoderLayer(16, 2, noam, rope=True)
    x, valid = numbers(0, 3, 5, 16), jnp.array([[True] * 5, [True, False, True, False, False], [False] * 5])
    params = made(layer, x)
    np.testing.assert_allclose(jax.jit(layer.apply)(params, x, valid), layer.apply(params, x, valid), atol=1e-5)
    gradients = jax.jit(jax.grad(lambda params, x: jnp.sum(layer.apply(params, x, valid) ** 2), (0, 1)))(params, x)
    assert all(np.isfinite(leaf).all() and np.any(leaf) for leaf in jax.tree.leaves(gradients))


@both_styles
def test_bfloat16_is_close_to_float32(noam):
    x, valid = 10.0 * numbers(0, 2, 300, 32), jnp.arange(300) < jnp.array([[300], [200]])
    whole, half = (t.EncoderLayer(32, 2, noam, True, dtype) for dtype in (jnp.float32, jnp.bfloat16))
    params = made(whole, x)
    output = compiled(half)(params, x.astype(jnp.bfloat16), valid)
    assert output.dtype == jnp.bfloat16
    expected = compiled(whole)(params, x, valid)
    assert np.abs(np.asarray(output, np.float32) - expected).max() < 0.03 * np.abs(expected).max()


def test_bfloat16_sums_are_computed_in_float32():
    # 1 + 1 + ... in bfloat16 stops at 256: weights or squares summed in it would be wrong by a factor.
    same = jnp.ones((1, 1000, 1, 2), jnp.bfloat16)
    np.testing.assert_allclose(np.asarray(t.attend(same, same, same), np.float32), 1.0)
    norm = t.RMSNorm(dtype=jnp.bfloat16)
    x = jnp.ones((1, 1000), jnp.bfloat16)
    np.testing.assert_allclose(np.asarray(norm.apply(norm.init(jax.random.key(0), x), x), np.float32), 1.0)


def test_parameters_have_param_dtype():
    layer = t.EncoderLayer(16, 2, False, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)
    params = jax.eval_shape(layer.init, jax.random.key(0), jnp.ones((1, 2, 16), jnp.bfloat16))
    assert {leaf.dtype for leaf in jax.tree.leaves(params)} == {jnp.dtype(jnp.bfloat16)}
