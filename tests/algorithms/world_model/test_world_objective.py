"""The losses of the world model against sums computed by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small_worlds
from small_worlds import SETTINGS, agent_of, functions_of, sequences

from ludus.algorithms.world_model import objective
from ludus.algorithms.world_model.replay import sequence_mask
from ludus.algorithms.world_model.update import model_and_critics


def constant_critics(params, values):
    """Critics with one constant value each."""
    critics = jax.tree.map(jnp.zeros_like, params["critics"])
    last = max(critics["VmapLayers_0"], key=lambda name: (name.startswith("Dense"), name))
    critics["VmapLayers_0"][last]["bias"] = jnp.array(values, jnp.float32)[:, None]
    return critics


def test_targets_use_the_target_critics():
    """y = r + γ c min(Q̄₁, Q̄₂), independent of the critics being trained."""
    agent, functions = agent_of(), functions_of(agent_of())
    sampled = sequences(agent, 3, 5)
    target_critics = constant_critics(functions.params, [7.0, 4.0])
    encoded = functions.encode(sampled.next_observation)
    key = jax.random.key(0)
    settings = replace(SETTINGS, td_lambda=0.0, imag_action_noise=0.3)
    arguments = (target_critics, encoded, sampled, jnp.ones((3, 5)), key)
    found = objective.td_targets(settings, functions, *arguments)
    assert np.allclose(found, sampled.reward + agent.gamma * sampled.continues * 4.0, atol=1e-5)
    other = functions._replace(params=functions.params | {"critics": constant_critics(functions.params, [90.0, 80.0])})
    assert np.array_equal(objective.td_targets(settings, other, *arguments), found)


def target_by_hand(functions, target_critics, sampled, mask, time, row):
    """y of one step, by recursion over the next."""
    encoded = functions.encode(sampled.next_observation[time, row])
    ahead = float(functions.q_values(encoded, functions.act(encoded), target_critics).min())
    if time + 1 < len(mask) and mask[time + 1, row]:
        later = target_by_hand(functions, target_critics, sampled, mask, time + 1, row)
        ahead = (1 - SETTINGS.td_lambda) * ahead + SETTINGS.td_lambda * later
    return float(sampled.reward[time, row]) + SETTINGS.gamma * float(sampled.continues[time, row]) * ahead


def test_world_losses_equal_sums_by_hand():
    agent = agent_of()
    functions, sampled = functions_of(agent), sequences(agent, 3, 4)
    mask = jnp.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], jnp.float32)
    target_critics = small_worlds.random_params(agent, 9)["critics"]
    key = jax.random.key(0)
    loss, (latents, metrics) = objective.world_loss(
        SETTINGS, agent, functions.params, target_critics, sampled, mask, key, model_and_critics(functions.params)
    )
    sums, whole = dict.fromkeys(metrics, 0.0), 0.0
    for row in range(4):
        latent = functions.encode(sampled.observation[0, row])
        opening = float(jnp.square(functions.decode(latent) - sampled.observation[0, row]).mean())
        for time in range(3):
            weight = SETTINGS.rho**time * float(mask[time, row])
            assert np.allclose(latents[time, row], latent, atol=1e-5)
            encoded = functions.encode(sampled.next_observation[time, row])
            target = target_by_hand(functions, target_critics, sampled, mask, time, row)
            sums["value_loss"] += weight * float(
                jnp.square(functions.q_values(latent, sampled.action[time, row]) - target).sum()
            )
            latent = functions.next(latent, sampled.action[time, row])
            probability, continues = (
                float(jax.nn.sigmoid(functions.continue_logit(latent))),
                float(sampled.continues[time, row]),
            )
            sums["consistency_loss"] += weight * float(jnp.square(latent - encoded).mean())
            sums["reward_loss"] += weight * float(functions.reward(latent) - sampled.reward[time, row]) ** 2
            sums["continue_loss"] -= weight * (
                continues * np.log(probability) + (1 - continues) * np.log(1 - probability)
            )
            reconstruction = float(jnp.square(functions.decode(latent) - sampled.next_observation[time, row]).mean())
            sums["reconstruction_loss"] += weight * (reconstruction + opening)
            whole += weight
    assert {name: float(value) for name, value in metrics.items()} == pytest.approx(
        {name: value / whole for name, value in sums.items()}, rel=1e-4
    )
    by_hand = (
        SETTINGS.consistency_coef * sums["consistency_loss"]
        + SETTINGS.reward_coef * (sums["reward_loss"] + sums["continue_loss"])
        + SETTINGS.reconstruction_coef * sums["reconstruction_loss"]
        + SETTINGS.value_coef * sums["value_loss"]
    ) / whole
    assert float(loss) == pytest.approx(by_hand, rel=1e-4)


def test_no_gradient_flows_into_the_consistency_targets():
    """A gradient through the targets would collapse the latents."""
    agent = agent_of()
    functions, sampled = functions_of(agent), sequences(agent, 1, 4)
    settings = replace(SETTINGS, reward_coef=0.0, reconstruction_coef=0.0, value_coef=0.0, horizon=1)

    def loss(next_observation):
        params, moved = functions.params, sampled._replace(next_observation=next_observation)
        arguments = (settings, agent, params, params["critics"], moved, jnp.ones((1, 4)), jax.random.key(0))
        return objective.world_loss(*arguments, model_and_critics(params))[0]

    assert not np.asarray(jax.grad(loss)(sampled.next_observation)).any()


def test_the_actor_loss_is_the_negative_imagined_return():
    """Two steps by hand: r₁ + γ c₁ r₂ + γ² c₁ c₂ min Q."""
    agent = agent_of()
    functions = functions_of(agent)
    latent, mask = functions.encode(sequences(agent, 1, 3).observation[0]), jnp.array([1.0, 1.0, 0.0])
    loss = objective.actor_loss(
        SETTINGS, agent, functions.params, latent, mask, jax.random.key(0), functions.params["actor"]
    )
    expected = []
    for row in latent[:2]:
        total, left, action = 0.0, 1.0, functions.act(row)
        for _ in range(2):
            row = functions.next(row, action)
            action = functions.act(row)
            total += left * float(functions.reward(row))
            left *= agent.gamma * float(jax.nn.sigmoid(functions.continue_logit(row)))
        expected.append(total + left * float(functions.q_values(row, action).min()))
    assert float(loss) == pytest.approx(-np.mean(expected), rel=1e-5)


def test_action_noise_lowers_targets_at_narrow_optima():
    """With critics that fall off around the action of the actor, noise lowers the targets."""
    agent, functions = agent_of(), functions_of(agent_of())
    sampled, key = sequences(agent, 2, 200), jax.random.key(1)
    encoded = functions.encode(sampled.next_observation)
    chosen = functions.act(encoded)

    class Narrow:
        agent = functions.agent

        def act(self, latent):
            return functions.act(latent)

        def q_values(self, latent, action, critics):
            return -jnp.square(action - chosen).sum(axis=-1)[None]

    def found(noise):
        settings = replace(SETTINGS, td_lambda=0.0, imag_action_noise=noise)
        return objective.td_targets(settings, Narrow(), None, encoded, sampled, jnp.ones((2, 200)), key)

    plain, noisy = found(0.0), found(0.3)
    assert np.array_equal(plain, sampled.reward) and (np.asarray(noisy) <= np.asarray(plain)).all()
    assert float((noisy - plain)[sampled.continues == 1].mean()) < -0.02


def test_gradients_reach_the_actor_through_the_dynamics():
    """With constant critics only the rewards depend on the actions, through the next latent."""
    agent = agent_of()
    functions = functions_of(agent)
    latent = functions.encode(sequences(agent, 1, 3).observation[0])

    def slope(params):
        def loss(actor):
            return objective.actor_loss(SETTINGS, agent, params, latent, jnp.ones(3), jax.random.key(0), actor)

        return max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(jax.grad(loss)(params["actor"])))

    blind = functions.params | {"critics": constant_critics(functions.params, [1.0, 1.0])}
    assert slope(blind) > 1e-4
    still = jax.tree.map(jnp.zeros_like, functions.params["model"]["dynamics"])
    assert slope(blind | {"model": functions.params["model"] | {"dynamics": still}}) == 0.0


def test_the_action_penalty_has_a_gradient_where_tanh_is_saturated():
    """The penalty is taken before tanh, whose own gradient is 0 there."""
    agent = agent_of()
    functions = functions_of(agent)
    latent = functions.encode(sequences(agent, 1, 3).observation[0])
    actor = functions.params["actor"]
    far = actor | {"layers": actor["layers"] | {"Dense_1": actor["layers"]["Dense_1"] | {"bias": jnp.full(2, -60.0)}}}

    def slope(penalty):
        settings = replace(SETTINGS, action_penalty=penalty)

        def loss(actor):
            return objective.actor_loss(
                settings, agent, functions.params, latent, jnp.ones(3), jax.random.key(0), actor
            )

        return np.asarray(jax.grad(loss)(far)["layers"]["Dense_1"]["bias"])

    assert np.abs(slope(0.0)).max() == 0.0
    assert np.allclose(slope(0.1), -12.0, rtol=0.1), "gradient descent moves the bias towards 0"


def test_prediction_error_predicts_from_actions_alone():
    agent = agent_of()
    functions, played = functions_of(agent), sequences(agent, 5, 2)
    played = played._replace(valid=played.valid.at[3, 1].set(0.0))
    errors = []
    for start in range(3):
        for row in range(2):
            if row == 1 and start + 2 >= 3:
                continue
            latent = functions.encode(played.observation[start, row])
            for time in range(start, start + 3):
                latent = functions.next(latent, played.action[time, row])
            errors.append(float(jnp.square(functions.decode(latent) - played.next_observation[start + 2, row]).mean()))
    found = objective.prediction_error(agent, functions.params, played, 3)
    assert len(errors) == 4 and float(found) == pytest.approx(np.mean(errors), rel=1e-4)


def test_sequence_mask_ends_where_the_game_ends_or_another_begins():
    agent = agent_of()
    sampled = sequences(agent, 4, 3)
    sampled = sampled._replace(valid=sampled.valid.at[1, 0].set(0.0), observation=sampled.observation.at[2, 1].add(0.5))
    assert sequence_mask(sampled).T.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
