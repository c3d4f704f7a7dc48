"""BalatroNet: poker hands agree with the game, and gradients reach all parameters."""

import jax
import numpy as np
import pytest

from ludus.agents.neural.agent import new_agent
from ludus.agents.neural.networks.games import balatro as net
from ludus.agents.neural.networks.mlp import MLPAgent
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.dsl import rule
from ludus.games.balatro import actions, poker, rounds
from ludus.games.balatro.state import PLAYING_HAND
from ludus.pool import Pool

ROWS = 64


@pytest.fixture(scope="module")
def pool():
    pool = Pool("balatro(scale=1e-6)", ROWS, seed=3)
    pool.play_randomly(60)
    return pool


@rule
def hand_of(state, bits):
    actions.select(state, bits)
    rounds.take_selected(state)
    poker.evaluate(state)
    return int(state.tally.hand)


def test_poker_hands_of_all_subsets_agree_with_the_game(pool):
    kinds = np.asarray(net.subsets_of(pool.step.observation)[0])
    seen = set()
    for row in range(ROWS):
        state = pool.states[row]
        if state["phase"] != PLAYING_HAND or state["rules"] or state["hand_count"] < actions.REACH:
            continue
        if (state["cards"]["flags"][state["hand"][: actions.REACH]]).any():
            continue  # face-down cards are unknown
        for index, bits in enumerate(actions.SUBSETS):
            expected = hand_of(pool.states[row].copy(), int(bits))
            assert kinds[row, index] == expected, (row, int(bits))
            seen.add(expected)
    assert len(seen) >= 5


def test_gradients_reach_all_parameters(pool):
    agent = new_agent(pool, MLPArgs(width=16))
    params = agent.init(pool.spec, 0)
    step = pool.step

    def loss(params):
        _, policy, value, _ = agent.network.apply(params, step.observation, legal=step.mask)
        return (
            np.cos(np.arange(policy.size)).reshape(policy.shape) * jax.numpy.where(step.mask, policy, 0)
        ).sum() + value.sum()

    gradients = jax.tree_util.tree_leaves_with_path(jax.grad(loss)(params)["params"])
    assert [jax.tree_util.keystr(path) for path, gradient in gradients if not np.any(gradient)] == []


def test_balatro_uses_its_own_network_by_default(pool):
    assert isinstance(new_agent(pool, MLPArgs()).network, net.BalatroNet)
    assert isinstance(new_agent(pool, MLPArgs(own=False)).network, MLPAgent)


def test_actions_are_legal(pool):
    agent = new_agent(pool, MLPArgs(width=16))
    decision, _ = agent.act(agent.init(pool.spec, 0), agent.memory(ROWS), pool.step, 1)
    assert pool.step.mask[np.arange(ROWS), decision.action].all()
