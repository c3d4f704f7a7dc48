"""`NeuralAgentService`: the operations on a recurrent agent, from its creation to checkpoints, as methods of one class.

Each is a few lines around the modules that training uses; the agents are values, and no method changes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ludus.agents import checkpoint, trained
from ludus.agents.neural.networks.settings import ModelArgs
from ludus.agents.protocol import Memory
from ludus.algorithms.ppo import PPO
from ludus.bridges import identity_of, open_pool
from ludus.types import Array, Decision, JsonObject, LudusError, PyTree, Rollout, Step

if TYPE_CHECKING:
    from ludus.agents.neural.agent import DeepAgent
    from ludus.algorithms.ppo.sharding import Batch
    from ludus.algorithms.ppo.update import State

Observation = Mapping[str, ArrayLike]
"""the arrays [B, …] of the observation by name"""


@dataclass(frozen=True, eq=False)
class NeuralAgent:
    """An agent with its parameters and the state of its optimiser."""

    agent: DeepAgent
    state: State

    @property
    def params(self) -> PyTree:
        """The variables of the network."""
        return self.state.agent

    @property
    def parameter_count(self) -> int:
        """The number of trainable parameters."""
        from ludus.agents.neural.networks import total_params

        return total_params(self.agent.network)


class NeuralAgentService:
    """Creates, runs and trains recurrent agents (`RNNAgent`) of one game by single calls.

    >>> from ludus.training.agent_service import NeuralAgentService
    >>> service = NeuralAgentService("tictactoe")
    >>> agent = service.create_agent({"num_channels": 16, "num_layers": 1, "rnn_channels": 16, "rnn_type": "gru"})
    >>> batch = service.play(agent, rows=4, steps=6)
    >>> first = {name: array[0] for name, array in batch.steps.observation.items()}
    >>> state, mask = service.init_state(agent, 4), batch.steps.mask[0]
    >>> state, logits, value, valid = service.forward_pass(agent, first, state, mask)
    >>> logits.shape, value.shape, valid.shape
    ((4, 9), (4, 1), (4,))
    >>> service.get_action_probs(logits, mask).sum(axis=1).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0]
    >>> service.sample_action(logits, mask, seed=1).shape
    (4,)
    >>> loss = service.compute_loss(agent, batch)
    >>> trained = service.update_params(agent, loss["grads"])
    >>> int(agent.state.updates), int(trained.state.updates)
    (0, 1)

    The settings of `ludus.algorithms.ppo.PPO` are those of the loss and the optimiser.
    """

    def __init__(self, game: str = "duel", settings: PPO | None = None, seed: int = 0) -> None:
        self.game, self.seed = game, seed
        self.settings = dataclasses.replace(settings or PPO(method="ppo"), agent="rnn")

    def create_agent(self, config: ModelArgs | Mapping[str, Any]) -> NeuralAgent:
        """A new agent; raises LudusError for invalid settings."""
        settings = self._settings(config)
        pool = open_pool(self.game, 1, self.seed, threads=1)
        try:
            agent = settings.new_agent(pool)
        finally:
            pool.close()
        from ludus.algorithms.ppo import update

        with _memory_errors():
            return NeuralAgent(agent, update.start(settings, agent, self.seed).state)

    def init_state(self, agent: NeuralAgent, batch_size: int) -> Memory:
        """The memory of each seat before the first step of `batch_size` games."""
        if type(batch_size) is not int or batch_size < 1:
            raise LudusError(f"batch_size is {batch_size!r}; it must be a whole number from 1")
        with _memory_errors():
            return agent.agent.memory(batch_size)

    def forward_pass(
        self, agent: NeuralAgent, obs: Observation, rstate: Memory, mask: ArrayLike | None = None,
        seat: ArrayLike | None = None, first: ArrayLike | None = None,
    ) -> tuple[Memory, Array, Array, Array]:  # fmt: skip
        """(memory, logits [B, A], value [B, 1], valid [B]) for B observations.

        `mask` [B, A] marks the legal actions, by default those that the observation lists, or all. `seat` [B] is the
        seat to move, by default 0; where `first` [B] is true a game begins, and memories are reset.
        """
        from ludus.agents.neural.networks.layout import check_ids, check_shapes
        from ludus.agents.neural.networks.settings import table_shape

        network: Any = agent.agent.network
        x = {name: np.asarray(array) for name, array in obs.items()}
        rows = check_shapes(network.layout, x)
        check_ids(network.layout, x, table_shape(network.args)[0])
        begins, seats = _flags(first, rows, "first").astype(bool), _flags(seat, rows, "seat")
        legal = None if mask is None else np.asarray(mask, bool)
        if legal is not None and legal.shape != (rows, network.actions.n):
            raise LudusError(f"mask has the shape {legal.shape}; it should be {(rows, network.actions.n)}")
        with _memory_errors():
            return _forward(network, agent.params, x, rstate, begins, seats, legal)

    def compute_value(self, agent: NeuralAgent, obs: Observation, mask: ArrayLike | None = None) -> Array:
        """[B] the value of B observations at the start of a game, for the seat that is to move."""
        rows = len(np.atleast_1d(np.asarray(next(iter(obs.values()), ()))))
        return np.asarray(self.forward_pass(agent, obs, self.init_state(agent, rows), mask)[2])[:, 0]

    def get_action_probs(self, logits: ArrayLike, mask: ArrayLike) -> Array:
        """[B, A] the probabilities of actions; 0 for illegal ones."""
        return np.exp(_log_probabilities(logits, mask))

    def sample_action(self, logits: ArrayLike, mask: ArrayLike, seed: int = 0) -> Array:
        """[B] actions drawn by their probabilities; the same seed draws the same actions."""
        import jax

        from ludus.agents.neural.distributions import categorical_sample

        return np.asarray(categorical_sample(jax.random.key(seed), _log_probabilities(logits, mask)))

    def play(self, agent: NeuralAgent, rows: int, steps: int, seed: int = 0) -> Batch:
        """A batch for `compute_loss`: `steps` decisions in each of `rows` games that the agent plays in every seat."""
        from ludus.algorithms.ppo.sharding import Batch

        pool, memory = open_pool(self.game, rows, seed), agent.agent.memory(rows)
        try:
            seen, made, start = [_copy(pool.step)], [], memory
            for number in range(steps):
                decision, memory = agent.agent.act(agent.params, memory, pool.step, seed + number)
                made.append(Decision(*map(np.asarray, decision)))
                seen.append(_copy(pool.advance(made[-1].action)))
            last = agent.agent.act(agent.params, memory, pool.step, seed)[0]
        finally:
            pool.close()
        values = np.stack([*(decision.value for decision in made), np.asarray(last.value)])
        decisions = Decision(*(np.stack(part) for part in zip(*made, strict=True)))._replace(value=values)
        return Batch(_stacked(seen), decisions, np.ones((steps, rows), bool), start)

    def compute_loss(self, agent: NeuralAgent, batch: Batch | Rollout) -> JsonObject:
        """The loss of PPO, its parts as floats, and under `grads` its gradient, for `update_params`."""
        with _memory_errors():
            rates = {name: np.float32(rate) for name, rate in self.settings.rates(0).items()}
            parts = (batch.steps, batch.decisions, batch.own, batch.memory)
            gradient, metrics = _gradient(self.settings, agent.agent, agent.state, parts, rates)
        found = {name: float(number) for name, number in metrics.items()}
        entropy = float(rates["ent_coef"]) * found["entropy"]
        loss = found["policy_loss"] + self.settings.vf_coef * found["value_loss"] - entropy
        return {"loss": loss, **found, "grads": gradient}

    def update_params(self, agent: NeuralAgent, grads: PyTree) -> NeuralAgent:
        """The agent after one step of Adam; raises LudusError for gradients that are not finite."""
        import jax

        if not all(np.isfinite(array).all() for array in jax.tree.leaves(grads)):
            raise LudusError("the gradients contain NaN or infinity; the agent is unchanged: lower the learning rate")
        rate = np.float32(self.settings.rates(0)["learning_rate"])
        with _memory_errors():
            return NeuralAgent(agent.agent, _applied(self.settings, agent.state, grads, rate))

    def save_checkpoint(self, agent: NeuralAgent, path: str | pathlib.Path) -> pathlib.Path:
        """Write a checkpoint into the folder `path`; it plays like that of a run."""
        from ludus.agents.neural.agent import describe
        from ludus.algorithms.ppo import checkpoints
        from ludus.algorithms.ppo.update import Learner

        args = agent.agent.network.args
        pool = open_pool(self.game, 1, threads=1)
        identity = identity_of(pool)
        pool.close()
        learner = Learner(agent.state, self.seed, 0, 0)
        description = describe(args, self.settings.bfloat16, False)
        manifest = checkpoint.describe(identity, description, {"kind": "ppo"}, version=learner.updates)
        stored = checkpoint.Checkpoint(manifest, checkpoints.save(learner))
        return checkpoint.save(path, learner.updates, stored)

    def load_checkpoint(self, agent: NeuralAgent, path: str | pathlib.Path) -> NeuralAgent:
        """The agent with the parameters and the optimiser of the newest checkpoint at `path`."""
        from ludus.algorithms.ppo import checkpoints

        stored = checkpoint.load(trained.newest_in(pathlib.Path(path)))
        settings = self._settings(agent.agent.network.args)
        return NeuralAgent(agent.agent, checkpoints.restore(settings, agent.agent, stored.arrays, self.seed).state)

    def _settings(self, config: object) -> PPO:
        """The settings of PPO with a network of this configuration."""
        if isinstance(config, Mapping):
            unknown = set(config) - {field.name for field in dataclasses.fields(ModelArgs)}
            if unknown:
                known = ", ".join(field.name for field in dataclasses.fields(ModelArgs))
                raise LudusError(f"unknown setting {min(map(repr, unknown))}; the settings of an agent are {known}")
            config = ModelArgs(**config)
        if not isinstance(config, ModelArgs):
            raise LudusError(f"the settings of an agent are a ModelArgs or a dict, not {type(config).__name__}")
        return dataclasses.replace(self.settings, model=config)


@contextlib.contextmanager
def _memory_errors() -> Iterator[None]:
    """Turn a lack of memory into a LudusError."""
    import jax

    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            raise LudusError("there is not enough memory; use fewer rows or a smaller network") from None
        raise


def _flags(given: ArrayLike | None, rows: int, name: str) -> Array:
    array = np.zeros(rows, np.int32) if given is None else np.asarray(given, np.int32)
    if array.shape != (rows,):
        raise LudusError(f"{name} has the shape {array.shape}, but there are {rows} observations")
    return array


def _log_probabilities(logits: ArrayLike, mask: ArrayLike) -> Any:
    import jax.numpy as jnp

    from ludus.agents.neural.distributions import log_probabilities

    numbers, legal = np.asarray(logits, np.float32), np.asarray(mask, bool)
    if numbers.ndim != 2 or numbers.shape != legal.shape or not legal.any(axis=1).all():
        raise LudusError(
            f"logits and mask need the same shape [B, A], and every row a legal action; they are {numbers.shape} and "
            f"{legal.shape}"
        )
    return log_probabilities(jnp.asarray(numbers), jnp.asarray(legal))


def _copy(step: Step) -> Step:
    """A step whose arrays the pool does not overwrite."""
    observation = {name: np.array(array) for name, array in step.observation.items()}
    return Step(observation, *map(np.array, step[1:]))


def _stacked(steps: list[Step]) -> Step:
    import jax

    return jax.tree.map(lambda *parts: np.stack(parts), *steps)


def _forward(network: Any, params: PyTree, x: PyTree, rstate: Memory, first: Array, seat: Array, legal: PyTree) -> Any:
    return _compiled_forward(network)(params, x, rstate, first, seat, legal=legal)


@functools.cache
def _compiled_forward(network: Any) -> Any:
    import jax

    return jax.jit(network.apply)


def _gradient(settings: PPO, agent: DeepAgent, state: State, parts: PyTree, rates: PyTree) -> Any:
    return _compiled_gradient(settings, agent)(state, parts, rates)


@functools.cache
def _compiled_gradient(settings: PPO, agent: DeepAgent) -> Any:
    import jax
    import jax.numpy as jnp

    from ludus.algorithms.ppo.sharding import ROWS, Batch
    from ludus.algorithms.ppo.update import gradient_of, trainable

    def of_all_rows(state: State, parts: PyTree, rates: PyTree) -> tuple[PyTree, PyTree]:
        rows, keys = jnp.arange(parts[2].shape[1]), jnp.zeros((1, 2), jnp.uint32)
        variables = trainable(state.agent, ())
        return gradient_of(settings, agent, state, variables, Batch(*parts), None, rates, rows, keys)[:2]

    def on_one_device(state: State, parts: PyTree, rates: PyTree) -> Any:
        # The objective sums over the axis of devices, which here has one element.
        mapped = jax.vmap(functools.partial(of_all_rows, state, parts, rates), axis_name=ROWS, axis_size=1)
        return jax.tree.map(lambda array: array[0], mapped())

    return jax.jit(on_one_device)


def _applied(settings: PPO, state: State, grads: PyTree, rate: Any) -> State:
    import jax
    import optax

    from ludus.algorithms.ppo.update import optimiser_of, trainable, with_trainable

    parameters = trainable(state.agent, ())
    changes, optimiser = optimiser_of(settings).update(grads, state.optimiser, parameters)
    changes = jax.tree.map(lambda change: -rate * change, changes)
    stepped = with_trainable(state, optax.apply_updates(parameters, changes), {})
    return stepped._replace(optimiser=optimiser, updates=state.updates + 1)
