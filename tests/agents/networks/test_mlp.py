"""The plain network, on every game."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus import games
from ludus.agents.neural.networks import memory_usage, mlp, new_variables, total_params
from ludus.agents.neural.networks.heads import ILLEGAL
from ludus.agents.neural.networks.layout import layout_of
from ludus.agents.neural.networks.mlp import MLPAgent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.bench.inference import DUEL_SHAPED, random_duel
from ludus.dsl import f32, i16, record, within
from ludus.pool import Pool
from ludus.types import Continuous, Discrete, LudusError, Spec

KEY = jax.random.key(0)
ROWS = 6


def network_of(name, args=None, **more):
    game = games.load(name)
    return MLPAgent(layout_of(game.rules.OBSERVATION, game.spec), args or MLPArgs(), 2, game.spec.actions, **more)


def played_observation(name):
    """Observations after some random play, and legal actions; None if actions are continuous."""
    pool = Pool(name, ROWS, seed=1, threads=1)
    pool.play_randomly(3)
    views = slice(0, ROWS)
    legal = None if isinstance(pool.spec.actions, Continuous) else pool.step.mask[views]
    return {field: array[views] for field, array in pool.step.observation.items()}, legal


def graded(network):
    """Outputs and gradients of a weighted sum of them, compiled, and a list with one element per compilation."""
    traces = []

    def loss(variables, x, legal):
        traces.append(1)
        _, policy, value, valid = network.apply(variables, x, (), legal=legal)
        policies = jax.tree.leaves(policy)
        outputs = [jnp.where(part > ILLEGAL, part, 0.0) for part in (*policies, value)]
        total = sum((jnp.cos(jnp.arange(part.size).reshape(part.shape)) * part).sum() for part in outputs)
        return total, (policy, value, valid)

    return jax.jit(jax.value_and_grad(loss, has_aux=True)), traces


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_supported(name):
    network = network_of(name)
    x, legal = played_observation(name)
    variables = new_variables(network, KEY)
    decide, traces = graded(network)
    (_, (policy, value, valid)), gradients = decide(variables, x, legal)
    assert value.shape == (ROWS, 2) and np.isfinite(value).all() and np.all(valid)
    if legal is None:
        mean, log_deviation = policy
        assert mean.shape == log_deviation.shape == (ROWS, len(network.actions.low))
        assert np.isfinite(mean).all() and (log_deviation == 0).all()
    else:
        assert policy.shape == legal.shape and np.isfinite(policy).all()
        np.testing.assert_array_equal(policy == ILLEGAL, ~legal)
    dead = [path for path, gradient in jax.tree_util.tree_leaves_with_path(gradients) if not np.any(gradient)]
    assert not dead
    changed = {field: np.concatenate([array[:1], array[:1], array[2:]]) for field, array in x.items()}
    (_, (_, other, _)), _ = decide(variables, changed, legal)
    np.testing.assert_array_equal(np.delete(other, 1, axis=0), np.delete(value, 1, axis=0))
    assert len(traces) == 1


def test_cartpole_network_has_two_orthogonal_towers():
    network = MLPAgent(network_of("cartpole").layout, MLPArgs(), 1, Discrete(2))
    tower = 4 * 64 + 64 + 64 * 64 + 64
    assert total_params(network) == 2 * tower + 64 * 2 + 2 + 64 + 1 == 9155
    assert memory_usage(network, rows=100) == pytest.approx(9155 * 4 / 1e6)
    assert network.init_rnn_state(5) == ()
    learned = new_variables(network, KEY)["params"]
    for kernel, gain in ((learned["actor_1"]["kernel"], np.sqrt(2)), (learned["critic_1"]["kernel"], np.sqrt(2))):
        np.testing.assert_allclose(kernel.T @ kernel, gain**2 * np.eye(64), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(learned["policy"]["kernel"], axis=0), 0.01, rtol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(learned["value"]["kernel"]), 1.0, rtol=1e-4)


def test_value_by_hand():
    network = network_of("cartpole", MLPArgs(width=8, depth=2, activation="relu"))
    x, _ = played_observation("cartpole")
    learned = new_variables(network, KEY)["params"]
    field = network.layout.globals[0]
    hidden = np.where(
        np.isfinite(field.high), x["motion"] / np.where(np.isfinite(field.high), field.high, 1), x["motion"]
    )
    for layer in (learned["critic_0"]["dense"], learned["critic_1"]):
        hidden = np.maximum(hidden @ layer["kernel"] + layer["bias"], 0)
    expected = hidden @ learned["value"]["kernel"] + learned["value"]["bias"]
    np.testing.assert_allclose(network.apply({"params": learned}, x)[2], expected, atol=1e-5)


def test_shared_layers_are_one_tower():
    both, one = network_of("cartpole"), network_of("cartpole", MLPArgs(shared=True))
    assert total_params(both) - total_params(one) == 4 * 64 + 64 + 64 * 64 + 64


def test_lookup_equals_multiplication_of_one_hot_columns(monkeypatch):
    monkeypatch.setattr(mlp, "MOST_COLUMNS", 10)
    layer = mlp.InputLayer(network_of("tictactoe").layout, 5)
    x, _ = played_observation("tictactoe")
    variables = layer.init(KEY, x)
    table = np.asarray(variables["params"]["board_table"]).reshape(9, 3, 5)
    expected = table[np.arange(9), x["board"]].sum(axis=1) + variables["params"]["dense"]["bias"]
    np.testing.assert_allclose(layer.apply(variables, x), expected, atol=1e-5)


def test_bfloat16_is_close_to_float32():
    exact, rough = network_of("connect4"), network_of("connect4", dtype=jnp.bfloat16)
    x, legal = played_observation("connect4")
    variables = new_variables(exact, KEY)
    (_, policy, value, _), (_, near, other, _) = (one.apply(variables, x, legal=legal) for one in (exact, rough))
    assert near.dtype == other.dtype == jnp.float32
    np.testing.assert_allclose(other, value, atol=0.05)
    np.testing.assert_allclose(np.where(legal, near, 0), np.where(legal, policy, 0), atol=0.002)


def test_wide_or_missing_bounds_give_finite_outputs():
    spec = Spec(1, Discrete(2))
    layout = layout_of(record(big=np.int64, far=f32, some=within(0, 500, i16, 3)), spec)
    network = MLPAgent(layout, MLPArgs(), 1, spec.actions)
    x = {"big": np.array([2**31 - 1, -5]), "far": np.float32([1, -3]), "some": np.int16([[1, 2, 500], [0, 0, 0]])}
    _, logits, value, _ = network.apply(
        new_variables(network, KEY),
        {name: jnp.asarray(a, a.dtype if a.dtype != np.int64 else np.int32) for name, a in x.items()},
    )
    assert np.isfinite(logits).all() and np.isfinite(value).all()


def test_unsupported_observations_raise():
    network = network_of("tictactoe")
    variables = new_variables(network, KEY)
    with pytest.raises(LudusError, match="board has the shape"):
        network.apply(variables, {"board": np.zeros((2, 8), np.int8)})
    with pytest.raises(LudusError, match="has no board"):
        network.apply(variables, {})
    with pytest.raises(LudusError, match="use an RNNAgent"):
        MLPAgent(DUEL_SHAPED, MLPArgs(), 1, Discrete(24)).init(KEY, random_duel(1, 3))
