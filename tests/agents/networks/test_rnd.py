"""Random network distillation: the target is fixed, the predictor learns, and errors fall on seen observations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_cards import SMALL_CARDS, made, some_cards

from ludus import games
from ludus.agents.neural.networks.layout import layout_of
from ludus.agents.neural.networks.rnd import RNDModel
from ludus.pool import Pool
from ludus.types import LudusError

KEY = jax.random.key(0)


def model_of(name, **more):
    game = games.load(name)
    return RNDModel(layout_of(game.rules.OBSERVATION, game.spec), channels=16, outputs=8, **more)


def squared_error(model, variables, x):
    """[B] the squared error of the prediction."""
    prediction, target = model.apply(variables, x)
    return jnp.square(prediction - target).mean(axis=-1)


def seen_in(name, seed, rows=8):
    pool = Pool(name, rows, seed, threads=1)
    pool.play_randomly(3, seed)
    return {field: array[:rows] for field, array in pool.step.observation.items()}


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_supported(name):
    model, x = model_of(name), seen_in(name, 1)
    prediction, target = jax.jit(model.apply)(made(model, x), x)
    assert prediction.shape == target.shape == (8, 8)
    assert np.isfinite(prediction).all() and np.isfinite(target).all()
    assert target.std(axis=0).max() > 1e-3  # different observations have different targets


def test_only_the_predictor_learns():
    model, x = model_of("tictactoe"), seen_in("tictactoe", 1)
    variables = made(model, x)
    gradients = jax.jit(jax.grad(lambda variables: squared_error(model, variables, x).sum()))(variables)["params"]
    for name, part in gradients.items():
        moved = [bool(np.any(leaf)) for leaf in jax.tree.leaves(part)]
        assert all(moved) if name.startswith("predictor") else not any(moved), name


def test_error_falls_on_seen_observations():
    model, x = model_of("cartpole"), {"motion": np.zeros((8, 4), np.float32)}
    new = {"motion": np.full((8, 4), 3.0, np.float32)}
    variables = jax.jit(model.init)(KEY, x)
    slope = jax.jit(jax.grad(lambda variables: squared_error(model, variables, x).mean()))
    apply = jax.jit(model.apply)
    (prediction, target), (_, other) = apply(variables, x), apply(variables, new)
    assert np.abs(target - other).max() > 1e-3
    before = np.square(prediction - target).mean()
    for _ in range(60):
        variables = jax.tree.map(lambda leaf, change: leaf - 0.03 * change, variables, slope(variables))
    after, unseen = (np.square(np.subtract(*apply(variables, seen))).mean() for seen in (x, new))
    assert after < before / 10 and after < unseen / 10


def test_table_of_ids_is_fixed():
    model = RNDModel(SMALL_CARDS, channels=16, outputs=4, embedding_shape=(999, 8))
    x = some_cards(2)
    variables = made(model, x)
    gradients = jax.jit(jax.grad(lambda variables: squared_error(model, variables, x).sum()))(variables)["params"]
    assert not np.any(gradients["predictor_encoder"]["ids"])
    assert np.any(gradients["predictor_encoder"]["entities"]["cards"]["id"]["Dense_0"]["kernel"])


def test_wrong_shapes_raise():
    with pytest.raises(LudusError, match="board has the shape"):
        model_of("tictactoe").init(KEY, {"board": np.zeros((2, 4), np.int8)})
