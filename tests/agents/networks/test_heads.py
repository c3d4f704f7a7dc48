"""Heads: masked actions, nearly uniform initial policies, and batch renormalisation by hand."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cards import made, numbers

from ludus.agents.neural.networks import heads as h

plain_and_jit = pytest.mark.parametrize("wrap", [lambda function: function, jax.jit], ids=["plain", "jit"])
seeds = st.integers(0, 2**32 - 1)
ACTORS = {
    "film": h.FiLMActor(8, 2),
    "film_classic": h.FiLMActor(8, 2, noam=False),
    "dot": h.Actor(8),
    "film_half": h.FiLMActor(8, 2, dtype=jnp.bfloat16),
    "dot_half": h.Actor(8, dtype=jnp.bfloat16),
}
every_actor = pytest.mark.parametrize("name", ACTORS)
LEGAL = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 1]], np.uint8)


@functools.cache
def compiled(layer):
    return jax.jit(layer.apply)


def table():
    return numbers(0, 3, 5), numbers(1, 3, 4, 8), LEGAL


@every_actor
def test_illegal_actions_have_the_lowest_logit(name):
    actor, inputs = ACTORS[name], table()
    logits = compiled(actor)(made(actor, *inputs), *inputs)
    assert logits.shape == (3, 4) and logits.dtype == jnp.float32
    assert (logits[LEGAL == 0] == np.finfo(np.float32).min).all()
    assert (np.abs(logits[LEGAL == 1]) < 100).all() and np.ptp(logits[0, LEGAL[0] == 1]) > 1e-3


@every_actor
def test_tokens_of_illegal_actions_have_no_influence(name):
    actor, (state, actions, legal) = ACTORS[name], table()
    params = made(actor, state, actions, legal)
    other = np.where(legal[..., None] == 1, actions, 50.0).astype(np.float32)
    np.testing.assert_array_equal(
        compiled(actor)(params, state, other, legal), compiled(actor)(params, state, actions, legal)
    )


@every_actor
def test_logits_depend_on_the_state(name):
    actor, (state, actions, legal) = ACTORS[name], table()
    params = made(actor, state, actions, legal)
    output, other = (compiled(actor)(params, seen, actions, legal) for seen in (state, state + 1))
    assert (np.abs(output - other)[LEGAL == 1] > 1e-3).all()


@every_actor
@given(seed=seeds)
@settings(max_examples=10)
def test_actors_are_permutation_equivariant(name, seed):
    actor, (state, actions, legal) = ACTORS[name], table()
    params, order = made(actor, state, actions, legal), np.random.default_rng(seed).permutation(4)
    moved = compiled(actor)(params, state, actions[:, order], legal[:, order])
    exact = "half" not in name
    np.testing.assert_allclose(
        moved, compiled(actor)(params, state, actions, legal)[:, order], atol=1e-5 if exact else 0.1, rtol=1e-5
    )


@pytest.mark.parametrize("name", ["film", "dot"])
def test_initial_policy_is_nearly_uniform(name):
    actor, inputs = ACTORS[name], table()
    logits = compiled(actor)(jax.jit(actor.init)(jax.random.key(0), *inputs), *inputs)
    assert np.abs(jax.nn.softmax(logits) - LEGAL / LEGAL.sum(axis=1, keepdims=True)).max() < 0.05
    assert np.ptp(logits[0, LEGAL[0] == 1]) > 0


@pytest.mark.parametrize("name", ["film", "film_classic", "dot"])
def test_gradients_are_finite_even_without_legal_actions(name):
    actor, (state, actions, legal) = ACTORS[name], table()
    params, legal = made(actor, state, actions, legal), np.where(np.arange(3)[:, None] == 1, 0, legal)

    def loss(params, state, actions):
        log_probs = jax.nn.log_softmax(actor.apply(params, state, actions, legal))
        return jnp.sum(jnp.where(legal == 1, log_probs, 0.0) ** 2)

    slopes = jax.jit(jax.grad(loss, (0, 1, 2)))(params, state, actions)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes))
    assert slopes[1][0].any() and not slopes[1][1].any() and not slopes[2][1].any()


@plain_and_jit
def test_dot_product_actor_by_hand(wrap):
    params = {"params": {"Dense_0": {"kernel": jnp.eye(4), "bias": jnp.array([0.0, 0.0, 0.0, 1.0])}}}
    state, actions = jnp.array([[1.0, 2.0, 0.0, 0.0]]), jnp.array([[[3.0, 4.0, 0, 1], [0, 1, 9, 2], [1, 1, 1, 1]]])
    logits = wrap(h.Actor(4).apply)(params, state, actions, jnp.array([[True, True, False]]))
    np.testing.assert_allclose(logits[0, :2], [(3 + 8 + 1) / 2, (2 + 2) / 2], rtol=1e-6)


@plain_and_jit
def test_gaussian_by_hand(wrap):
    actor = h.GaussianActor(3)
    params = {"Dense_0": {"kernel": jnp.array([[1.0, 2.0, 3.0]]), "bias": jnp.array([0.0, 0.0, 1.0])}}
    params["log_deviation"] = jnp.array([-0.5, -100.0, 100.0])
    mean, log_deviation = wrap(actor.apply)({"params": params}, jnp.array([[2.0], [0.0]]))
    np.testing.assert_allclose(mean, [[2, 4, 7], [0, 0, 1]])
    np.testing.assert_allclose(log_deviation, [[-0.5, *h.LOG_DEVIATIONS]] * 2)


def test_initial_gaussian_has_mean_0_and_deviation_1():
    actor, state = h.GaussianActor(2, dtype=jnp.bfloat16), numbers(0, 50, 8)
    mean, log_deviation = compiled(actor)(jax.jit(actor.init)(jax.random.key(0), state), state)
    assert mean.dtype == log_deviation.dtype == jnp.float32
    assert 0 < np.abs(mean).max() < 0.1 and log_deviation.shape == (50, 2) and not log_deviation.any()


@plain_and_jit
def test_critic_by_hand(wrap):
    critic = h.Critic(channels=(2,), outputs=2)
    final = {"kernel": jnp.array([[1.0, 3.0], [2.0, 0.0]]), "bias": jnp.array([0.5, 0.0])}
    params = {"MLP_0": {"Dense_0": {"kernel": jnp.array([[1.0, -1.0]])}}, "Dense_0": final}
    # 4 becomes (4, -4), leaks to (4, -0.4)
    np.testing.assert_allclose(
        wrap(critic.apply)({"params": params}, jnp.array([[4.0]])), [[4 - 0.8 + 0.5, 12]], rtol=1e-6
    )


def test_layers_of_a_critic():
    shapes = jax.tree.map(
        lambda leaf: leaf.shape, jax.eval_shape(h.Critic().init, jax.random.key(0), numbers(0, 2, 20))
    )
    assert {leaf["kernel"] for leaf in shapes["params"]["MLP_0"].values()} == {(20, 128), (128, 128)}
    assert len(shapes["params"]["MLP_0"]) == 3 and shapes["params"]["Dense_0"] == {"kernel": (128, 1), "bias": (1,)}
    final = jax.jit(h.Critic((16,), 4).init)(jax.random.key(0), numbers(0, 2, 20))["params"]["Dense_0"]["kernel"]
    np.testing.assert_allclose(final.T @ final, np.eye(4), atol=1e-5)


def test_mlp_by_hand():
    mlp = h.MLP((2, 1), activation=jnp.tanh, bias=True)
    layers = {"Dense_0": {"kernel": jnp.array([[1.0, 2.0]]), "bias": jnp.array([0.0, 1.0])}}
    layers["Dense_1"] = {"kernel": jnp.array([[3.0], [4.0]]), "bias": jnp.array([5.0])}
    expected = math.tanh(3 * math.tanh(0.1) + 4 * math.tanh(1.2) + 5)
    np.testing.assert_allclose(mlp.apply({"params": layers}, jnp.array([[0.1]])), [[expected]], rtol=1e-6)
    assert not any("bias" in layer for layer in made(h.MLP((3, 3)), numbers(0, 1, 2))["params"].values())


def renorm(**choices):
    """A renormalisation of one channel without ε, with γ = 2 and β = 1."""
    norm = h.BatchRenorm(**{"momentum": 0.9, "warm_up": 100, "epsilon": 0.0} | choices)
    return norm, {"scale": jnp.array([2.0]), "bias": jnp.array([1.0])}


def statistics(mean, variance, steps):
    return {"mean": jnp.array([mean]), "variance": jnp.array([variance]), "steps": jnp.array(steps, jnp.int32)}


BATCH = jnp.array([[2.0], [4.0], [6.0], [8.0]])  # mean 5, variance 5


def trained(norm, params, stats, x=BATCH):
    y, changed = norm.apply({"params": params, "batch_stats": stats}, x, True, mutable=["batch_stats"])
    return y[:, 0], changed["batch_stats"]


@plain_and_jit
def test_renormalisation_starts_as_batch_normalisation(wrap):
    norm, params = renorm()
    y, stats = wrap(functools.partial(trained, norm))(params, statistics(0.0, 1.0, 0))
    np.testing.assert_allclose(y, 2 * (np.array([-3, -1, 1, 3]) / math.sqrt(5)) + 1, rtol=1e-5)
    np.testing.assert_allclose(stats["mean"], [0.1 * 5], rtol=1e-6)
    np.testing.assert_allclose(stats["variance"], [0.9 + 0.1 * 5], rtol=1e-6)
    assert stats["steps"] == 1


def test_corrections_grow_with_the_steps():
    norm, params = renorm()
    # Half warm: r within [1/2, 2], d within ±2.5. r = √5 / 1 is clipped to 2, d = (5 - 1) / 1 to 2.5.
    y, _ = trained(norm, params, statistics(1.0, 1.0, 50))
    np.testing.assert_allclose(y, 2 * (np.array([-3, -1, 1, 3]) / math.sqrt(5) * 2 + 2.5) + 1, rtol=1e-5)
    # After warm-up: r within [1/3, 3], d within ±5. Nothing is clipped, so it equals the running normalisation.
    for steps in (100, 5000):
        y, _ = trained(norm, params, statistics(1.0, 1.0, steps))
        np.testing.assert_allclose(y, 2 * (np.array([2, 4, 6, 8]) - 1) + 1, rtol=1e-5)
    # The other bounds: r = √5/10 is clipped to 1/3, d = (5 - 100)/10 to -5.
    y, _ = trained(norm, params, statistics(100.0, 100.0, 100))
    np.testing.assert_allclose(y, 2 * (np.array([-3, -1, 1, 3]) / math.sqrt(5) / 3 - 5) + 1, rtol=1e-5)


def test_corrections_without_warm_up():
    norm, params = renorm(warm_up=0)
    y, _ = trained(norm, params, statistics(1.0, 1.0, 0))
    np.testing.assert_allclose(y, 2 * (np.array([2, 4, 6, 8]) - 1) + 1, rtol=1e-5)


@plain_and_jit
def test_running_statistics_are_used_when_not_training(wrap):
    norm, params = renorm(epsilon=1.0)
    variables = {"params": params, "batch_stats": statistics(3.0, 8.0, 7)}
    y = wrap(norm.apply, **({"static_argnums": 2} if wrap is jax.jit else {}))(variables, BATCH, False)
    np.testing.assert_allclose(y[:, 0], 2 * (np.array([2, 4, 6, 8]) - 3) / 3 + 1, rtol=1e-6)


def test_corrections_have_no_gradient():
    norm, params = renorm()

    def total(x, weights, steps):
        return jnp.sum(
            norm.apply(
                {"params": params, "batch_stats": statistics(1.0, 1.0, steps)}, x, True, mutable=["batch_stats"]
            )[0]
            * weights
        )

    weights = numbers(0, 4, 1)
    slope = functools.partial(jax.jit(jax.grad(total), static_argnums=2), BATCH, weights)
    # With r and d constant, the slope is r times that of batch normalisation, which is the slope at step 0.
    np.testing.assert_allclose(slope(100), math.sqrt(5) * slope(0), rtol=1e-4)


def test_bfloat16_statistics_are_computed_in_float32():
    norm, params = renorm(dtype=jnp.bfloat16)
    x = (1000.0 + 8 * jnp.arange(2048, dtype=jnp.float32)[:, None] % 64).astype(jnp.bfloat16)
    _, stats = trained(norm, params, statistics(0.0, 1.0, 0), x)
    exact = np.asarray(x, np.float64)
    np.testing.assert_allclose(stats["mean"], [0.1 * exact.mean()], rtol=1e-5)
    np.testing.assert_allclose(stats["variance"], [0.9 + 0.1 * exact.var()], rtol=1e-4)


def test_devices_share_their_statistics():
    norm, params = renorm(axis_name="rows")
    alone, _ = renorm()
    stats = statistics(1.0, 1.0, 50)

    def each(x):
        return norm.apply({"params": params, "batch_stats": stats}, x, True, mutable=["batch_stats"])

    y, changed = jax.vmap(each, axis_name="rows")(BATCH.reshape(2, 2, 1))
    together, expected = trained(alone, params, stats)
    np.testing.assert_allclose(y.reshape(4), together, rtol=1e-6)
    for name, value in expected.items():
        np.testing.assert_allclose(changed["batch_stats"][name], np.stack([value] * 2), rtol=1e-6)


def test_initialisation_does_not_update_statistics():
    critic, x = h.CrossCritic((4,), 2, axis_name="rows"), 5 + numbers(0, 6, 3)
    stats = critic.init(jax.random.key(0), x, True)["batch_stats"]
    assert len(stats) == 2
    for norm in stats.values():
        assert not norm["mean"].any() and (norm["variance"] == 1).all() and norm["steps"] == 0


def test_cross_critic_trains_and_then_evaluates():
    critic, x = h.CrossCritic((16, 16), 2, momentum=0.5, warm_up=4), 5 + 3 * numbers(0, 64, 3)
    variables = jax.jit(critic.init, static_argnums=2)(jax.random.key(0), x, False)

    @jax.jit
    def learn(variables):
        def loss(params):
            y, changed = critic.apply(variables | {"params": params}, x, True, mutable=["batch_stats"])
            return jnp.mean((y - x[:, :2]) ** 2), changed

        (error, changed), slopes = jax.value_and_grad(loss, has_aux=True)(variables["params"])
        moved = jax.tree.map(lambda leaf, slope: leaf - 0.02 * slope, variables["params"], slopes)
        return {"params": moved} | changed, error

    errors = []
    for _ in range(60):
        variables, error = learn(variables)
        errors.append(error)
    assert errors[-1] < 0.2 * errors[0]
    serve = jax.jit(critic.apply, static_argnums=2)
    served = serve(variables, x, False)
    assert served.shape == (64, 2) and served.dtype == jnp.float32
    assert np.mean((served - x[:, :2]) ** 2) < 0.3 * errors[0]
    np.testing.assert_allclose(serve(variables, x[:5], False), served[:5], atol=1e-4)  # independent of the batch


def test_layers_of_a_cross_critic():
    shapes = jax.eval_shape(functools.partial(h.CrossCritic().init, train=False), jax.random.key(0), numbers(0, 2, 20))
    kernels = [shapes["params"][f"Dense_{i}"]["kernel"].shape for i in range(4)]
    assert kernels == [(20, 128), (128, 128), (128, 128), (128, 1)]
    assert [shapes["batch_stats"][f"BatchRenorm_{i}"]["mean"].shape for i in range(4)] == [(20,)] + [(128,)] * 3


@pytest.mark.parametrize("kind", [h.Critic, h.CrossCritic])
def test_bfloat16_values_are_close(kind):
    x, arguments = numbers(0, 32, 20), () if kind is h.Critic else (False,)
    whole, half = kind((32, 32), 2), kind((32, 32), 2, dtype=jnp.bfloat16)
    variables = whole.init(jax.random.key(0), x, *arguments)
    exact, output = whole.apply(variables, x, *arguments), half.apply(variables, x, *arguments)
    assert output.dtype == jnp.float32
    assert 0 < np.abs(output - exact).max() < 0.03 * np.abs(exact).max()
