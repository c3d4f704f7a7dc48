"""What a world model makes small, against sums written out by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small_worlds
from small_worlds import SETTINGS, agent_of, mind_of, sequences

from ludus.algorithms.world_model import objective
from ludus.algorithms.world_model.experience import counted
from ludus.algorithms.world_model.learning import worldly


def flat_critics(params, worths):
    """Critics that say one number each, whatever they see."""
    critics = jax.tree.map(jnp.zeros_like, params["critics"])
    last = max(critics["VmapLayers_0"], key=lambda name: (name.startswith("Dense"), name))
    critics["VmapLayers_0"][last]["bias"] = jnp.array(worths, jnp.float32)[:, None]
    return critics


def test_targets_are_those_of_the_slow_critics():
    """y = r + γ c min(Q̄₁, Q̄₂), whatever the quick ones say."""
    agent, mind = agent_of(), mind_of(agent_of())
    drawn = sequences(agent, 3, 5)
    slow = flat_critics(mind.params, [7.0, 4.0])
    seen = mind.encode(drawn.following)
    key = jax.random.key(0)
    only = replace(SETTINGS, trace=0.0, smoothing=0.3)
    given = (slow, seen, drawn, jnp.ones((3, 5)), key)
    found = objective.targets(only, mind, *given)
    assert np.allclose(found, drawn.reward + agent.discount * drawn.goes_on * 4.0, atol=1e-5)
    other = mind._replace(params=mind.params | {"critics": flat_critics(mind.params, [90.0, 80.0])})
    assert np.array_equal(objective.targets(only, other, *given), found)


def target_by_hand(mind, slow, drawn, weights, time, row):
    """y of one step, by what it says of the next."""
    seen = mind.encode(drawn.following[time, row])
    ahead = float(mind.worth(seen, mind.act(seen), slow).min())
    if time + 1 < len(weights) and weights[time + 1, row]:
        later = target_by_hand(mind, slow, drawn, weights, time + 1, row)
        ahead = (1 - SETTINGS.trace) * ahead + SETTINGS.trace * later
    return float(drawn.reward[time, row]) + SETTINGS.discount * float(drawn.goes_on[time, row]) * ahead


def test_the_losses_of_the_world_are_the_written_out_sums():
    agent = agent_of()
    mind, drawn = mind_of(agent), sequences(agent, 3, 4)
    weights = jnp.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], jnp.float32)
    slow = small_worlds.made_up(agent, 9)["critics"]
    key = jax.random.key(0)
    loss, (latents, told) = objective.world_loss(
        SETTINGS, agent, mind.params, slow, drawn, weights, key, worldly(mind.params)
    )
    sums, whole = dict.fromkeys(told, 0.0), 0.0
    for row in range(4):
        latent = mind.encode(drawn.seen[0, row])
        opening = float(jnp.square(mind.decode(latent) - drawn.seen[0, row]).mean())
        for time in range(3):
            weight = SETTINGS.fading**time * float(weights[time, row])
            assert np.allclose(latents[time, row], latent, atol=1e-5)
            seen = mind.encode(drawn.following[time, row])
            target = target_by_hand(mind, slow, drawn, weights, time, row)
            sums["value_loss"] += weight * float(jnp.square(mind.worth(latent, drawn.action[time, row]) - target).sum())
            latent = mind.next(latent, drawn.action[time, row])
            chance, real = float(jax.nn.sigmoid(mind.goes_on(latent))), float(drawn.goes_on[time, row])
            sums["consistency_loss"] += weight * float(jnp.square(latent - seen).mean())
            sums["reward_loss"] += weight * float(mind.reward(latent) - drawn.reward[time, row]) ** 2
            sums["continue_loss"] -= weight * (real * np.log(chance) + (1 - real) * np.log(1 - chance))
            shown = float(jnp.square(mind.decode(latent) - drawn.following[time, row]).mean())
            sums["reconstruction_loss"] += weight * (shown + opening)
            whole += weight
    assert {name: float(value) for name, value in told.items()} == pytest.approx(
        {name: value / whole for name, value in sums.items()}, rel=1e-4
    )
    by_hand = (
        SETTINGS.consistency_weight * sums["consistency_loss"]
        + SETTINGS.reward_weight * (sums["reward_loss"] + sums["continue_loss"])
        + SETTINGS.reconstruction_weight * sums["reconstruction_loss"]
        + SETTINGS.value_weight * sums["value_loss"]
    ) / whole
    assert float(loss) == pytest.approx(by_hand, rel=1e-4)


def test_no_gradient_goes_into_what_is_predicted():
    """The encoder learns from its own predictions; a target that it could move would fall to a point."""
    agent = agent_of()
    mind, drawn = mind_of(agent), sequences(agent, 1, 4)
    only = replace(SETTINGS, reward_weight=0.0, reconstruction_weight=0.0, value_weight=0.0, horizon=1)

    def loss(following):
        params, moved = mind.params, drawn._replace(following=following)
        given = (only, agent, params, params["critics"], moved, jnp.ones((1, 4)), jax.random.key(0))
        return objective.world_loss(*given, worldly(params))[0]

    assert not np.asarray(jax.grad(loss)(drawn.following)).any()


def test_the_actor_is_paid_for_what_it_imagines():
    """Two steps by hand: r₁ + γ c₁ r₂ + γ² c₁ c₂ min Q."""
    agent = agent_of()
    mind = mind_of(agent)
    latent, weights = mind.encode(sequences(agent, 1, 3).seen[0]), jnp.array([1.0, 1.0, 0.0])
    loss = objective.actor_loss(SETTINGS, agent, mind.params, latent, weights, jax.random.key(0), mind.params["actor"])
    expected = []
    for row in latent[:2]:
        total, left, action = 0.0, 1.0, mind.act(row)
        for _ in range(2):
            row = mind.next(row, action)
            action = mind.act(row)
            total += left * float(mind.reward(row))
            left *= agent.discount * float(jax.nn.sigmoid(mind.goes_on(row)))
        expected.append(total + left * float(mind.worth(row, action).min()))
    assert float(loss) == pytest.approx(-np.mean(expected), rel=1e-5)


def test_noise_makes_a_narrow_good_worth_less():
    """Critics that find only what lies near the actor's own choice good: with noise, targets are lower."""
    agent, mind = agent_of(), mind_of(agent_of())
    drawn, key = sequences(agent, 2, 200), jax.random.key(1)
    seen = mind.encode(drawn.following)
    chosen = mind.act(seen)

    class Narrow:
        agent = mind.agent

        def act(self, latent):
            return mind.act(latent)

        def worth(self, latent, action, critics):
            return -jnp.square(action - chosen).sum(axis=-1)[None]

    def found(noise):
        only = replace(SETTINGS, trace=0.0, smoothing=noise)
        return objective.targets(only, Narrow(), None, seen, drawn, jnp.ones((2, 200)), key)

    plain, noisy = found(0.0), found(0.3)
    assert np.array_equal(plain, drawn.reward) and (np.asarray(noisy) <= np.asarray(plain)).all()
    assert float((noisy - plain)[drawn.goes_on == 1].mean()) < -0.02


def test_gradients_reach_the_actor_through_the_dynamics():
    """Critics that see no difference leave the reward alone, and that depends on actions through the next latent."""
    agent = agent_of()
    mind = mind_of(agent)
    latent = mind.encode(sequences(agent, 1, 3).seen[0])

    def slope(params):
        def loss(actor):
            return objective.actor_loss(SETTINGS, agent, params, latent, jnp.ones(3), jax.random.key(0), actor)

        return max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(jax.grad(loss)(params["actor"])))

    blind = mind.params | {"critics": flat_critics(mind.params, [1.0, 1.0])}
    assert slope(blind) > 1e-4
    still = jax.tree.map(jnp.zeros_like, mind.params["model"]["dynamics"])
    assert slope(blind | {"model": mind.params["model"] | {"dynamics": still}}) == 0.0


def test_an_actor_that_leans_all_to_one_side_finds_back():
    """Behind tanh nothing is left of a gradient there; what leaning costs is asked before the bend."""
    agent = agent_of()
    mind = mind_of(agent)
    latent = mind.encode(sequences(agent, 1, 3).seen[0])
    actor = mind.params["actor"]
    far = actor | {"layers": actor["layers"] | {"Dense_1": actor["layers"]["Dense_1"] | {"bias": jnp.full(2, -60.0)}}}

    def slope(leaning):
        settings = replace(SETTINGS, leaning=leaning)

        def loss(actor):
            return objective.actor_loss(settings, agent, mind.params, latent, jnp.ones(3), jax.random.key(0), actor)

        return np.asarray(jax.grad(loss)(far)["layers"]["Dense_1"]["bias"])

    assert np.abs(slope(0.0)).max() == 0.0
    assert np.allclose(slope(0.1), -12.0, rtol=0.1), "down the slope is towards the middle"


def test_prediction_errors_are_those_of_actions_alone():
    agent = agent_of()
    mind, played = mind_of(agent), sequences(agent, 5, 2)
    played = played._replace(real=played.real.at[3, 1].set(0.0))
    errors = []
    for start in range(3):
        for row in range(2):
            if row == 1 and start + 2 >= 3:
                continue
            latent = mind.encode(played.seen[start, row])
            for time in range(start, start + 3):
                latent = mind.next(latent, played.action[time, row])
            errors.append(float(jnp.square(mind.decode(latent) - played.following[start + 2, row]).mean()))
    found = objective.prediction_error(agent, mind.params, played, 3)
    assert len(errors) == 4 and float(found) == pytest.approx(np.mean(errors), rel=1e-4)


def test_a_sequence_counts_until_its_game_ends_or_another_begins():
    agent = agent_of()
    drawn = sequences(agent, 4, 3)
    drawn = drawn._replace(real=drawn.real.at[1, 0].set(0.0), seen=drawn.seen.at[2, 1].add(0.5))
    assert counted(drawn).T.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
