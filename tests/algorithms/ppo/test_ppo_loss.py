"""The loss of PPO against a plain reckoning of every decision, and what has no part in it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ppo_by_hand import (
    DUEL,
    N,
    T,
    TableAgent,
    acting,
    alone,
    counts_of,
    gae,
    parameters_of,
    plain,
    policy_of,
    ppo_loss,
    random_batch,
    state_of,
    valid,
    vtrace,
)  # fmt: skip

from ludus.algorithms.ppo import objective

AGENT = TableAgent(DUEL)
ENTROPY = 0.3


def loss_of(settings, batch, table, fixed, entropy=ENTROPY):
    """The loss, what it tells, and its gradient by the table."""
    others, rates = state_of(settings, table).agent, {"ent_coef": jnp.float32(entropy)}
    given = (others, batch, fixed, rates, counts_of(settings, batch), jax.random.key(0))
    reckon = jax.value_and_grad(functools.partial(objective.loss_of, settings, AGENT, *given), has_aux=True)
    (loss, (told, _)), gradient = alone(reckon, {"agent": table})
    return (
        float(loss),
        {name: float(number) for name, number in told.items()},
        jax.tree.map(np.asarray, gradient["agent"]),
    )


def estimated(seed):
    """Advantages [T, N] and targets [T, N, 2] to learn from."""
    rng = np.random.default_rng([seed, 1])
    advantage, target = rng.normal(size=(T, N)), rng.normal(size=(T, N, 1)) * [1.0, -1.0]
    return objective.Estimate(jnp.asarray(advantage, jnp.float32), jnp.asarray(target, jnp.float32))


@pytest.mark.parametrize(
    "settings",
    [{}, {"clip_coef": 0.05}, {"dual_clip": 1.3}, {"clip_range_vf": 0.2}, {"vf_coef": 2.0}],
    ids=lambda settings: " ".join(settings) or "plain",
)
@pytest.mark.parametrize("seed", range(2))
def test_the_loss_is_that_of_every_decision(settings, seed):
    settings, batch, table, fixed = plain(**settings), random_batch(seed), parameters_of(seed), estimated(seed)
    loss, told, _ = loss_of(settings, batch, table, fixed)
    assert loss == pytest.approx(ppo_loss(settings, table, batch, *fixed, ENTROPY), rel=1e-5)
    assert loss == pytest.approx(
        told["policy_loss"] + settings.vf_coef * told["value_loss"] - ENTROPY * told["entropy"], rel=1e-5
    )


def test_each_option_changes_the_loss():
    """So that the reckoning above was of something."""
    batch, table, fixed = random_batch(0), parameters_of(0), estimated(0)
    options = ({}, {"clip_coef": 0.05}, {"dual_clip": 1.3}, {"clip_range_vf": 0.2}, {"vf_coef": 2.0})
    losses = [loss_of(plain(**option), batch, table, fixed)[0] for option in options]
    assert len({round(loss, 4) for loss in losses}) == len(losses)


def test_what_it_tells_is_right():
    batch, table = random_batch(2), parameters_of(2)
    settings = plain()
    told = loss_of(settings, batch, table, estimated(2))[1]
    counts = valid(batch.steps) & batch.own
    taken = np.take_along_axis(policy_of(table, batch.steps)[:-1], batch.decisions.action[..., None], -1)[..., 0]
    ratio = (taken / np.exp(batch.decisions.log_prob))[counts]
    assert told["approx_kl"] == pytest.approx((ratio - 1 - np.log(ratio)).mean(), rel=1e-5)
    assert told["clip_fraction"] == pytest.approx((np.abs(ratio - 1) > settings.clip_coef).mean())


def test_only_what_was_decided_oneself_moves_the_policy():
    batch, table = random_batch(1), parameters_of(1)
    _, _, gradient = loss_of(plain(), batch, table, estimated(1))
    free = batch.steps.mask[:T].sum(axis=-1) > 1
    moved = np.abs(gradient["logits"]).max(axis=-1).reshape(T + 1, N)
    counts = valid(batch.steps) & batch.own
    assert (moved[:T][~counts] == 0).all() and (moved[:T][counts & free] > 0).all() and (moved[T] == 0).all()
    told = np.abs(gradient["value"]).max(axis=-1).reshape(T + 1, N)
    assert (told[:T][valid(batch.steps)] > 0).all() and (told[:T][~valid(batch.steps)] == 0).all()


@pytest.mark.parametrize("target", ["gae", "vtrace"])
def test_advantages_can_be_reckoned_anew(target):
    """With the values, and for vtrace the probabilities, of now; what an opponent did counts as it was met."""
    settings = plain(advantage_estimator=target, recompute_advantages=True, gamma=0.9, c_clip=0.8)
    batch, table = random_batch(4), parameters_of(4)
    value = np.asarray(table["value"])[batch.steps.observation["place"]]
    if target == "gae":
        advantage = gae(batch.steps, value, 0.9, 0.5)
        aim = advantage + value[:-1]
    else:
        taken = np.take_along_axis(policy_of(table, batch.steps)[:-1], batch.decisions.action[..., None], -1)[..., 0]
        ratio = np.where(batch.own, taken / np.exp(batch.decisions.log_prob), 1.0)
        advantage, aim = vtrace(batch.steps, value, ratio, settings)
    wanted = ppo_loss(settings, table, batch, acting(advantage, batch.steps.seat), aim, ENTROPY)
    assert loss_of(settings, batch, table, None)[0] == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "anew"])
def test_burnt_in_steps_only_warm_the_memory_up(fixed):
    """This agent's memory tells how often it was called upon: values are higher by 3, and no gradient goes there."""
    settings = plain(burn_in=3, recompute_advantages=not fixed)
    batch, table = random_batch(6), parameters_of(6)
    loss, _, gradient = loss_of(settings, batch, table, estimated(6) if fixed else None)
    if fixed:
        advantage, target = estimated(6)
        wanted = ppo_loss(settings, table, batch, advantage, target, ENTROPY, memory=3.0, begin=3)
        assert loss == pytest.approx(wanted, rel=1e-5)
    for name in ("logits", "value"):
        moved = np.abs(gradient[name]).max(axis=-1).reshape(T + 1, N)
        assert (moved[:3] == 0).all() and moved[3:].max() > 0
    assert gradient["weight"] == 0
    without = loss_of(plain(recompute_advantages=not fixed), batch, table, estimated(6) if fixed else None)[2]
    assert np.abs(without["value"]).max(axis=-1).reshape(T + 1, N)[:3].max() > 0


def one_decision(log_prob, advantage, old_value=0.0, target=0.0):
    """A batch in which a single decision counts, with the ratio that an old log-probability makes of it."""
    batch = random_batch(0, all_own=True)
    first = np.ones((T + 1, N), bool)
    first[1, 0] = False
    mask = np.ones_like(batch.steps.mask)
    decisions = batch.decisions._replace(
        log_prob=np.full((T, N), log_prob, np.float32), value=np.full((T + 1, N, 2), old_value, np.float32)
    )
    steps = batch.steps._replace(first=first, mask=mask)
    fixed = objective.Estimate(jnp.full((T, N), float(advantage)), jnp.full((T, N, 2), float(target)))
    return batch._replace(steps=steps, decisions=decisions), fixed


@pytest.mark.parametrize(
    ("ratio", "advantage", "dual_clip", "pulls"),
    [
        (1.1, 1.0, 0.0, True), (1.3, 1.0, 0.0, False), (0.5, 1.0, 0.0, True),
        (0.5, -1.0, 0.0, False), (1.3, -1.0, 0.0, True), (9.0, -1.0, 0.0, True),
        (9.0, -1.0, 3.0, False), (2.0, -1.0, 3.0, True), (9.0, 1.0, 3.0, False),
    ],
)  # fmt: skip
def test_where_the_clips_let_go(ratio, advantage, dual_clip, pulls):
    """ε is 0.2: what is better is followed up to a ratio of 1.2, what is worse down to 0.8, or up to the dual clip."""
    table = parameters_of(0) | {"logits": jnp.zeros(((T + 1) * N, 3))}
    batch, fixed = one_decision(np.log(1 / 3 / ratio), advantage)
    gradient = loss_of(plain(dual_clip=dual_clip), batch, table, fixed, entropy=0.0)[2]
    assert bool(np.abs(gradient["logits"]).max() > 0) is pulls


@pytest.mark.parametrize(
    ("moved", "target", "value_clip", "pulls"), [(0.5, 9, 0.0, True), (0.5, 9, 0.2, False), (0.1, 9, 0.2, True),
                                                 (0.5, -9, 0.2, True)]
)  # fmt: skip
def test_where_the_value_clip_lets_go(moved, target, value_clip, pulls):
    """A value that moved further than the clip towards its target is left alone; away from it, it is called back."""
    table = parameters_of(0) | {"value": jnp.full(((T + 1) * N, 2), 1.0 + moved)}
    batch, fixed = one_decision(-1.0, 0.0, old_value=1.0, target=target)
    gradient = loss_of(plain(clip_range_vf=value_clip), batch, table, fixed)[2]
    assert bool(np.abs(gradient["value"]).max() > 0) is pulls
