"""Encoders: values by hand, and masked padding does not change outputs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_cards import made

from ludus.agents.neural import devices
from ludus.agents.neural.networks.encoders import HistoryEncoder, SetEncoder
from ludus.agents.neural.networks.features import IdEmbedding, ids_of, indices_of, one_hot, scaled, soft_bins, values_of
from ludus.agents.neural.networks.layout import Entities, Field
from ludus.agents.neural.networks.settings import EncoderArgs
from ludus.agents.neural.networks.transformer import EncoderLayer, LastLayer

devices.start()
KEY = jax.random.key(0)


def number(*ends, **more):
    low, high = ends
    return Field("x", (2,), "number", low, high, **more)


def test_values_are_read_from_their_columns():
    columns = np.array([[1, 2, 3, 4, 5]], np.uint8)
    field = number((0.0,), (1.0,), at=1)
    np.testing.assert_array_equal(values_of(field, columns), [[2, 3]])
    np.testing.assert_array_equal(values_of(field._replace(pair=True), columns), [[2 * 256 + 3, 4 * 256 + 5]])


def test_numbers_are_scaled_by_finite_bounds_only():
    given = jnp.array([[0.0, 3.0], [4.0, -7.0]])
    np.testing.assert_allclose(scaled(number((0.0,), (4.0,)), given), [[-1, 0.5], [1, -4.5]])
    np.testing.assert_allclose(scaled(number((0.0, -np.inf), (4.0, np.inf)), given), [[-1, 3], [1, -7]])
    np.testing.assert_allclose(scaled(number((2.0,), (2.0,)), given), given)


def test_unbounded_integers_are_scaled_logarithmically():
    given = jnp.array([[0, -(2**30)], [1, 2]], jnp.int32)
    found = scaled(number((-np.inf, -np.inf), (np.inf, np.inf)), given)
    np.testing.assert_allclose(found, [[0, -np.log1p(2**30)], [np.log(2), np.log(3)]], rtol=1e-6)
    mixed = scaled(number((0.0, -np.inf), (4.0, np.inf)), given)
    np.testing.assert_allclose(mixed[:, 0], [-1, -0.5])


def test_soft_bins_by_hand():
    """Bins of width 2 from 0 to 8: 5 fills two of them and half of the third."""
    found = soft_bins(number((0.0,), (8.0,), bins=4), jnp.array([[5.0, 99.0], [0.0, 2.0]]))
    np.testing.assert_allclose(found[0], [[1, 1, 0.5, 0], [1, 1, 1, 1]])
    np.testing.assert_allclose(found[1], [[0, 0, 0, 0], [1, 0, 0, 0]])
    each = soft_bins(number((0.0, -4.0), (8.0, 4.0), bins=4), jnp.array([[1.0, 1.0]]))
    np.testing.assert_allclose(each[0], [[0.5, 0, 0, 0], [1, 1, 0.5, 0]])


def test_soft_bins_of_unbounded_numbers():
    """3 is mapped to 3 / (1 + 3) = 0.75, which fills three and a half of four bins of width 0.5 from -1."""
    found = soft_bins(number((-1.0, -np.inf), (1.0, np.inf), bins=4), jnp.array([[0.0, 3.0], [1.0, -1e30]]))
    np.testing.assert_allclose(found[0], [[1, 1, 0, 0], [1, 1, 1, 0.5]])
    np.testing.assert_allclose(found[1], [[1, 1, 1, 1], [0, 0, 0, 0]], atol=1e-6)


def test_categories_start_at_the_lowest_value_and_are_clipped():
    field = Field("x", (3,), "category", (-1.0,), (1.0,))
    given = jnp.array([[-1, 0, 1], [-5, 9, 0]], jnp.int8)
    np.testing.assert_array_equal(indices_of(field, given), [[0, 1, 2], [0, 2, 1]])
    np.testing.assert_array_equal(one_hot(field, given, jnp.float32)[0], [0, 0, 1, 0, 0, 1])
    bit = Field("x", (3,), "category", (0.0,), (1.0,))
    np.testing.assert_array_equal(one_hot(bit, jnp.array([[0, 1, 1]]), jnp.float32), [[0, 1, 1]])
    constant = Field("x", (1,), "category", (7.0,), (7.0,))
    np.testing.assert_array_equal(one_hot(constant, jnp.array([[7]]), jnp.float32), [[0]])


def test_ids_are_read_from_two_columns():
    part = Entities("cards", 2, (), 3, ids=(0, 2))
    tokens = np.array([[[1, 9, 2], [0, 9, 255]]], np.uint8)
    np.testing.assert_array_equal(ids_of(part, tokens), [[258, 255]])


@pytest.mark.parametrize("swish", [False, True])
def test_projecting_the_table_or_each_id_gives_the_same(swish):
    embedding, table = IdEmbedding(8, swish), jax.random.normal(KEY, (5, 16))
    few, many = jnp.array([[0, 3, 4]]), jnp.array([[0, 3, 4, 4, 3, 0, 1, 2]])
    variables = embedding.init(KEY, table, few)
    each, once = embedding.apply(variables, table, few), embedding.apply(variables, table, many)
    np.testing.assert_allclose(each[0], once[0, :3], atol=1e-6)
    product = table @ variables["params"]["Dense_0"]["kernel"]
    np.testing.assert_allclose(each[0], (jax.nn.swish(product) if swish else product)[few[0]], atol=1e-5)
    _, kept = embedding.apply(variables, table, few, mutable=["folded"])
    np.testing.assert_allclose(embedding.apply({**variables, **kept}, table, many), once, atol=1e-6)


def test_ids_out_of_range_are_clipped():
    embedding, table = IdEmbedding(4), jax.random.normal(KEY, (5, 6))
    variables = embedding.init(KEY, table, jnp.array([0]))
    found = embedding.apply(variables, table, jnp.array([99, 4, -3, 0]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[::2], found[1::2])


@pytest.mark.parametrize("noam", [True, False])
@pytest.mark.parametrize("masks", [True, False])
def test_last_layer_equals_the_first_token_of_an_encoder_layer(noam, masks):
    x = jax.random.normal(KEY, (3, 7, 16))
    valid = jnp.arange(7) < jnp.array([[7], [3], [1]]) if masks else None
    last, whole = LastLayer(16, 2, noam, rope=noam), EncoderLayer(16, 2, noam, rope=noam)
    variables = made(whole, x, valid)
    given = dict(variables["params"])
    attention = given.pop("attention")
    parts = {name: jnp.split(array, [16], axis=-1) for name, array in attention["query_key_value"].items()}
    given["query"] = {name: pair[0] for name, pair in parts.items()}
    given["key_value"] = {name: pair[1] for name, pair in parts.items()}
    given["out"] = attention["out"]
    found = jax.jit(last.apply)({"params": given}, x, valid)
    np.testing.assert_allclose(found, jax.jit(whole.apply)(variables, x, valid)[:, 0], atol=1e-5)


def test_masked_padding_changes_nothing():
    field = Field("kind", (), "category", (0.0,), (5.0,), at=1)
    part = Entities("cards", 6, (field,), 2, padding=0)
    encoder = SetEncoder((part,), EncoderArgs(num_layers=2, num_channels=16, card_mask=True), return_tokens=True)
    seen = np.zeros((2, 6, 2), np.uint8)
    seen[:, :4] = [[1, 2], [1, 3], [1, 5], [1, 1]]
    variables, apply = made(encoder, {"cards": seen}, None), jax.jit(encoder.apply)
    other = seen.copy()
    other[:, 4:, 1] = 5
    summary, tokens = apply(variables, {"cards": seen}, None)
    changed, changed_tokens = apply(variables, {"cards": other}, None)
    np.testing.assert_allclose(summary, changed, atol=1e-6)
    np.testing.assert_allclose(tokens[:, :4], changed_tokens[:, :4], atol=1e-6)
    short, _ = apply(variables, {"cards": seen[:, :4]}, None)
    np.testing.assert_allclose(summary, short, atol=1e-6)
    unmasked = SetEncoder((part,), EncoderArgs(num_layers=2, num_channels=16), return_tokens=True)
    assert abs(jax.jit(unmasked.apply)(variables, {"cards": other}, None)[0] - summary).max() > 1e-3


@pytest.mark.parametrize("noam", [True, False])
def test_padding_of_past_actions_can_be_cut_off(noam):
    part = Entities("past", 6, (Field("act", (), "category", (0.0,), (5.0,), at=1),), 2, padding=0)
    encoder = HistoryEncoder(part, EncoderArgs(num_channels=16, noam=noam))
    seen = np.zeros((2, 6, 2), np.uint8)
    seen[:, :3] = [[[1, 2], [1, 3], [1, 5]], [[1, 1], [0, 0], [0, 0]]]
    variables, apply = made(encoder, {"past": seen}, None), jax.jit(encoder.apply)
    whole, short, changed = (
        apply(variables, {"past": tokens}, None) for tokens in (seen, seen[:, :3], seen + np.uint8([0, 1]))
    )
    np.testing.assert_allclose(whole, short, atol=1e-5)
    assert abs(whole - changed).max() > 1e-3
