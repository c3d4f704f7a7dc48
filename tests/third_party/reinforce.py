"""REINFORCE (Williams, 1992): an algorithm for neural networks in one module."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import tyro

from ludus.agents import checkpoint
from ludus.agents.neural import agent as neural
from ludus.agents.neural import devices, distributions
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.algorithms import rollout_worker
from ludus.algorithms.losses import policy_gradient
from ludus.algorithms.protocol import nothing_ahead
from ludus.algorithms.returns import acting, discounted_returns, valid_steps
from ludus.algorithms.settings import check_ranges
from ludus.algorithms.tally import means
from ludus.types import Discrete, LudusError


class Learner(NamedTuple):
    """The progress of a run."""

    params: Any
    optimiser: Any
    steps: int
    episodes: int


@dataclass(frozen=True)
class Reinforce:
    """The settings of a run with REINFORCE."""

    overlap: ClassVar[bool] = False
    data_parallel: ClassVar[bool] = False

    method: Annotated[str, tyro.conf.arg(name="algorithm")] = "reinforce"
    """name of the algorithm"""
    mlp: MLPArgs = field(default_factory=MLPArgs)
    """settings of the network"""
    rollout_length: int = 16
    """steps per row in one rollout; 1 or more"""
    learning_rate: float = 0.01
    """learning rate of Adam; above 0"""
    gamma: float = 1.0
    """discount factor per step; 0 to 1"""

    def __post_init__(self):
        check_ranges(self, ["rollout_length"], unit_interval=["gamma"], positive=["learning_rate"])

    @classmethod
    def defaults(cls, spec_of, steps):
        return {"num_envs": 8, "mlp": {"width": 16, "depth": 1}}

    @classmethod
    def fits(cls, name, game):
        return isinstance(game.spec.actions, Discrete)

    def count_workers(self, wanted, places):
        return wanted or 1

    def chunk(self, pool, desk, rows, wanted, longest):
        return self.rollout_length * rows

    compile_ahead = staticmethod(nothing_ahead)

    def new_agent(self, pool):
        devices.start()
        return neural.new_agent(pool, self.mlp)

    def describe(self):
        return neural.describe(self.mlp, bfloat16=False, curious=False)

    def evaluation_agent(self, agent):
        return replace(agent, greedy=True)

    def new_learner(self, agent, seed):
        params = agent.init(agent.spec, seed)
        return Learner(params, optax.adam(self.learning_rate).init(params), 0, 0)

    def new_worker(self, agent, pool, desk):
        return rollout_worker.new_worker(agent, pool, desk)

    def update(self, agent, learner, experience):
        rollout = rollout_worker.joined(experience)
        played = (rollout.steps, rollout.decisions.action, rollout.own)
        params, optimiser, loss = gradient_step(self, agent, learner.params, learner.optimiser, played)
        metrics = means(rollout.tally) | rollout.notes | {"policy_loss": float(loss)}
        steps, episodes = learner.steps + int(metrics["decisions"]), learner.episodes + int(metrics["episodes"])
        return Learner(params, optimiser, steps, episodes), metrics

    def broadcast(self, learner):
        return {"params": learner.params, "number": np.int64(0), "snapshots": {}}

    def save(self, learner):
        trees = {"params": learner.params, "optimiser": learner.optimiser}
        counters = np.array([learner.steps, learner.episodes], np.int64)
        return {name: checkpoint.flatten(jax.device_get(tree)) for name, tree in trees.items()} | {
            "learner": {"counters": counters}
        }

    def restore(self, agent, stored, seed):
        new = self.new_learner(agent, seed)
        counters = stored.get("learner", {}).get("counters", np.zeros(0))
        if counters.shape != (2,):
            raise LudusError("it has no step counters")
        params, optimiser = (
            checkpoint.unflatten(like, dict(stored.get(name, {})))
            for name, like in (("params", new.params), ("optimiser", new.optimiser))
        )
        return Learner(params, optimiser, *counters.tolist())


@functools.partial(jax.jit, static_argnums=(0, 1))
def gradient_step(settings, agent, params, optimiser, played):
    """One step of Adam on the policy gradient of a rollout."""
    steps, actions, own = played
    zeros = jnp.zeros_like(steps.reward)
    returns = discounted_returns(steps.reward, steps.discount, steps.first, zeros, settings.gamma)
    weights = valid_steps(steps.first) & own

    def loss_of(params):
        policy = agent.evaluate(params, (), jax.tree.map(lambda array: array[:-1], steps)).policy
        return policy_gradient(distributions.log_prob(policy, actions), acting(returns, steps.seat), weights)

    loss, gradient = jax.value_and_grad(loss_of)(params)
    changes, optimiser = optax.adam(settings.learning_rate).update(gradient, optimiser)
    return optax.apply_updates(params, changes), optimiser, loss


ALGORITHM = Reinforce
