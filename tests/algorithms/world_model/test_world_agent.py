"""The agent: sizes of the document, latents that sum to one, decisions within bounds, dreams it can tell of."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from small_worlds import PLAN, SETTINGS, SIZES, agent_of, made_up, mind_of

from ludus.agents import world_model
from ludus.agents.networks.world_model import simplices
from ludus.agents.networks.world_model_args import PlanArgs, WorldModelArgs
from ludus.algorithms.world_model import WorldModelSettings, craft
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


def test_the_networks_have_the_sizes_of_the_document():
    agent = craft.agent_for(WorldModelSettings(), open_pool("car", 1, 0))
    shapes = craft.shapes(agent)
    assert dense(shapes["model"], "encoder") == [6, 64, 32]
    assert dense(shapes["model"], "dynamics") == [34, 64, 32]
    assert dense(shapes["model"], "paid") == [32, 32, 1]
    assert dense(shapes["model"], "decoder") == [32, 64, 6]
    assert dense(shapes["actor"], "layers") == [32, 64, 32, 2]


def test_what_critics_do_not_agree_on_is_hoped_for_while_it_learns():
    """Two critics that say 1 and 5 everywhere: 3, and two for every deviation of hope."""
    agent = replace(agent_of(), plan=replace(PLAN, hope=1.5))
    params = made_up(agent)
    critics = jax.tree.map(jnp.zeros_like, params["critics"])
    last = max(name for name in critics["VmapLayers_0"] if name.startswith("Dense"))
    critics["VmapLayers_0"][last]["bias"] = jnp.array([[1.0], [5.0]])
    params |= {"critics": critics}
    params |= {"calm": {name: params[name] for name in ("model", "actor", "critics")}}
    latent, actions = jnp.ones((1, 8)), jnp.zeros((1, 0, agent.actions))

    def worth(earnest):
        return float(world_model.Mind(replace(agent, earnest=earnest), params).follow(latent, actions)[0])

    assert worth(earnest=True) == pytest.approx(3.0) and worth(earnest=False) == pytest.approx(6.0)


@settings(max_examples=50, deadline=None)
@given(arrays.arrays(np.float32, (3, 8), elements=st.floats(-50, 50, width=32)))
def test_latents_are_shares_of_a_whole_in_every_group(numbers):
    shares = np.asarray(simplices(jnp.asarray(numbers), 4))
    assert (shares >= 0).all() and shares.reshape(3, 2, 4).mean(axis=-1) == pytest.approx(1.0, abs=1e-5)


def test_imagined_latents_stay_normalised():
    mind = mind_of(agent_of())
    latent = mind.encode(jnp.ones((2, 6)))
    for _ in range(20):
        latent = mind.next(latent, mind.act(latent))
    assert np.asarray(latent).reshape(2, 2, 4).mean(axis=-1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("way", ["learning", "actor", "planner"])
def test_decisions_are_legal_and_the_same_when_asked_again(game, way):
    agent = replace(agent_of(game), earnest=way != "learning", plans=way == "planner")
    params = made_up(agent) | {"exploration": jnp.float32(0.7), "planning": jnp.float32(0.5)}
    memory, step = agent.memory(ROWS), step_of(game)
    for key in range(6):
        decision, after = agent.act(params, memory, step, key)
        again, _ = agent.act(params, memory, step, key)
        assert decision.action.dtype == np.float64 and decision.action.shape == (ROWS, agent.actions)
        assert (decision.action >= agent.spec.actions.low).all() and (decision.action <= agent.spec.actions.high).all()
        assert np.array_equal(decision.action, again.action) and np.array_equal(decision.value, again.value)
        assert np.asarray(decision.value).shape == (ROWS, 1) and np.asarray(decision.log_prob).shape == (ROWS,)
        assert jax.tree.map(np.shape, after) == jax.tree.map(np.shape, memory)
        memory = after


def test_what_decays_is_in_the_params():
    """Without exploration and planning, what learns does what it does in earnest; with either, something else."""
    agent, step = agent_of(), step_of("car")
    params, memory = made_up(agent), agent.memory(ROWS)
    params["calm"] = {name: params[name] for name in params["calm"]}
    earnest, _ = craft.player(agent).act(params, (), step, 3)
    plain, _ = agent.act(params, memory, step, 3)
    assert np.array_equal(plain.action, earnest.action)
    for name in ("exploration", "planning"):
        other, _ = agent.act(params | {name: jnp.float32(1.0)}, memory, step, 3)
        assert not np.allclose(other.action, earnest.action)


def test_in_earnest_the_calm_parameters_play():
    agent, step = craft.player(agent_of()), step_of("car")
    one, other = made_up(agent, 0), made_up(agent, 1)
    first, _ = agent.act(one, (), step, 0)
    same, _ = agent.act(other | {"calm": one["calm"]}, (), step, 0)
    changed, _ = agent.act(one | {"calm": other["calm"]}, (), step, 0)
    assert np.array_equal(first.action, same.action) and not np.allclose(first.action, changed.action)


def test_a_plan_is_gone_on_with_and_given_up_where_a_game_opens():
    agent = replace(agent_of(), earnest=True, plans=True)
    params, step = made_up(agent), step_of("car")
    before = np.random.default_rng(0).uniform(-1, 1, agent.memory(ROWS)["plan"].shape).astype(np.float32)
    opened = step._replace(first=np.array([True, False, True, False]))
    with_plan, _ = agent.act(params, {"plan": before}, opened, 3)
    without, _ = agent.act(params, agent.memory(ROWS), opened, 3)
    same = (with_plan.action == without.action).all(axis=1)
    assert same.tolist() == [True, False, True, False]


def test_noise_lasts_and_ends_with_its_game():
    """drift 0.9: 0.9 of the noise before, and so much that is new that its deviation stays 1."""
    agent, step = replace(agent_of(), drift=0.9), step_of("car")
    params, memory = made_up(agent) | {"exploration": jnp.float32(0.1)}, agent.memory(ROWS)
    before = memory | {"noise": np.full((ROWS, 2), 5.0, np.float32)}
    opened = step._replace(first=np.array([True, False, True, False]))
    _, fresh = agent.act(params, memory, opened, 3)
    _, lasting = agent.act(params, before, opened, 3)
    gained = np.asarray(lasting["noise"]) - np.asarray(fresh["noise"])
    assert gained[[0, 2]] == pytest.approx(0.0, abs=1e-6) and gained[[1, 3]] == pytest.approx(4.5, abs=1e-5)
    new = np.concatenate([np.asarray(agent.act(params, memory, step, key)[1]["noise"]) for key in range(200)])
    assert new.std() == pytest.approx(np.sqrt(1 - 0.81), rel=0.1)


def test_a_planner_finds_what_the_model_says_is_worth_more():
    agent = replace(agent_of(), earnest=True, plans=True, plan=PlanArgs(horizon=3, samples=200, rounds=6))
    mind, step = mind_of(agent), step_of("car")
    latent = mind.encode(jnp.asarray(agent.flat(step.observation)))
    _, left = agent.act(mind.params, agent.memory(ROWS), step, 1)
    dream = agent.imagine(mind.params, step, 3)
    planned, _ = agent.act(mind.params, agent.memory(ROWS), step, 1)
    first = jnp.asarray(agent.from_game(planned.action))[:, None]
    plan = jnp.concatenate([first, jnp.asarray(left["plan"])[:, :2]], axis=1)
    followed = mind.follow(latent, jnp.moveaxis(jnp.asarray(agent.from_game(dream.actions)), 0, 1))
    assert (np.asarray(mind.follow(latent, plan)) > np.asarray(followed)).all()


@pytest.mark.parametrize("game", GAMES)
def test_dreams_are_the_models_steps_in_the_units_of_the_game(game):
    agent, step = agent_of(game), step_of(game)
    mind = mind_of(agent)
    dream = agent.imagine(mind.params, step, 5, 0)
    assert dream.observations.shape == (6, ROWS, agent.shown) and dream.actions.shape == (5, ROWS, agent.actions)
    assert dream.rewards.shape == (5, ROWS) and dream.values.shape == (6, ROWS)
    latent = mind.encode(jnp.asarray(agent.flat(step.observation)))
    middle, half = agent.ranges
    for time in range(5):
        assert np.allclose(dream.observations[time], mind.decode(latent) * half + middle, atol=1e-4)
        action = mind.act(latent)
        assert np.allclose(dream.actions[time], agent.to_game(action), atol=1e-5)
        assert np.allclose(dream.values[time], mind.worth(latent, action).mean(axis=0), atol=1e-4)
        latent = mind.next(latent, action)
        assert np.allclose(dream.rewards[time], mind.reward(latent), atol=1e-4)


def test_rewards_in_the_head_are_scaled_and_told_unscaled():
    agent, step = agent_of(), step_of("car")
    scaled = replace(agent, reward_scale=0.1)
    params = made_up(agent)
    one, other = agent.imagine(params, step, 2), scaled.imagine(params, step, 2)
    assert np.allclose(other.rewards, one.rewards * 10, rtol=1e-4)
    assert np.allclose(other.values, one.values * 10, rtol=1e-4)


def test_a_description_gives_the_same_agent():
    pool = open_pool("car", 1, 0)
    described = craft.describe(SETTINGS)
    assert world_model.agent_of(pool, described) == replace(agent_of(), drift=0.0)
    with pytest.raises(LudusError, match="the settings of this world_model agent do not fit"):
        world_model.agent_of(pool, described | {"args": {"widht": 3}})


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("goofspiel", "goofspiel has 2 seats; a world_model plays alone: train it with ppo"),
        ("cartpole", "cartpole has actions by number; a world_model wants continuous ones"),
    ],
)
def test_games_that_cannot_be_imagined_are_refused(game, sentence):
    with pytest.raises(LudusError, match=sentence):
        craft.agent_for(SETTINGS, open_pool(game, 1, 0))


@pytest.mark.parametrize(
    ("kind", "wrong", "sentence"),
    [
        (WorldModelArgs, {"latent": 30}, "a latent of 30 numbers has no whole groups of 8"),
        (WorldModelArgs, {"encoder": 0}, "encoder of a world model is 1 or more, not 0"),
        (WorldModelArgs, {"actor": ()}, "actor of a world model is 1 or more"),
        (WorldModelArgs, {"critic": (8, 0)}, "critic of a world model has widths of 1 or more"),
        (WorldModelSettings, {"horizon": 17}, "a sequence of 17 steps needs rollouts as long, not of 16"),
        (WorldModelSettings, {"ratio": 0.0}, "ratio is above 0"),
        (WorldModelSettings, {"discount": 1.5}, "discount lies between 0 and 1"),
        (WorldModelSettings, {"batch": 0}, "batch is 1 or more"),
        (WorldModelSettings, {"value_weight": -1.0}, "value_weight is 0 or more"),
        (WorldModelSettings, {"planning": "often"}, "often"),
    ],
)
def test_settings_that_make_no_sense_are_refused(kind, wrong, sentence):
    with pytest.raises(LudusError, match=sentence):
        kind(**wrong)


def test_small_settings_are_what_they_say():
    assert agent_of().args == SIZES and agent_of().plan == PLAN
