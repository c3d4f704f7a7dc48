"""Agents with a network: legal actions, repeatable decisions, and `evaluate` consistent with `act`."""

import functools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ludus import games
from ludus.agents import checkpoint
from ludus.agents.neural import agent as deep
from ludus.agents.neural import devices, distributions
from ludus.agents.neural.networks import shapes_of
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.algorithms.opponents import Opponents
from ludus.algorithms.protocol import Desk
from ludus.algorithms.rollout_worker import RolloutWorker
from ludus.bridges import open_pool
from ludus.types import Continuous, Discrete, LudusError, Spec

devices.start()
ARGS = {
    "mlp": MLPArgs(width=8, depth=1),
    "rnn": ModelArgs(num_layers=1, num_channels=16, rnn_channels=8, rnn_type="gru", critic_width=8, critic_depth=1,
                     film=False, action_feats=False, version=1),
}  # fmt: skip
ROWS, LENGTH = 6, 12


def random_params(agent, seed=0):
    """Random parameters, which need no compiled initialiser and prefer some actions."""
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda leaf: rng.normal(0.0, 0.4, leaf.shape).astype(leaf.dtype), shapes_of(agent.network))


@functools.cache
def played(game, kind):
    """An agent, its parameters and one of its rollouts."""
    pool = open_pool(game, ROWS, 3)
    agent = deep.new_agent(pool, ARGS[kind])
    params = random_params(agent)
    worker = RolloutWorker(pool, agent, Opponents(("self",), pool, agent, 0), Desk(3, 0, 1, 5))
    worker.publish({"params": params}, 0)
    worker.work()  # so that the memory is not empty when the rollout begins
    worker.desk = Desk(3, 0, 1, LENGTH)
    return agent, params, worker.work()


@pytest.mark.parametrize("kind", ARGS)
@pytest.mark.parametrize("game", games.names())
def test_every_game_is_played_legally(game, kind):
    agent, _, rollout = played(game, kind)
    actions, log_prob, value = rollout.decisions
    wide = ROWS * agent.spec.views
    assert log_prob.shape == (LENGTH, wide) and value.shape == (LENGTH + 1, wide, agent.spec.seats)
    assert np.isfinite(log_prob).all() and np.isfinite(value).all()
    if isinstance(agent.spec.actions, Continuous):
        assert actions.dtype == np.float64 and actions.std() > 0
        assert (actions >= agent.spec.actions.low).all() and (actions <= agent.spec.actions.high).all()
    else:
        assert np.take_along_axis(rollout.steps.mask[:-1], actions[..., None], axis=-1).all()
        assert (log_prob <= 1e-6).all()
    if agent.spec.zero_sum:
        np.testing.assert_allclose(value.sum(axis=-1), 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("game", "kind"),
    [("recall", "rnn"), ("goofspiel", "rnn"), ("connect4", "rnn"), ("car", "mlp"), ("tictactoe", "mlp")],
)
def test_evaluate_agrees_with_act(game, kind):
    """The ratio of PPO starts at 1, with memory, several seats, games that end, and the last value."""
    agent, params, rollout = played(game, kind)
    evaluated = jax.jit(agent.evaluate)(params, rollout.memory, rollout.steps)
    policy = evaluated.policy
    if isinstance(policy, distributions.SquashedGaussian):
        policy = policy._replace(mean=policy.mean[:-1], log_std=policy.log_std[:-1])
    else:
        policy = policy[:-1]
    found = distributions.log_prob(policy, jnp.asarray(rollout.decisions.action))
    np.testing.assert_allclose(found, rollout.decisions.log_prob, atol=1e-4)
    np.testing.assert_allclose(evaluated.value, rollout.decisions.value, atol=1e-4)
    if kind == "rnn":
        forgotten = jax.tree.map(np.zeros_like, rollout.memory)
        without = jax.jit(agent.evaluate)(params, forgotten, rollout.steps)
        assert np.abs(without.value - evaluated.value).max() > 1e-3  # there was something to remember


@pytest.mark.parametrize(("game", "kind"), [("tictactoe", "mlp"), ("car", "mlp")])
def test_greedy_agent_takes_the_most_likely_action_for_any_key(game, kind):
    agent, params, rollout = played(game, kind)
    step = jax.tree.map(lambda array: array[4], rollout.steps)
    greedy = replace(agent, greedy=True)
    one, other = (greedy.act(params, (), step, np.uint32(key))[0] for key in (1, 2))
    assert (np.asarray(one.action) == np.asarray(other.action)).all()
    policy = agent.evaluate(params, (), jax.tree.map(lambda array: array[None], step)).policy
    np.testing.assert_allclose(one.action, np.asarray(distributions.mode(policy))[0], atol=1e-6)
    drawn = [np.asarray(agent.act(params, (), step, np.uint32(key))[0].action) for key in range(8)]
    assert any((actions != drawn[0]).any() for actions in drawn)


def test_choices_equal_greedy_actions():
    agent, params, rollout = played("tictactoe", "mlp")
    step = jax.tree.map(lambda array: array[4], rollout.steps)
    greedy = np.asarray(replace(agent, greedy=True).act(params, (), step, np.uint32(0))[0].action)
    choices = agent.choices(params, step)
    assert choices.shape == (ROWS, 9) and (choices.sum(axis=1) == 1).all() and (choices.argmax(axis=1) == greedy).all()
    agent, params, rollout = played("recall", "rnn")
    with pytest.raises(LudusError, match="an agent with a memory depend on earlier steps"):
        agent.choices(params, rollout.steps)


def test_acting_is_compiled_once_for_each_number_of_rows():
    agent, params, rollout = played("tictactoe", "mlp")
    before = deep._act._cache_size()
    for t in range(LENGTH):
        agent.act(params, (), jax.tree.map(lambda array, t=t: array[t], rollout.steps), np.uint32(t))
    assert deep._act._cache_size() == before
    few = jax.tree.map(lambda array: array[0, :3], rollout.steps)
    for key in range(3):
        agent.act(params, (), few, np.uint32(key))
    assert deep._act._cache_size() == before + 1


def test_initial_parameters_depend_only_on_the_seed():
    agent, _, _ = played("tictactoe", "mlp")
    one, again, other = (jax.tree.leaves(agent.init(agent.spec, seed)) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, again, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))


SOLO, DUEL = Spec(1, Discrete(2)), Spec(2, Discrete(2), zero_sum=True)
PAIR, TRIO = Spec(2, Discrete(2)), Spec(3, Discrete(2))


@pytest.mark.parametrize(
    ("spec", "relative", "seat", "values"),
    [
        (SOLO, [[5.0], [6.0]], [0, 0], [[5.0], [6.0]]),
        (DUEL, [[5.0], [6.0]], [0, 1], [[5.0, -5.0], [-6.0, 6.0]]),
        (PAIR, [[5.0, 1.0], [6.0, 2.0]], [0, 1], [[5.0, 1.0], [2.0, 6.0]]),
        (TRIO, [[1.0, 2.0, 3.0]] * 3, [0, 1, 2], [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]]),
    ],
    ids=["alone", "zero-sum", "two", "three"],
)
def test_relative_values_are_converted_to_values_by_seat(spec, relative, seat, values):
    """The first number is that of the seat to move, the next that of the seat after it."""
    assert deep.by_seat(jnp.array(relative), jnp.array(seat), spec).tolist() == values
    assert deep.value_columns(spec) == len(relative[0])


def test_truncation_changes_only_gradients():
    """With 4 steps truncated after 2, the observation of step 0 affects the gradient of step 1, but not of 2 and 3."""
    pool = open_pool("cartpole", 1, 0)
    steps = [pool.step, *(pool.advance([0]) for _ in range(3))]
    whole, cut = (deep.new_agent(pool, ARGS["rnn"], truncation=truncation) for truncation in (0, 2))
    params, memory = random_params(whole), whole.memory(1)
    names = list(steps[0].observation)
    seen = {name: jnp.asarray(np.stack([step.observation[name] for step in steps]), jnp.float32) for name in names}
    flags = {name: np.stack([getattr(step, name) for step in steps]) for name in ("mask", "seat", "first")}

    def value(agent, observation):
        stacked = steps[0]._replace(observation=observation, reward=None, discount=None, **flags)
        return agent.evaluate(params, memory, stacked).value[:, 0, 0]

    def reach(agent):
        """The values, and [4, 4] whether the value of a step (row) depends on the observation of a step (column)."""
        twice = jax.jit(jax.jacrev(lambda observation: (value(agent, observation),) * 2, has_aux=True))
        by_field, values = twice(seen)
        return values, sum(np.abs(part).reshape(4, 4, -1).sum(axis=-1) for part in by_field.values()) > 0

    (values, all_before), (same_values, two_by_two) = reach(whole), reach(cut)
    assert (all_before == np.tri(4, dtype=bool)).all()
    assert (two_by_two == np.kron(np.eye(2), np.tri(2)).astype(bool)).all()
    np.testing.assert_allclose(values, same_values, atol=1e-6)


def test_agent_is_restored_from_its_description():
    pool = open_pool("tictactoe", 1, 0)
    for kind, args in ARGS.items():
        described = deep.describe(args, False, True)
        assert described["kind"] == kind
        assert deep.agent_of(pool, described) == deep.new_agent(pool, args, False, True)


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ({"kind": "oracle"}, 'unknown kind of agent "oracle"; expected one of mlp, rnn'),
        ({"kind": "mlp", "args": {"breadth": 3}}, "invalid settings of this mlp agent"),
        ({"kind": "mlp", "args": {"width": 0}}, "width is 0; it must be at least 1"),
        ({"kind": "rnn", "args": {"rnn_type": "elephant"}}, "it must be one of"),
    ],
)
def test_invalid_descriptions_raise(description, sentence):
    with pytest.raises(LudusError) as error:
        deep.agent_of(open_pool("tictactoe", 1, 0), description)
    assert sentence in str(error.value)


def test_parameters_of_another_architecture_raise():
    _, params, _ = played("tictactoe", "mlp")
    stored = checkpoint.flatten(params)
    for args, sentence in ((MLPArgs(width=16, depth=1), "is stored as float32"), (MLPArgs(8, 2), "has no")):
        other = deep.new_agent(open_pool("tictactoe", 1, 0), args)
        with pytest.raises(LudusError, match=sentence):
            checkpoint.unflatten(random_params(other), stored)
