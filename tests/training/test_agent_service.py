"""NeuralAgentService: its example, a few steps of learning, checkpoints, and errors."""

import dataclasses
import doctest

import jax
import numpy as np
import pytest

from ludus.agents import trained
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.algorithms.ppo import PPO, update
from ludus.training import agent_service
from ludus.training.agent_service import NeuralAgentService
from ludus.types import LudusError, Rollout

SMALL = {"num_channels": 16, "num_layers": 1, "rnn_channels": 16, "critic_width": 16, "critic_depth": 1}


def test_the_example_of_its_documentation():
    assert doctest.testmod(agent_service).failed == 0


@pytest.fixture(scope="module")
def service():
    return NeuralAgentService("recall", PPO(method="ppo", learning_rate="0.002"))


@pytest.fixture(scope="module")
def agent(service):
    return service.create_agent(SMALL)


@pytest.fixture(scope="module")
def batch(service, agent):
    return service.play(agent, rows=8, steps=10, seed=3)


@pytest.fixture(scope="module")
def observation(batch):
    return {name: array[0] for name, array in batch.steps.observation.items()}


def test_an_update_is_that_of_ppo(service, agent, batch):
    """Loss, gradient and step of Adam are those of a run with one minibatch."""
    settings = dataclasses.replace(
        service._settings(ModelArgs(**SMALL)), num_minibatches=1, update_epochs=1, devices=1,
        refresh_rollouts=False, recompute_advantages=True,
    )  # fmt: skip
    tally = np.zeros(3 + 4 * agent.agent.spec.seats)
    rollout = Rollout(batch.steps, batch.decisions, batch.own, batch.memory, 0, tally, {})
    learner, metrics = update.update(settings, agent.agent, update.start(settings, agent.agent, service.seed), rollout)
    loss = service.compute_loss(agent, batch)
    for name in ("policy_loss", "value_loss", "entropy", "approx_kl"):
        assert loss[name] == pytest.approx(metrics[name], rel=1e-3, abs=1e-6)
    learned = service.update_params(agent, loss["grads"])
    before, after, expected = map(jax.tree.leaves, (agent.params, learned.params, learner.params))
    for found, wanted in zip(after, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-5)
    assert max(np.abs(new - old).max() for new, old in zip(after, before, strict=True)) > 1e-3


def test_a_step_at_a_time_agrees_with_the_decisions_of_play(service, agent, batch):
    """The values of the batch are found again by single forward passes with the memory."""
    state = service.init_state(agent, 8)
    for time in range(10):
        x = {name: array[time] for name, array in batch.steps.observation.items()}
        state, logits, value, valid = service.forward_pass(
            agent, x, state, batch.steps.mask[time], batch.steps.seat[time], batch.steps.first[time]
        )
        np.testing.assert_allclose(np.asarray(value)[:, 0], batch.decisions.value[time][:, 0], rtol=1e-4, atol=1e-5)
        chances = service.get_action_probs(logits, batch.steps.mask[time])
        taken = np.take_along_axis(chances, batch.decisions.action[time][:, None], axis=1)[:, 0]
        np.testing.assert_allclose(np.log(taken), batch.decisions.log_prob[time], rtol=1e-3, atol=1e-4)
        assert np.asarray(valid).all()


def test_values_are_those_of_the_first_step(service, agent, batch, observation):
    found = service.compute_value(agent, observation, batch.steps.mask[0])
    np.testing.assert_allclose(found, batch.decisions.value[0, :, 0], atol=1e-5)


def test_checkpoints_restore_parameters_and_play(service, agent, batch, tmp_path):
    learned = service.update_params(agent, service.compute_loss(agent, batch)["grads"])
    path = service.save_checkpoint(learned, tmp_path)
    assert path.name == "000001"
    loaded = service.load_checkpoint(agent, tmp_path)
    assert int(loaded.state.updates) == 1
    again, expected = (service.compute_loss(one, batch)["loss"] for one in (loaded, learned))
    assert again == expected != service.compute_loss(agent, batch)["loss"]
    assert trained.load(path).agent.greedy


def test_sampling_respects_the_mask(service):
    logits, mask = np.zeros((200, 3)), np.array([[True, False, True]] * 200)
    drawn = service.sample_action(logits, mask, seed=1)
    assert set(drawn.tolist()) == {0, 2}
    np.testing.assert_array_equal(drawn, service.sample_action(logits, mask, seed=1))
    np.testing.assert_allclose(service.get_action_probs(logits, mask)[0], [0.5, 0.0, 0.5])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"rnn_type": "lstn"}, "did you mean"),
        ({"layers": 2}, "unknown setting 'layers'"),
        ({"num_channels": 17}, "multiple of 16"),
        ([1], "a ModelArgs or a dict"),
    ],
)
def test_invalid_settings_are_value_errors(service, config, message):
    with pytest.raises(ValueError, match=message) as error:
        service.create_agent(config)
    assert isinstance(error.value, LudusError)


def test_invalid_inputs_are_errors(service, agent, observation):
    state = service.init_state(agent, 8)
    name = next(iter(observation))
    with pytest.raises(LudusError, match="has no"):
        service.forward_pass(agent, {}, state)
    with pytest.raises(LudusError, match="has the shape"):
        service.forward_pass(agent, observation | {name: np.zeros((8, 77))}, state)
    with pytest.raises(LudusError, match="seat has the shape"):
        service.forward_pass(agent, observation, state, seat=[0])
    with pytest.raises(LudusError, match="mask has the shape"):
        service.forward_pass(agent, observation, state, mask=[1])
    with pytest.raises(LudusError, match="batch_size is 0"):
        service.init_state(agent, 0)
    with pytest.raises(LudusError, match="every row a legal action"):
        service.get_action_probs(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(LudusError, match="NaN or infinity"):
        service.update_params(agent, {"agent": np.array([np.nan])})


def test_a_lack_of_memory_is_an_error():
    with pytest.raises(LudusError, match="not enough memory"), agent_service._memory_errors():
        raise MemoryError
