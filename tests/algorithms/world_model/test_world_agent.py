"""The agent: network sizes, normalised latents, decisions within bounds, imagined rollouts, invalid settings."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from small_worlds import NETWORK, PLANNER, SETTINGS, agent_of, functions_of, random_params

from ludus.agents.neural import world_model
from ludus.agents.neural.networks.world_model import simnorm
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.agents.neural.world_model import initial_params
from ludus.algorithms.world_model import WorldModelSettings
from ludus.bridges import open_pool
from ludus.types import LudusError

GAMES = ("car", "gymnasium:Pendulum-v1")
ROWS = 4


def step_of(game, moves=3):
    pool = open_pool(game, ROWS, 5)
    for _ in range(moves):
        pool.advance(np.tile(np.float64(pool.spec.actions.high), (ROWS, 1)))
    return pool.step


def dense(params, name):
    layers = [layer["kernel"].shape for layer in params[name].values() if "kernel" in layer]
    return [layers[0][-2], *(shape[-1] for shape in layers)]


def test_the_default_networks_have_the_specified_sizes():
    agent = WorldModelSettings().new_agent(open_pool("car", 1, 0))
    shapes = jax.eval_shape(lambda: initial_params(agent, jnp.uint32(0)))
    assert dense(shapes["model"], "encoder") == [6, 64, 32]
    assert dense(shapes["model"], "dynamics") == [34, 64, 32]
    assert dense(shapes["model"], "paid") == [32, 32, 1]
    assert dense(shapes["model"], "decoder") == [32, 64, 6]
    assert dense(shapes["actor"], "layers") == [32, 64, 32, 2]


def test_disagreement_of_the_critics_adds_to_values_in_training_only():
    """Two critics with the values 1 and 5 everywhere have mean 3 and standard deviation 2."""
    agent = replace(agent_of(), planner=replace(PLANNER, optimism=1.5))
    params = random_params(agent)
    critics = jax.tree.map(jnp.zeros_like, params["critics"])
    last = max(name for name in critics["VmapLayers_0"] if name.startswith("Dense"))
    critics["VmapLayers_0"][last]["bias"] = jnp.array([[1.0], [5.0]])
    params |= {"critics": critics}
    params |= {"ema": {name: params[name] for name in ("model", "actor", "critics")}}
    latent, actions = jnp.ones((1, 8)), jnp.zeros((1, 0, agent.action_size))

    def value(evaluating):
        functions = world_model.WorldModelFunctions(replace(agent, evaluating=evaluating), params)
        return float(functions.estimate_value(latent, actions)[0])

    assert value(evaluating=True) == pytest.approx(3.0) and value(evaluating=False) == pytest.approx(6.0)


@settings(max_examples=50, deadline=None)
@given(arrays.arrays(np.float32, (3, 8), elements=st.floats(-50, 50, width=32)))
def test_simnorm_gives_every_group_mean_one(numbers):
    latent = np.asarray(simnorm(jnp.asarray(numbers), 4))
    assert (latent >= 0).all() and latent.reshape(3, 2, 4).mean(axis=-1) == pytest.approx(1.0, abs=1e-5)


def test_predicted_latents_stay_normalised():
    functions = functions_of(agent_of())
    latent = functions.encode(jnp.ones((2, 6)))
    for _ in range(20):
        latent = functions.next(latent, functions.act(latent))
    assert np.asarray(latent).reshape(2, 2, 4).mean(axis=-1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("way", ["learning", "actor", "planner"])
def test_decisions_are_within_bounds_and_deterministic(game, way):
    agent = replace(agent_of(game), evaluating=way != "learning", plan_at_evaluation=way == "planner")
    params = random_params(agent) | {"exploration_noise": jnp.float32(0.7), "planning_fraction": jnp.float32(0.5)}
    memory, step = agent.memory(ROWS), step_of(game)
    for key in range(6):
        decision, after = agent.act(params, memory, step, key)
        again, _ = agent.act(params, memory, step, key)
        assert decision.action.dtype == np.float64 and decision.action.shape == (ROWS, agent.action_size)
        assert (decision.action >= agent.spec.actions.low).all() and (decision.action <= agent.spec.actions.high).all()
        assert np.array_equal(decision.action, again.action) and np.array_equal(decision.value, again.value)
        assert np.asarray(decision.value).shape == (ROWS, 1) and np.asarray(decision.log_prob).shape == (ROWS,)
        assert jax.tree.map(np.shape, after) == jax.tree.map(np.shape, memory)
        memory = after


def test_noise_and_planning_fraction_are_read_from_the_params():
    """Without noise and planning, training and evaluation choose the same actions; with either they differ."""
    agent, step = agent_of(), step_of("car")
    params, memory = random_params(agent), agent.memory(ROWS)
    params["ema"] = {name: params[name] for name in params["ema"]}
    evaluated, _ = SETTINGS.evaluation_agent(agent).act(params, (), step, 3)
    plain, _ = agent.act(params, memory, step, 3)
    assert np.array_equal(plain.action, evaluated.action)
    for name in ("exploration_noise", "planning_fraction"):
        other, _ = agent.act(params | {name: jnp.float32(1.0)}, memory, step, 3)
        assert not np.allclose(other.action, evaluated.action)


def test_evaluation_uses_the_ema_parameters():
    agent, step = SETTINGS.evaluation_agent(agent_of()), step_of("car")
    one, other = random_params(agent, 0), random_params(agent, 1)
    first, _ = agent.act(one, (), step, 0)
    same, _ = agent.act(other | {"ema": one["ema"]}, (), step, 0)
    changed, _ = agent.act(one | {"ema": other["ema"]}, (), step, 0)
    assert np.array_equal(first.action, same.action) and not np.allclose(first.action, changed.action)


def test_planning_starts_from_the_previous_plan_except_in_a_new_game():
    agent = replace(agent_of(), evaluating=True, plan_at_evaluation=True)
    params, step = random_params(agent), step_of("car")
    before = np.random.default_rng(0).uniform(-1, 1, agent.memory(ROWS)["plan"].shape).astype(np.float32)
    step_with_new_games = step._replace(first=np.array([True, False, True, False]))
    with_plan, _ = agent.act(params, {"plan": before}, step_with_new_games, 3)
    without, _ = agent.act(params, agent.memory(ROWS), step_with_new_games, 3)
    same = (with_plan.action == without.action).all(axis=1)
    assert same.tolist() == [True, False, True, False]


def test_noise_is_correlated_within_a_game_only():
    """With correlation 0.9, noise is 0.9 of the previous noise plus an innovation that keeps its variance at 1."""
    agent, step = replace(agent_of(), noise_correlation=0.9), step_of("car")
    params, memory = random_params(agent) | {"exploration_noise": jnp.float32(0.1)}, agent.memory(ROWS)
    before = memory | {"noise": np.full((ROWS, 2), 5.0, np.float32)}
    step_with_new_games = step._replace(first=np.array([True, False, True, False]))
    _, fresh = agent.act(params, memory, step_with_new_games, 3)
    _, lasting = agent.act(params, before, step_with_new_games, 3)
    gained = np.asarray(lasting["noise"]) - np.asarray(fresh["noise"])
    assert gained[[0, 2]] == pytest.approx(0.0, abs=1e-6) and gained[[1, 3]] == pytest.approx(4.5, abs=1e-5)
    new = np.concatenate([np.asarray(agent.act(params, memory, step, key)[1]["noise"]) for key in range(200)])
    assert new.std() == pytest.approx(np.sqrt(1 - 0.81), rel=0.1)


def test_plans_have_higher_values_than_the_actions_of_the_actor():
    agent = replace(
        agent_of(),
        evaluating=True,
        plan_at_evaluation=True,
        planner=PlannerArgs(horizon=3, num_samples=200, iterations=6),
    )
    functions, step = functions_of(agent), step_of("car")
    latent = functions.encode(jnp.asarray(agent.flatten(step.observation)))
    _, left = agent.act(functions.params, agent.memory(ROWS), step, 1)
    imagined = agent.imagine(functions.params, step, 3)
    planned, _ = agent.act(functions.params, agent.memory(ROWS), step, 1)
    first = jnp.asarray(agent.scale_action(planned.action))[:, None]
    plan = jnp.concatenate([first, jnp.asarray(left["plan"])[:, :2]], axis=1)
    value = functions.estimate_value(latent, jnp.moveaxis(jnp.asarray(agent.scale_action(imagined.actions)), 0, 1))
    assert (np.asarray(functions.estimate_value(latent, plan)) > np.asarray(value)).all()


@pytest.mark.parametrize("game", GAMES)
def test_imagined_rollouts_are_model_steps_in_the_units_of_the_game(game):
    agent, step = agent_of(game), step_of(game)
    functions = functions_of(agent)
    imagined = agent.imagine(functions.params, step, 5, 0)
    assert imagined.observations.shape == (6, ROWS, agent.observation_size) and imagined.actions.shape == (
        5,
        ROWS,
        agent.action_size,
    )
    assert imagined.rewards.shape == (5, ROWS) and imagined.values.shape == (6, ROWS)
    latent = functions.encode(jnp.asarray(agent.flatten(step.observation)))
    middle, half = agent.observation_scale
    for time in range(5):
        assert np.allclose(imagined.observations[time], functions.decode(latent) * half + middle, atol=1e-4)
        action = functions.act(latent)
        assert np.allclose(imagined.actions[time], agent.unscale_action(action), atol=1e-5)
        assert np.allclose(imagined.values[time], functions.q_values(latent, action).mean(axis=0), atol=1e-4)
        latent = functions.next(latent, action)
        assert np.allclose(imagined.rewards[time], functions.reward(latent), atol=1e-4)


def test_imagined_rewards_and_values_are_unscaled():
    agent, step = agent_of(), step_of("car")
    scaled = replace(agent, reward_scale=0.1)
    params = random_params(agent)
    one, other = agent.imagine(params, step, 2), scaled.imagine(params, step, 2)
    assert np.allclose(other.rewards, one.rewards * 10, rtol=1e-4)
    assert np.allclose(other.values, one.values * 10, rtol=1e-4)


def test_agent_of_reads_what_describe_wrote():
    pool = open_pool("car", 1, 0)
    described = SETTINGS.describe()
    assert world_model.agent_of(pool, described) == replace(agent_of(), noise_correlation=0.0)
    with pytest.raises(LudusError, match="does not describe a world_model agent of this version"):
        world_model.agent_of(pool, described | {"args": {"widht": 3}})


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ("goofspiel", "goofspiel has 2 seats; world_model supports games with one seat: use ppo"),
        ("cartpole", "cartpole has discrete actions; world_model supports continuous actions only"),
    ],
)
def test_unsupported_games_raise_an_error(game, message):
    with pytest.raises(LudusError, match=message):
        SETTINGS.new_agent(open_pool(game, 1, 0))


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (WorldModelArgs, {"latent_dim": 30}, "30 is not a multiple of 8"),
        (WorldModelArgs, {"encoder_dim": 0}, "encoder_dim of a world model must be 1 or more, not 0"),
        (WorldModelArgs, {"actor_dims": ()}, "actor_dims of a world model must be 1 or more"),
        (WorldModelArgs, {"critic_dims": (8, 0)}, "every size in critic_dims of a world model must be 1 or more"),
        (WorldModelSettings, {"horizon": 17}, "horizon must be at most rollout_length; 17 is more than 16"),
        (WorldModelSettings, {"utd_ratio": 0.0}, "utd_ratio must be above 0"),
        (WorldModelSettings, {"gamma": 1.5}, "gamma must be between 0 and 1"),
        (WorldModelSettings, {"batch_size": 0}, "batch_size must be 1 or more"),
        (WorldModelSettings, {"value_coef": -1.0}, "value_coef must be 0 or more"),
        (WorldModelSettings, {"planning_fraction": "often"}, "often"),
    ],
)
def test_invalid_settings_raise_an_error(kind, wrong, message):
    with pytest.raises(LudusError, match=message):
        kind(**wrong)


def test_the_agent_has_the_sizes_of_its_settings():
    assert agent_of().args == NETWORK and agent_of().planner == PLANNER
