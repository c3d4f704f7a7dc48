"""One update from end to end: the step that is taken, when none is, and what stays as it was."""

import dataclasses
import functools
import itertools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ppo_by_hand import (
    DUEL,
    N,
    T,
    TableAgent,
    alone,
    counts_of,
    parameters_of,
    plain,
    policy_of,
    random_batch,
    state_of,
)

from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms import returns
from ludus.algorithms.ppo import PPO, objective, sharding
from ludus.algorithms.ppo import update as learning
from ludus.runtimes import Job, open_source
from ludus.types import LudusError

AGENT = TableAgent(DUEL)
SMALL = PPO(
    mlp=MLPArgs(width=8, depth=1), rollout_length=6, update_epochs=2, num_minibatches=2, devices=1,
    learning_rate="linear(0.01, 0, 1000)", ent_coef="linear(0.1, 0, 500)",
)  # fmt: skip


@functools.lru_cache
def learned(settings, learning_rate=0.1, seed=0, entropy=0.01):
    """A table, and what an update with decisions of its own makes of the state and tells."""
    table = parameters_of(seed)
    batch = decided_by(table, random_batch(seed))
    rates = {"learning_rate": jnp.float32(learning_rate), "ent_coef": jnp.float32(entropy)}
    update = functools.partial(learning.learn, settings, AGENT)
    order = sharding.shuffled(settings, 1, N, seed)
    state, told = alone(jax.jit(update), state_of(settings, table), batch, order, rates)
    return table, state, {name: float(number) for name, number in told.items()}


def decided_by(table, batch):
    """The batch, with the log-probabilities of this very table."""
    chances = policy_of(table, batch.steps)[:-1]
    taken = np.take_along_axis(chances, batch.decisions.action[..., None], axis=-1)[..., 0]
    return batch._replace(decisions=batch.decisions._replace(log_prob=np.log(taken).astype(np.float32)))


def change(settings, **options):
    table, state, _ = learned(settings, **options)
    return jax.tree.map(lambda new, old: np.asarray(new) - np.asarray(old), state.agent["params"], table)


def test_the_step_is_adams_along_a_shortened_gradient():
    """Its first step is -rate g / (|g| + ε), for the gradient g of all rows, made no longer than `max_gradient`."""
    settings, batch, table = plain(max_grad_norm=0.05), random_batch(0), parameters_of(0)
    batch = decided_by(table, batch)
    rates = {"ent_coef": jnp.float32(0.01)}
    fixed = alone(objective.estimate, settings, AGENT, batch, batch.decisions.value, None)
    given = (state_of(settings, table).agent, batch, fixed, rates, counts_of(settings, batch), None)
    loss = functools.partial(objective.loss_of, settings, AGENT, *given)
    gradient = alone(jax.grad(lambda table: loss({"agent": table})[0]), table)
    length = np.sqrt(sum(np.square(part).sum() for part in map(np.asarray, gradient.values())))
    assert length > 0.05 and learned(settings)[2]["grad_norm"] == pytest.approx(length, rel=1e-4)
    for name, part in gradient.items():
        short = np.asarray(part) * 0.05 / length
        np.testing.assert_allclose(change(settings)[name], -0.1 * short / (np.abs(short) + 1e-5), atol=1e-4)


def test_the_rate_is_how_far_it_goes():
    one, two, none = (change(plain(), learning_rate=rate)["logits"] for rate in (0.1, 0.2, 0.0))
    np.testing.assert_allclose(two, 2 * one, atol=1e-6)
    assert np.abs(one).max() > 0.05 and (none == 0).all()


def test_kl_stop_ends_an_update():
    """The first step is free, as nothing has moved before it; the others would go on from too far away."""
    once, stopped, never = plain(), plain(update_epochs=4, target_kl=1e-4), plain(update_epochs=4, target_kl=100.0)
    assert learned(stopped)[2]["applied_fraction"] == 0.25 and learned(never)[2]["applied_fraction"] == 1.0
    assert learned(stopped)[1].optimiser[1].count == 1 and learned(never)[1].optimiser[1].count == 4
    for name, part in change(once).items():
        np.testing.assert_allclose(change(stopped)[name], part, atol=1e-5)
    assert np.abs(change(never)["logits"] - change(once)["logits"]).max() > 0.05


@pytest.mark.parametrize(
    ("divergence", "factor"),
    [(0.0, 0.5), (0.0049, 0.5), (0.0051, 1.0), (0.01, 1.0), (0.0199, 1.0), (0.0201, 1.5), (9.0, 1.5)],
)
def test_the_kl_coefficient_by_hand(divergence, factor):
    """With a target of 0.01 it is kept between 0.005 and 0.02."""
    after = learning.adapted(jnp.float32(0.2), jnp.float32(divergence), 0.01)
    assert after == pytest.approx(0.2 * factor) and after.dtype == jnp.float32


def test_the_kl_penalty_keeps_the_policy_nearer():
    free, bound = (plain(update_epochs=4, kl_coef=coefficient, kl_target=0.001) for coefficient in (1e-6, 100.0))
    (_, state, told), (_, near, less) = learned(free), learned(bound)
    assert told["kl_coef"] == np.float32(1e-6) and less["kl_coef"] == 100.0  # those of this update
    assert less["approx_kl"] < 0.5 * told["approx_kl"]
    assert state.kl_coef == pytest.approx(1.5e-6)  # far too far: 0.001 was meant
    never = learned(plain(update_epochs=4, kl_coef=0.2, kl_target=1000.0))[1]
    assert never.kl_coef == pytest.approx(0.1) and near.kl_coef in (50.0, 100.0, 150.0)


def test_the_last_epoch_measures_for_the_kl_coefficient():
    """Before the only step of an update nothing has moved; of several epochs, the first measures nothing."""
    assert learned(plain(kl_coef=0.2, kl_target=1e-4))[1].kl_coef == pytest.approx(0.1)
    _, state, told = learned(plain(update_epochs=2, kl_coef=0.2, kl_target=1e-4))
    assert state.kl_coef == pytest.approx(0.3) and told["approx_kl"] > 1e-4


def test_without_a_kl_coefficient_nothing_is_kept_or_told():
    _, state, told = learned(plain())
    assert state.kl_coef == () and "kl_coef" not in told


@pytest.mark.parametrize(
    "settings", [{"norm_adv": True}, {"recompute_advantages": True}, {"advantage_estimator": "vtrace"}], ids=str
)
def test_a_gradient_piece_by_piece_is_the_same(settings):
    whole, pieces = (plain(gradient_accumulation=pieces, **settings) for pieces in (1, 2))
    for name, part in change(whole).items():
        np.testing.assert_allclose(change(pieces)[name], part, atol=1e-4)
    for name in ("policy_loss", "value_loss", "entropy", "approx_kl", "grad_norm"):
        assert learned(pieces)[2][name] == pytest.approx(learned(whole)[2][name], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("minibatches", [1, 2, 4])
def test_every_epoch_learns_from_every_row_once(minibatches, monkeypatch):
    """And in an order of its own."""
    settings = plain(update_epochs=3, num_minibatches=minibatches)

    def note(settings, agent, batch, fixed, rates, carry, now):
        (state, moving), (rows, _) = carry, now
        seen, count = state.agent["seen"], state.agent["count"]
        kept = {
            "seen": jax.lax.dynamic_update_slice(seen, rows[None].astype(seen.dtype), (count, 0)),
            "count": count + 1,
        }
        return (state._replace(agent=kept), moving), {}

    monkeypatch.setattr(learning, "minibatch", note)
    agent = {"seen": jnp.full((3 * minibatches, N // minibatches), -1), "count": jnp.int32(0)}
    state = learning.State(agent, (), (), jnp.int32(5))
    after, _ = alone(learning.learn, settings, AGENT, state, random_batch(0), sharding.shuffled(settings, 1, N, 1), {})
    assert after.agent["count"] == 3 * minibatches and after.updates == 6
    orders = np.asarray(after.agent["seen"]).reshape(3, N)
    assert (np.sort(orders, axis=1) == np.arange(N)).all()
    assert len({tuple(order) for order in orders.tolist()}) > 1


def test_a_part_of_the_rows_is_that_of_all_arrays():
    batch = random_batch(0)._replace(memory=np.arange(N))
    part = objective.some_rows(batch, jnp.array([3, 1]))
    assert part.memory.tolist() == [3, 1]
    assert (part.own == batch.own[:, [3, 1]]).all() and part.steps.reward.shape == (T + 1, 2, 2)
    assert (part.decisions.value == batch.decisions.value[:, [3, 1]]).all()


@pytest.fixture(scope="module")
def beginning():
    """An agent, a learner that knows nothing, and two rollouts of it, tic-tac-toe against itself."""
    source = open_source("local", Job("tictactoe", 8, 3, SMALL.rollout_length, 1, SMALL))
    agent = SMALL.new_agent(source.lanes[0].worker.pool)
    learner = SMALL.new_learner(agent, 3)
    source.publish(SMALL.broadcast(learner), 0)
    return agent, learner, [rollout for (rollout,) in itertools.islice(source, 2)]


def same(one, other):
    parts = ([np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)] for tree in (one, other))
    return operator.eq(*parts)


def test_schedules_are_followed(beginning):
    """Rates are those of the steps before an update; after the last step of a schedule nothing is learned."""
    agent, learner, (rollout, following) = beginning
    after, told = SMALL.update(agent, learner, [rollout])
    assert (told["learning_rate"], told["ent_coef"]) == (0.01, 0.1)
    assert after.steps == (rollout.own & ~rollout.steps.first[1:]).sum() and after.episodes == rollout.tally[0]
    _, later = SMALL.update(agent, after, [following])
    assert later["learning_rate"] == pytest.approx(0.01 * (1 - after.steps / 1000))
    assert later["ent_coef"] == pytest.approx(0.1 * (1 - after.steps / 500))
    done, told = SMALL.update(agent, learner._replace(steps=1000), [rollout])
    assert told["learning_rate"] == 0.0 and same(done.params, learner.params)
    assert not same(after.params, learner.params)


def test_the_first_ratio_is_1(beginning):
    """At a rate of 0 no decision becomes likelier or less likely than when it was made."""
    agent, learner, (rollout, _) = beginning
    _, told = SMALL.update(agent, learner._replace(steps=1000), [rollout])
    assert abs(told["approx_kl"]) < 1e-6 and told["clip_fraction"] == 0.0 and told["finite"] == 1.0


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["reward", "log_prob"])
def test_numbers_that_are_none_change_nothing(beginning, number, where):
    agent, learner, (rollout, _) = beginning
    steps, decisions = rollout.steps, rollout.decisions
    row = int(np.flatnonzero(~steps.first[3])[0])
    if where == "reward":
        reward = steps.reward.copy()
        reward[3, row, 0] = number
        steps = steps._replace(reward=reward)
    else:
        log_prob = decisions.log_prob.copy()
        log_prob[2, row] = np.nan
        decisions = decisions._replace(log_prob=log_prob)
    after, told = SMALL.update(agent, learner, [rollout._replace(steps=steps, decisions=decisions)])
    assert told["finite"] == 0.0
    assert same(after.state, learner.state)


def test_a_divergence_that_is_no_number_is_not_taken_for_one_that_is_too_large():
    """With kl_stop nothing would be learned from it, and nobody told."""
    settings, batch, table = plain(target_kl=0.1), random_batch(0), parameters_of(0)
    decisions = batch.decisions._replace(log_prob=np.full((T, N), np.nan, np.float32))
    rates = {"learning_rate": jnp.float32(0.1), "ent_coef": jnp.float32(0.0)}
    update = jax.jit(functools.partial(learning.learn, settings, AGENT))
    order = sharding.shuffled(settings, 1, N, 0)
    _, told = alone(update, state_of(settings, table), batch._replace(decisions=decisions), order, rates)
    assert not np.isfinite([float(number) for number in told.values()]).all()


def test_an_update_is_compiled_once(beginning):
    """What a start leaves behind lies where updates leave it."""
    agent, learner, rollouts = beginning
    for rollout in rollouts:
        learner, _ = SMALL.update(agent, learner, [rollout])
    assert learning._program(SMALL, agent, learning.mesh_of(1))._cache_size() == 1


def test_a_learner_comes_back_from_its_arrays(beginning):
    agent, learner, (rollout, following) = beginning
    learner, _ = SMALL.update(agent, learner, [rollout])
    again = SMALL.restore(agent, SMALL.save(learner), 3)
    assert (again.steps, again.episodes, again.seed) == (learner.steps, learner.episodes, learner.seed)
    assert same(again.state, learner.state)
    assert same(SMALL.update(agent, again, [following])[0].state, SMALL.update(agent, learner, [following])[0].state)
    with pytest.raises(LudusError, match="has no counters of steps and updates"):
        SMALL.restore(agent, {**SMALL.save(learner), "learner": {"counters": np.zeros(2)}}, 3)


def test_the_kl_coefficient_comes_back_from_its_array(beginning):
    """From checkpoints without it, it starts anew; settings without it ignore it."""
    agent, _, (rollout, following) = beginning
    settings = dataclasses.replace(SMALL, kl_coef=0.2, kl_target=1e3)
    learner = settings.new_learner(agent, 3)
    for expected in (0.2, 0.1):
        learner, told = settings.update(agent, learner, [rollout])
        assert told["kl_coef"] == pytest.approx(expected)
    stored = settings.save(learner)
    again = settings.restore(agent, stored, 3)
    assert again.state.kl_coef == pytest.approx(0.05) and same(again.state, learner.state)
    assert same(*(settings.update(agent, one, [following])[0].state for one in (again, learner)))
    assert settings.restore(agent, SMALL.save(SMALL.new_learner(agent, 3)), 3).state.kl_coef == pytest.approx(0.2)
    assert SMALL.restore(agent, stored, 3).state.kl_coef == ()
    assert SMALL.save(SMALL.new_learner(agent, 3))["learner"].keys() == {"counters"}
    stored["learner"]["kl_coef"] = np.float32([np.nan])
    with pytest.raises(LudusError, match="kl_coef is not a number"):
        settings.restore(agent, stored, 3)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rollout_length": 0}, "rollout_length must be 1 or more, not 0"),
        ({"gae_lambda": 1.5}, "gae_lambda must be between 0 and 1, not 1.5"),
        ({"gamma": float("nan")}, "gamma must be between 0 and 1"),
        ({"clip_coef": 0.0}, "clip_coef must be above 0, not 0"),
        ({"dual_clip": 1.0}, "dual_clip must be above 1, or 0 for off, not 1"),
        ({"dual_clip": float("nan")}, "dual_clip must be above 1"),
        ({"target_kl": -1.0}, "target_kl must be 0 or more, not -1"),
        ({"kl_coef": -0.2}, "kl_coef must be 0 or more, not -0.2"),
        ({"kl_target": 0.0}, "kl_target must be above 0, not 0"),
        ({"rollout_length": 4, "burn_in": 4}, "burn_in must be below rollout_length, 4, not 4"),
        ({"learning_rate": "fast"}, "fast"),
    ],
)
def test_settings_that_nobody_can_mean_are_sentences(settings, sentence):
    with pytest.raises(LudusError) as refused:
        PPO(**settings)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(("rows", "copies", "take"), [(6, 1, 8), (5, 2, 6), (7, 3, 8), (9, 4, None), (8, 1, None)])
def test_rows_that_cannot_be_dealt_are_a_sentence_that_knows_better(rows, copies, take):
    settings = PPO(num_minibatches=4, devices=1)
    if take is None:
        sharding.check_rows(settings, rows, copies)
        return
    with pytest.raises(LudusError, match=rf"{rows * copies} rows cannot be split .* use --num-envs {take}, or"):
        sharding.check_rows(settings, rows, copies)
    sharding.check_rows(settings, take, copies)


def test_devices_that_are_not_there_are_a_sentence():
    with pytest.raises(LudusError, match="99 devices were requested, but this process has"):
        sharding.check_rows(PPO(devices=99), 512)


def test_what_the_newest_parameters_decided_themselves_is_as_it_was():
    table = parameters_of(0)
    batch = decided_by(table, random_batch(0, all_own=True))
    seen = alone(objective.refreshed, plain(num_minibatches=2), AGENT, {"params": table}, batch)
    np.testing.assert_allclose(seen.decisions.log_prob, batch.decisions.log_prob, atol=1e-6)
    np.testing.assert_allclose(seen.weight, 1.0, atol=1e-5)


@pytest.mark.parametrize(("minibatches", "pieces"), [(1, 1), (2, 2)])
def test_what_older_parameters_decided_counts_as_much_as_it_is_likelier_now(minibatches, pieces):
    """π/μ, at most twice; what an opponent did keeps its number, and counts once."""
    older, newer = parameters_of(0), parameters_of(1)
    batch = decided_by(older, random_batch(0))
    seen = alone(
        objective.refreshed,
        plain(num_minibatches=minibatches, gradient_accumulation=pieces),
        AGENT,
        {"params": newer},
        batch,
    )
    now = decided_by(newer, batch).decisions
    own = np.asarray(batch.own)
    ratio = np.exp(np.asarray(now.log_prob) - np.asarray(batch.decisions.log_prob))
    np.testing.assert_allclose(seen.weight, np.where(own, np.minimum(ratio, 2.0), 1.0), rtol=1e-4)
    np.testing.assert_allclose(
        seen.decisions.log_prob, np.where(own, now.log_prob, batch.decisions.log_prob), rtol=1e-5
    )
    worth = AGENT.evaluate({"params": newer}, batch.memory, batch.steps).value
    np.testing.assert_allclose(seen.decisions.value, worth, rtol=1e-5)
    assert (ratio[own] > 2.0).any() and (~own).any()


def test_advantages_count_by_the_weight_of_their_decisions():
    batch = random_batch(0)
    weight = np.random.default_rng(3).uniform(0.1, 2.0, batch.own.shape).astype(np.float32)
    once = alone(objective.estimate, plain(), AGENT, batch, batch.decisions.value, None)
    weighed = alone(objective.estimate, plain(), AGENT, batch._replace(weight=weight), batch.decisions.value, None)
    np.testing.assert_allclose(weighed.advantage, once.advantage * weight, rtol=1e-5)
    np.testing.assert_array_equal(weighed.target, once.target)


def test_with_an_own_chain_nothing_counts_that_is_said_at_the_moves_of_others():
    settings, batch = plain(own_turns_only=True), random_batch(3)
    steps, value = batch.steps, np.asarray(batch.decisions.value)
    going_on = np.concatenate([~np.asarray(steps.first)[1:], ~np.asarray(steps.first)[-1:]])
    others = ~np.asarray(returns.acts(steps.seat, 2)) & going_on[..., None]
    assert others.any()
    told, noisy = (
        alone(objective.estimate, settings, AGENT, batch, said, None) for said in (value, np.where(others, 9.0, value))
    )
    np.testing.assert_allclose(told.advantage, noisy.advantage, atol=1e-5)
    np.testing.assert_allclose(
        returns.acting(told.target, steps.seat), returns.acting(noisy.target, steps.seat), atol=1e-5
    )
    with_others = alone(objective.estimate, plain(), AGENT, batch, value, None)
    assert not np.allclose(told.advantage, with_others.advantage, atol=1e-3)


def test_with_an_own_chain_the_critic_learns_at_own_decisions_alone():
    first, own = np.zeros((4, 2), bool), np.array([[True, False]] * 3)
    assert objective.critic_steps(plain(own_turns_only=True), first, own).tolist() == own.tolist()
    assert objective.critic_steps(plain(), first, own).all()
