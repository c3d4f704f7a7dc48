"""What decisions turned out to be worth: numbers by hand, and plain loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from ppo_by_hand import DUEL, SOLO, A, N, T, acting, alone, gae, one_row, plain, random_batch, upgo, valid, vtrace

from ludus.algorithms.ppo import objective
from ludus.types import Discrete, Spec


def estimate(settings, batch, value=None, ratio=None, spec=DUEL):
    value = batch.decisions.value if value is None else value
    return alone(objective.estimate, settings, SimpleNamespace(spec=spec), batch, value, ratio)


def same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("discount", "advantage"),
    [((1, 1, 0, 1, 1, 1), (-3.5, -18, 0, -16, -16)), ((1, 1, 1, 1, 1, 1), (0.25, -3, 0, -16, -16))],
    ids=["over", "cut off"],
)
def test_two_games_by_hand(discount, advantage):
    """A game that is over has no future, one that is cut off has its value; nothing comes from the next game."""
    found = estimate(plain(), one_row(discount), spec=SOLO)
    same(found.advantage[:, 0], advantage)
    same(found.target[:, 0, 0], np.array(advantage) + np.arange(10, 60, 10))


@pytest.mark.parametrize("seed", range(3))
def test_gae_of_two_seats(seed):
    batch, settings = random_batch(seed), plain(gamma=0.9, gae_lambda=0.7)
    wanted = gae(batch.steps, batch.decisions.value, 0.9, 0.7)
    found = estimate(settings, batch)
    same(found.advantage, acting(wanted, batch.steps.seat))
    same(found.target, wanted + batch.decisions.value[:-1])
    same(found.target[..., 0], -found.target[..., 1])  # what one seat wins the other loses


@pytest.mark.parametrize("clips", [(1.0, 1.0), (2.0, 0.5)])
def test_vtrace_of_two_seats(clips):
    batch = random_batch(3)
    settings = plain(advantage_estimator="vtrace", gamma=0.9, gae_lambda=0.8, rho_clip=clips[0], c_clip=clips[1])
    ratio = np.random.default_rng(0).uniform(0.2, 3.0, (T, N)).astype(np.float32)
    advantage, target = vtrace(batch.steps, batch.decisions.value, ratio, settings)
    found = estimate(settings, batch, ratio=ratio)
    same(found.advantage, acting(advantage, batch.steps.seat))
    same(found.target, target)


@pytest.mark.parametrize("seed", range(3))
def test_upgo_is_added_to_the_advantage_alone(seed):
    batch, settings = random_batch(seed), plain(gamma=0.9, upgo=True)
    value = batch.decisions.value
    usual = gae(batch.steps, value, 0.9, 0.5)
    pushed = usual + upgo(batch.steps, value, 0.9) - value[:-1]
    found = estimate(settings, batch)
    same(found.advantage, acting(pushed, batch.steps.seat))
    same(found.target, usual + value[:-1])
    assert np.abs(pushed - usual).max() > 0.1


def test_values_of_three_seats_have_a_chain_each():
    batch, spec = random_batch(5), Spec(3, Discrete(A))
    rng = np.random.default_rng(1)
    reward, value = (rng.normal(size=(T + 1, N, 3)).astype(np.float32) for _ in range(2))
    steps = batch.steps._replace(reward=reward, seat=rng.integers(0, 3, (T + 1, N)))
    found = estimate(plain(gamma=0.9), batch._replace(steps=steps), value, spec=spec)
    wanted = gae(steps, value, 0.9, 0.5)
    same(found.advantage, acting(wanted, steps.seat))
    same(found.target, wanted + value[:-1])


def test_what_is_new_counts_on_from_game_to_game():
    """Rewards of 1 and a critic that expects nothing, with trace 1: 1, 1 + ½, 1 + ½ + ¼, … also where a game ends."""
    settings = plain(int_coef=2.0, int_gamma=0.5, gae_lambda=1.0)
    batch = one_row()._replace(intrinsic=np.ones((6, 1, 1), np.float32))
    value = np.concatenate([batch.decisions.value, np.zeros((6, 1, 1), np.float32)], axis=-1)
    endless = np.array([1.9375, 1.875, 1.75, 1.5, 1.0])
    found = estimate(settings, batch, value, spec=SOLO)
    without = estimate(plain(gae_lambda=1.0), batch, value[..., :1], spec=SOLO)
    same(found.target[:, 0, 1], endless)
    same(found.target[..., :1], without.target)
    same(found.advantage[:, 0], without.advantage[:, 0] + 2.0 * endless)


def test_only_own_decisions_are_brought_to_mean_0_and_deviation_1():
    batch = random_batch(7)
    counts = valid(batch.steps) & batch.own
    raw = np.asarray(estimate(plain(), batch).advantage)
    found = np.asarray(estimate(plain(norm_adv=True), batch).advantage)
    same(found[counts], (raw[counts] - raw[counts].mean()) / raw[counts].std())
    assert (found[~counts] == 0).all() and not counts.all()
    assert abs(raw[counts].mean()) > 1e-3  # there was something to bring there


def test_advantages_that_are_all_alike_come_to_nothing():
    batch = random_batch(7)
    dull = batch.steps._replace(reward=np.zeros_like(batch.steps.reward))
    found = estimate(plain(norm_adv=True), batch._replace(steps=dull), np.zeros_like(batch.decisions.value))
    assert (np.asarray(found.advantage) == 0).all()
