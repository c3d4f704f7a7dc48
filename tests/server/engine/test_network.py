"""Networks compiled for a few lengths of padded sets: what is cut off does not change the answers."""

import numpy as np
import pytest

from ludus.agents.neural.agent import DeepAgent
from ludus.agents.neural.networks.games.duel.layout import LAYOUT
from ludus.agents.neural.networks.recurrent import RNNAgent
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.bench.inference import random_duel
from ludus.server.deciders import Inputs
from ludus.server.network import NetworkDecider, levels_of
from ludus.types import Discrete, Spec, Step

SPEC = Spec(2, Discrete(24), zero_sum=True)
SMALL = ModelArgs(
    num_layers=1, num_channels=16, rnn_channels=16, critic_width=16, card_mask=True, embedding_shape=(16, 4)
)


@pytest.fixture(scope="module")
def agent():
    return DeepAgent(RNNAgent(LAYOUT, SMALL, 1, SPEC.actions, seats=2), SPEC, greedy=True)


@pytest.fixture(scope="module")
def params(agent):
    return agent.init(SPEC, 0)


def inputs_of(agent, cards, rows, actions):
    mask = np.zeros((rows, 24), bool)
    mask[:, :actions] = True
    seat, first = np.arange(rows).astype(np.int8) % 2, np.zeros(rows, bool)
    return Inputs(random_duel(rows, cards), mask, seat, first, agent.memory(rows), np.zeros(rows, np.uint32))


@pytest.mark.parametrize(("cards", "actions", "level"), [(40, 8, 0), (70, 8, 1), (40, 24, 1), (150, 8, 2)])
def test_the_shortest_input_that_shows_everything_is_chosen(agent, params, cards, actions, level, decider):
    inputs = inputs_of(agent, cards, 1, actions)
    assert decider._shown(inputs)[0] == level
    outputs = decider.decide(inputs)
    step = Step(dict(inputs.observation), inputs.mask, inputs.seat, np.zeros((1, 2)), np.ones(1), inputs.first)
    decision, memory = agent.act(params, inputs.memory, step, 0)
    np.testing.assert_array_equal(outputs.action, decision.action)
    np.testing.assert_allclose(outputs.value, np.asarray(decision.value)[:, 0], atol=1e-5)
    assert outputs.probabilities[0, actions:].max(initial=0) == 0
    np.testing.assert_allclose(np.asarray(outputs.memory[0][0]), np.asarray(memory[0][0]), atol=1e-5)


@pytest.fixture(scope="module")
def decider(agent, params):
    made = NetworkDecider(agent, params, False, 1)
    made.warm(lambda rows: inputs_of(agent, 40, rows, 8), lambda *_: None)
    return made


def test_every_combination_is_compiled_before_the_first_request(decider):
    assert sorted(decider._programs) == [(1, 0), (1, 1), (1, 2)]


def test_networks_that_read_padding_have_one_length():
    plain = DeepAgent(RNNAgent(LAYOUT, ModelArgs(card_mask=False), 1, SPEC.actions, seats=2), SPEC)
    assert levels_of(plain) == ({},)
