"""Every setting of every network with every possible value: the agent works, or a LudusError explains why not.

Agents are traced, not compiled: this checks shapes and structure, and is fast.
"""

import contextlib
import dataclasses
import functools
from typing import get_args, get_type_hints

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_cards import SMALL_CARDS, some_cards

from ludus.agents.neural import agent as deep
from ludus.agents.neural import world_model
from ludus.agents.neural.networks import own, shapes_of
from ludus.agents.neural.networks.recurrent import RNNAgent
from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.algorithms.ppo import PPO, compile_ahead
from ludus.algorithms.ppo import update as learning
from ludus.pool import Pool
from ludus.training import config, runs
from ludus.types import Continuous, Discrete, LudusError, Spec, Step

ROWS = 2
SETTINGS = PPO(agent="rnn", rollout_length=2, update_epochs=1, num_minibatches=1, devices=1)
SMALL = {
    "num_layers": 1, "num_channels": 16, "rnn_channels": 16, "rwkv_head_size": 8, "memory_length": 4,
    "critic_width": 16, "critic_depth": 1, "embedding_shape": (999, 8),
}  # fmt: skip
NUMBERS = {
    "version": (1,), "num_channels": (32,), "rnn_channels": (32,), "embedding_shape": (1000, (), (1000, 4)),
    "width": (8,), "latent_dim": (16,), "actor_dims": ((8,), (8, 8)),
    "critic_dims": ((8,), (8, 8)), "temperature": (1.0,), "min_std": (0.0,), "max_std": (0.5,), "optimism": (0.0,),
    "num_elites": (1,), "num_pi_trajs": (0,), "network": ("SmallNetwork",),
}  # fmt: skip
"""values other than the default; 2 for all other numbers"""
REFUSED = {
    "reference": "no reference network",
    "q_head": "q_head gives action values, but this agent needs a policy and a value; set model.q_head to false",
    "int_head": "int_head is the value of intrinsic rewards, but there are none; set int_coef above 0",
}
ALONE = {"switch": "switch is for sequences of two seats", "oppo_info": "this game has neither; turn it off"}
"""the same for games with one seat"""
OF_CARDS = (
    "num_layers", "num_channels", "use_history", "card_mask", "noam", "action_feats", "version", "freeze_id",
    "embedding_shape",
)  # fmt: skip


def values(kind):
    """(name, value) for every field: the other boolean, every word, or another number."""
    hints, found = get_type_hints(kind), []
    for field in dataclasses.fields(kind):
        if hints[field.name] is bool:
            others = (not field.default,)
        elif field.name in NUMBERS or not get_args(hints[field.name]):
            others = NUMBERS.get(field.name, (2,))
        else:
            others = get_args(hints[field.name])
        found += [(field.name, value) for value in others]
    return found


class SmallNetwork(nn.Module):
    """A user's own network for tic-tac-toe (9 logits) and the car (mean and log deviation of 2 actions)."""

    actions: Discrete | Continuous

    @nn.compact
    def __call__(self, x):
        if isinstance(self.actions, Continuous):
            size = len(self.actions.low)
            return (nn.Dense(size)(x), jnp.zeros(size)), nn.Dense(1)(x)
        return nn.Dense(self.actions.n)(x), nn.Dense(1)(x)


@functools.cache
def opened(game):
    return Pool(game, ROWS, 3, threads=1)


def check_plays(agent, step):
    """Check the shapes of a decision, and that memories keep their shapes."""
    params = shapes_of(agent.network)
    shown, before = agent.shown(step.observation, step.mask), jax.eval_shape(lambda: agent.memory(ROWS))
    given = shown, step.mask, step.seat, step.first
    decision, after = jax.eval_shape(functools.partial(deep._act, agent), params, before, *given, np.uint32(0))
    assert decision.value.shape == (ROWS, agent.spec.seats) and decision.log_prob.shape == (ROWS,)
    assert jax.tree.leaves(after) == jax.tree.leaves(before)


@pytest.fixture
def check_learns(monkeypatch):
    """Trace an update of PPO for booleans and words; sizes make no difference."""
    monkeypatch.setattr(jax.stages.Lowered, "compile", lambda lowered: None)

    def check(agent, value, observation):
        if isinstance(value, bool | str):
            facts = deep.GameFacts("", agent.spec, observation, None)
            learning.compile_update(SETTINGS, agent, compile_ahead.rollout_like(SETTINGS, agent, facts, ROWS))

    return check


@pytest.mark.parametrize(
    ("game", "name", "value"),
    [("tictactoe", *pair) for pair in values(ModelArgs)] + [("car", name, True) for name in ALONE],
)
def test_every_setting_of_the_rnn_agent_works_in_a_game(check_learns, game, name, value):
    pool, args = opened(game), ModelArgs(**SMALL | {name: value})
    refused = REFUSED | (ALONE if game == "car" else {})
    with pytest.raises(LudusError, match=refused[name]) if name in refused else contextlib.nullcontext():
        agent = deep.new_agent(pool, args)
        check_plays(agent, pool.step)
        check_learns(agent, value, pool.observation)


@pytest.mark.parametrize(("name", "value"), [pair for pair in values(ModelArgs) if pair[0] in OF_CARDS])
def test_every_setting_that_reads_cards_works_with_cards(name, value):
    """With entities, ids, padding, past actions, and actions that refer to entities."""
    spec = Spec(2, Discrete(12), zero_sum=True)
    agent = deep.DeepAgent(RNNAgent(SMALL_CARDS, ModelArgs(**SMALL | {name: value}), 1, spec.actions, 2), spec)
    mask, zeros = np.arange(12) < np.full((ROWS, 1), 5), np.zeros(ROWS, np.int8)
    step = Step(some_cards(ROWS), mask, zeros, np.zeros((ROWS, 2)), np.ones(ROWS), np.zeros(ROWS, bool))
    check_plays(agent, step)
    steps = agent.packed(jax.tree.map(lambda array: np.stack([array] * 3), step))
    evaluated = jax.eval_shape(
        lambda params: agent.evaluate(params, agent.memory(ROWS), steps), shapes_of(agent.network)
    )
    assert evaluated.value.shape == (3, ROWS, 2) and evaluated.policy.shape == (3, ROWS, 12)


@pytest.mark.parametrize(("name", "value"), values(MLPArgs))
@pytest.mark.parametrize("game", ["tictactoe", "car"])
def test_every_setting_of_the_mlp_agent_works(check_learns, game, name, value):
    pool = opened(game)
    own.register(SmallNetwork(pool.spec.actions))
    agent = deep.new_agent(pool, MLPArgs(**{name: value}))
    check_plays(agent, pool.step)
    check_learns(agent, value, pool.observation)


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, *pair) for kind in (WorldModelArgs, PlannerArgs) for pair in values(kind)]
)
def test_every_setting_of_the_world_model_works(kind, name, value):
    pool, chosen = (
        opened("car"),
        kind(**{"simnorm_dim": 4} | {name: value} if kind is WorldModelArgs else {name: value}),
    )
    sizes, plan = (chosen, PlannerArgs()) if kind is WorldModelArgs else (WorldModelArgs(), chosen)
    agent = world_model.new_agent(pool, sizes, plan, 0.98, 1.0)
    params = jax.eval_shape(lambda: world_model.initial_params(agent, jnp.uint32(0)))
    seen, memory = agent.flatten(pool.step.observation), agent.memory(ROWS)
    decision, after = jax.eval_shape(
        lambda params: world_model._act(agent, params, memory, seen, pool.step.first, 0), params
    )
    assert decision.action.shape == (ROWS, 2) and decision.value.shape == (ROWS, 1)
    assert jax.tree.map(np.shape, memory) == jax.tree.map(np.shape, after)
    dream = jax.eval_shape(lambda params: world_model._imagine(agent, params, seen, 3), params)
    assert dream[0].shape == (4, ROWS, 6) and dream[1].shape == (3, ROWS, 2)


def test_intrinsic_rewards_set_int_head():
    pool = opened("tictactoe")
    for args in (ModelArgs(**SMALL), ModelArgs(**SMALL, int_head=True)):
        assert deep.new_agent(pool, args, curious=True).network.args.int_head


def test_run_with_q_head_is_rejected_at_its_start(tmp_path):
    settings = {"game": "tictactoe", "algorithm": "ppo", "agent": "rnn", "model": {"q_head": True}}
    with pytest.raises(LudusError, match=r"this agent needs a policy and a value; set model\.q_head to false"):
        runs.start(config.from_dict(settings, "the test"), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
