"""Single operations of JAX in ONNX, and the simpler operations for TFLite, against JAX itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus.agents.export.simpler import simplified
from ludus.types import LudusError

onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'ludus[onnx]'")
pytest.importorskip("onnx", reason="needs onnx: pip install 'ludus[onnx]'")
from ludus.agents.export.jaxpr import to_onnx  # noqa: E402

DICE = np.random.default_rng(0)
FLOATS = DICE.normal(size=(3, 4, 6)).astype(np.float32)
WHOLE = DICE.integers(-(2**31), 2**31, (3, 4, 6)).astype(np.int32)
FEW = DICE.integers(0, 4, (3, 4)).astype(np.int32)
MARKS = DICE.random((3, 4, 6)) < 0.5

OPERATIONS = {
    "elementwise": lambda x: [jnp.exp(x), jnp.log1p(jnp.abs(x)), jnp.expm1(x), jnp.sign(x), x**3, x**2, jnp.exp2(x),
                              jax.nn.gelu(x), jax.nn.softplus(x), jnp.isfinite(1 / jnp.round(x * 0)), x % 1.5],
    "reductions": lambda x: [x.sum(1), x.max((0, 2)), x.min(-1), jnp.argmax(x, 1), jnp.argmin(x, -1), x.prod(2),
                             jnp.cumsum(x, 1), (x > 0).any(1), (x > 0).all(2), jnp.var(x, 0)],
    "shapes": lambda x: [x[:, ::-1], x[:, 1:3, ::2], x.reshape(4, -1), x.transpose(2, 0, 1), jnp.stack([x, x], 1),
                         jnp.pad(x, ((0, 0), (1, 2), (0, 1))), jnp.tile(x, (1, 2, 1)), *jnp.split(x, 2, 2),
                         jnp.concatenate([x, x], 2), x[:, None] + x[:, :, None], jnp.zeros((3, 2)) + x[:, :2, 0]],
    "products": lambda x: [x @ x.swapaxes(1, 2), jnp.einsum("abc,abd->acd", x, x), jnp.einsum("abc,dbc->ad", x, x),
                           x @ np.ones((6, 2), np.float32), jnp.einsum("abc,c->ab", x, x[0, 0])],
    "writing": lambda x: [x.at[:, 1:3].add(x[:, :2]), x.at[:, :2, 3].set(0.0), x.at[:, 1].set(x[:, 0])],
    "scan": lambda x: [*jax.lax.scan(lambda c, y: (c + y, c * y), x[0], x), x[:, 0]],
    "remat": lambda x: [*jax.lax.scan(jax.checkpoint(lambda c, y: (c + y, c * y)), x[0], x[1:], reverse=True), x * 2],
    "attention": lambda x: [jax.nn.softmax(jnp.where(x > 9, x, -jnp.inf).at[..., 0].set(1.0)), jax.nn.relu(x)],
}  # fmt: skip
WHOLE_OPERATIONS = {
    "bits": lambda x: [x & 0x0F0F0F, x | 5, x ^ 3, ~x, x >> 3, jax.lax.population_count(x), x // 7, x % 7],
    "shift": lambda x: [jnp.int32(1) << (x & 15), x >> (x & 7)],
    "choice": lambda x: [jnp.where(x > 0, x, 0), jnp.where(x > 0, x > 5, x < -5), jnp.clip(x, -3, 3), x != 0],
}  # fmt: skip


def check(function, array):
    """The results of a function by ONNX, for any number of rows and for these."""

    def named(inputs):
        return {f"out_{at:02d}": jnp.asarray(part) for at, part in enumerate(function(inputs["x"]))}

    model = to_onnx(
        named, {"x": jax.ShapeDtypeStruct(array.shape, array.dtype)}, lambda graph, part: graph.initializer(part)
    )
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run([output.name for output in session.get_outputs()], {"x": array})
    for one, other in zip(found, named({"x": jnp.asarray(array)}).values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_floats(name):
    check(OPERATIONS[name], FLOATS)


@pytest.mark.parametrize("name", WHOLE_OPERATIONS)
def test_operations_on_whole_numbers(name):
    check(WHOLE_OPERATIONS[name], WHOLE)


def test_operations_on_booleans():
    check(lambda x: [x & ~x, x | True, x ^ x[:1], jnp.where(x, x, ~x), x.astype(jnp.float32), x.any(1)], MARKS)


def test_rows_by_number():
    table = DICE.normal(size=(4, 5)).astype(np.float32)
    check(lambda x: [jnp.asarray(table)[x], jnp.asarray(table).T[:, x], jnp.take_along_axis(x, x, axis=1),
                     jnp.take_along_axis(jnp.asarray(FLOATS), x[..., None], axis=1), x[:, jnp.array([0, 2])]],
          FEW)  # fmt: skip


def test_rows_by_number_beyond_the_table_are_clipped():
    model = to_onnx(lambda inputs: {"y": jnp.arange(4.0)[inputs["x"]]}, {"x": jax.ShapeDtypeStruct((2,), np.int32)},
                    lambda graph, part: graph.initializer(part))  # fmt: skip
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, {"x": np.array([1, 900], np.int32)})[0], [1.0, 3.0])


def test_operations_that_cannot_be_written():
    with pytest.raises(LudusError, match='uses "sort"'):
        check(lambda x: [jnp.sort(x)], FLOATS)
    with pytest.raises(LudusError, match="indices that depend on the observation"):
        check(lambda x: [jax.lax.dynamic_slice(x, (x[0, 0, 0].astype(int), 0, 0), (1, 1, 1))], FLOATS)


@pytest.mark.parametrize("name", WHOLE_OPERATIONS)
def test_simpler_operations_are_exactly_equal(name):
    simple = jax.jit(simplified(WHOLE_OPERATIONS[name]))
    for one, other in zip(simple(WHOLE), WHOLE_OPERATIONS[name](jnp.asarray(WHOLE)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["scan", "remat"])
def test_loops_are_unrolled(name):
    program = str(jax.make_jaxpr(simplified(OPERATIONS[name]))(FLOATS))
    assert "scan" not in program and "remat" not in program and "checkpoint" not in program
    found = jax.jit(simplified(OPERATIONS[name]))(FLOATS)
    for one, other in zip(found, OPERATIONS[name](jnp.asarray(FLOATS)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_products_of_whole_numbers_are_exactly_equal():
    function = lambda x: [x @ np.ones((6, 2), np.int32), x.at[:, 1:2].add(x[:, :1])]  # noqa: E731
    for one, other in zip(jax.jit(simplified(function))(WHOLE), function(jnp.asarray(WHOLE)), strict=True):
        np.testing.assert_array_equal(one, other)
