"""An agent with a learned world model: it acts by its actor, or plans with the model (MPPI).

The parameters hold everything that changes during training, including the exploration noise and planning fraction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.neural import devices, mppi
from ludus.agents.neural.networks import IN_A_HURRY
from ludus.agents.neural.networks.features import bounded
from ludus.agents.neural.networks.layout import Field, layout_of
from ludus.agents.neural.networks.world_model import Actor, Critics, WorldModel
from ludus.agents.neural.networks.world_model_args import PlannerArgs, WorldModelArgs
from ludus.agents.protocol import Agent, Key, Memory
from ludus.bridges import AnyPool
from ludus.types import Array as NumpyArray
from ludus.types import Continuous, Decision, JsonObject, LudusError, Mirror, PyTree, Spec, Step

Array = jax.Array
Params = dict[str, PyTree]


class ImaginedRollout(NamedTuple):
    """What the model predicts for the next H steps if the actor chooses the actions."""

    observations: NumpyArray
    """[H+1, N, D] in the units of the game, all fields concatenated; the first is the decoded current observation"""
    actions: NumpyArray
    """[H, N, k] in the units of the game"""
    rewards: NumpyArray
    """[H, N]"""
    values: NumpyArray
    """[H+1, N] expected discounted return from each step on"""


@dataclass(frozen=True)
class WorldModelAgent(Agent):
    """Acts by a world model. With `evaluating` it does not explore, and `plan_at_evaluation` decides if it plans."""

    args: WorldModelArgs
    planner: PlannerArgs
    spec: Spec
    fields: tuple[Field, ...]
    gamma: float = 0.99
    reward_scale: float = 1.0
    """factor between rewards of the game and rewards in the model"""
    noise_correlation: float = 0.0
    """correlation of the exploration noise of two consecutive steps"""
    evaluating: bool = False
    """act with the EMA parameters and without exploration"""
    plan_at_evaluation: bool = False
    mirror: Mirror | None = None
    """mirror symmetry of the game, if sequences are augmented with it"""

    @property
    def observation_size(self) -> int:
        """D: numbers in an observation."""
        return sum(field.size for field in self.fields)

    @property
    def action_size(self) -> int:
        """k: numbers in an action."""
        return len(self.action_bounds.low)

    @property
    def action_bounds(self) -> Continuous:
        """Low and high of each number in an action; `new_agent` rejects games with other actions."""
        assert isinstance(self.spec.actions, Continuous)
        return self.spec.actions

    @property
    def model(self) -> WorldModel:
        return WorldModel(self.args, self.observation_size, self.action_size)

    @property
    def actor(self) -> Actor:
        return Actor(self.args, self.action_size)

    @property
    def critics(self) -> Critics:
        return Critics(self.args)

    def init(self, spec: Spec, key: Key) -> Params:
        """New parameters."""
        devices.start()
        return _initialiser(self)(np.uint32(int(key) % 2**32))

    def memory(self, rows: int) -> Memory:
        """The plan of the previous step [rows, H, k] and, in training, its noise [rows, k]; () without planning."""
        plan = np.zeros((rows, self.planner.horizon, self.action_size), np.float32)
        if self.evaluating:
            return {"plan": plan} if self.plan_at_evaluation else ()
        return {"plan": plan, "noise": np.zeros((rows, self.action_size), np.float32)}

    def act(self, params: Params, memory: Memory, step: Step, key: Key) -> tuple[Decision, Memory]:
        """Decide for N rows."""
        decision, memory = _act(self, params, memory, self.flatten(step.observation), step.first, key)
        action = np.clip(np.asarray(decision.action, np.float64), *self.action_bounds)
        return decision._replace(action=action), memory

    def imagine(self, params: Params, step: Step, horizon: int, key: Key = 0) -> ImaginedRollout:
        """Imagined rollout of the actor; model and actor are deterministic, so `key` has no effect."""
        return ImaginedRollout(*map(np.asarray, _imagine(self, params, self.flatten(step.observation), horizon)))

    def flatten(self, observation: Mapping[str, NumpyArray]) -> NumpyArray:
        """All fields of an observation as one row [..., D], scaled to -1..1 where the game declares bounds."""
        rows = [observation[field.name] for field in self.fields]
        lead = rows[0].ndim - len(self.fields[0].shape)
        flat = np.concatenate([np.reshape(row, (*row.shape[:lead], -1)) for row in rows], axis=-1)
        middle, half = self.observation_scale
        return (flat.astype(np.float32) - middle) / half

    @functools.cached_property
    def observation_scale(self) -> tuple[NumpyArray, NumpyArray]:
        """Middle and half width [D] of the bounds of an observation; 0 and 1 where there are none."""
        known, low, high = (np.concatenate(parts) for parts in zip(*map(bounded, self.fields), strict=True))
        middle, half = np.where(known, (low + high) / 2, 0.0), np.where(known, (high - low) / 2, 1.0)
        return middle.astype(np.float32), half.astype(np.float32)

    def unscale_action(self, action: Array) -> Array:
        """Actions between -1 and 1 in the units of the game."""
        low, high = (jnp.asarray(end, jnp.float32) for end in self.spec.actions)
        return low + (action + 1.0) * (high - low) / 2.0

    def scale_action(self, action: NumpyArray) -> NumpyArray:
        """Actions of the game scaled to -1..1."""
        low, high = (np.asarray(end, np.float32) for end in self.spec.actions)
        return (np.asarray(action, np.float32) - low) / (high - low) * 2.0 - 1.0


def new_agent(
    pool: AnyPool, args: WorldModelArgs, planner: PlannerArgs, gamma: float, reward_scale: float
) -> WorldModelAgent:
    """An agent for the games of a pool; raises LudusError if a world model does not support them."""
    spec = pool.spec
    if spec.seats != 1:
        raise LudusError(f"{pool.name} has {spec.seats} seats; world_model supports games with one seat: use ppo")
    if not isinstance(spec.actions, Continuous):
        raise LudusError(f"{pool.name} has discrete actions; world_model supports continuous actions only: use ppo")
    if not np.isfinite([spec.actions.low, spec.actions.high]).all():
        raise LudusError(f"{pool.name} has unbounded actions; world_model needs finite action bounds")
    layout = layout_of(pool.observation, spec)
    floats = all(array.dtype.startswith("float") and len(array.shape) <= 1 for array in layout.shown)
    if layout.sets or not floats or any(field.kind != "number" for field in layout.globals):
        raise LudusError(f"the observation of {pool.name} is not a vector of floats, which world_model needs: use ppo")
    mirror = getattr(pool.compiled.game.rules, "MIRROR", None) if pool.compiled is not None else None
    return WorldModelAgent(args, planner, spec, layout.globals, gamma, reward_scale, mirror=mirror)


def describe(
    args: WorldModelArgs, planner: PlannerArgs, gamma: float, reward_scale: float, plan_at_evaluation: bool
) -> JsonObject:
    """The agent as data for the manifest of a checkpoint; `agent_of` reads it."""
    plain = [
        {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(part).items()}
        for part in (args, planner)
    ]
    described = {"kind": "world_model", "args": plain[0], "planner": plain[1], "gamma": gamma}
    return described | {"reward_scale": reward_scale, "plan_at_evaluation": plan_at_evaluation}


def agent_of(pool: AnyPool, description: JsonObject) -> WorldModelAgent:
    """The agent that the manifest of a checkpoint describes."""
    try:
        sizes = description["args"].items()
        args: JsonObject = {name: tuple(value) if isinstance(value, list) else value for name, value in sizes}
        parts = WorldModelArgs(**args), PlannerArgs(**description["planner"])
        agent = new_agent(pool, *parts, float(description["gamma"]), float(description["reward_scale"]))
        return replace(agent, plan_at_evaluation=bool(description["plan_at_evaluation"]))
    except (TypeError, KeyError, AttributeError) as error:
        raise LudusError(
            f"the manifest of this checkpoint does not describe a world_model agent of this version: {error};"
            " train the agent again"
        ) from None


@functools.cache
def _initialiser(agent: WorldModelAgent) -> Callable[[np.uint32], Params]:
    return jax.jit(functools.partial(initial_params, agent), compiler_options=IN_A_HURRY)


def param_shapes(agent: WorldModelAgent) -> Params:
    """The tree of `initial_params` with the shape and type of each array instead of its values; computes nothing."""
    return jax.eval_shape(functools.partial(initial_params, agent), np.uint32(0))


def initial_params(agent: WorldModelAgent, seed: Array | np.uint32) -> Params:
    """New parameters; a pure function of the seed, for use inside a jitted function."""
    model, actor, critics = jax.random.split(jax.random.key(seed), 3)
    observation, action = jnp.zeros((1, agent.observation_size)), jnp.zeros((1, agent.action_size))
    latent = jnp.zeros((1, agent.args.latent_dim))
    learned = {
        "model": agent.model.init(model, observation, action)["params"],
        "actor": agent.actor.init(actor, latent)["params"],
        "critics": agent.critics.init(critics, latent, action)["params"],
    }
    return learned | {"ema": learned, "exploration_noise": jnp.float32(0.0), "planning_fraction": jnp.float32(0.0)}


class WorldModelFunctions(NamedTuple):
    """The networks of an agent applied with given parameters, as functions of arrays.

    An evaluating agent uses the exponential moving average of the parameters, which varies less between updates.
    """

    agent: WorldModelAgent
    params: Params

    def _variables(self, name: str) -> dict[str, PyTree]:
        return {"params": (self.params["ema"] if self.agent.evaluating else self.params)[name]}

    def _model(self, method: str, *inputs: Array) -> Array:
        output: PyTree = self.agent.model.apply(self._variables("model"), *inputs, method=method)
        return output

    def encode(self, observation: Array) -> Array:
        return self._model("encode", observation)

    def next(self, latent: Array, action: Array) -> Array:
        return self._model("next", latent, action)

    def reward(self, next_latent: Array) -> Array:
        return self._model("reward", next_latent)

    def continue_logit(self, next_latent: Array) -> Array:
        return self._model("continue_logit", next_latent)

    def decode(self, latent: Array) -> Array:
        return self._model("decode", latent)

    def act(self, latent: Array) -> Array:
        output: PyTree = self.agent.actor.apply(self._variables("actor"), latent)
        return output

    def pre_tanh(self, latent: Array) -> Array:
        """Actions before the final tanh."""
        output: PyTree = self.agent.actor.apply(self._variables("actor"), latent, method="pre_tanh")
        return output

    def q_values(self, latent: Array, action: Array, critics: PyTree = None) -> Array:
        """[critics, ...] Q values by the given critic parameters, by default those in `params`."""
        chosen = self._variables("critics") if critics is None else {"params": critics}
        output: PyTree = self.agent.critics.apply(chosen, latent, action)
        return output

    def estimate_value(self, latent: Array, actions: Array) -> Array:
        """Values [...] of action sequences [..., H, k] from latents [..., L].

        Σ γᵗ cᵗ r + γᴴ cᴴ Q(z, π(z)), where c is the probability that the episode has continued so far. Q is the mean
        of the critics; in training plus `optimism` times their standard deviation, to explore where they disagree.
        """

        def step(carry: tuple[Array, Array, Array], action: Array) -> tuple[tuple[Array, Array, Array], None]:
            latent, total, discount = carry
            latent = self.next(latent, action)
            total = total + discount * self.reward(latent)
            return (latent, total, discount * self.agent.gamma * jax.nn.sigmoid(self.continue_logit(latent))), None

        initial = latent, jnp.zeros(latent.shape[:-1]), jnp.ones(latent.shape[:-1])
        (latent, total, discount), _ = jax.lax.scan(step, initial, jnp.moveaxis(actions, -2, 0))
        q_values = self.q_values(latent, self.act(latent))
        optimism = 0.0 if self.agent.evaluating else self.agent.planner.optimism
        return total + discount * (q_values.mean(axis=0) + optimism * q_values.std(axis=0))


@functools.partial(jax.jit, static_argnums=0)
def _act(
    agent: WorldModelAgent, params: Params, memory: Memory, observation: Array, first: Array, key: Array
) -> tuple[Decision, Memory]:
    functions = WorldModelFunctions(agent, params)
    latent = functions.encode(observation)
    if not agent.evaluating:
        action, memory = _explore(functions, latent, memory, first, jax.random.key(key))
    elif agent.plan_at_evaluation:
        action, plan = _plan(functions, latent, memory["plan"], first, _row_keys(key, len(latent)))
        memory = {"plan": plan}
    else:
        action, memory = functions.act(latent), ()
    value = functions.q_values(latent, action).mean(axis=0)[:, None] / agent.reward_scale
    return Decision(agent.unscale_action(action), jnp.zeros(action.shape[0]), value), memory  # type: ignore[arg-type]


def _row_keys(key: Array, rows: int) -> Array:
    """A key for each row: from its own seed, or from one seed for all."""
    return jax.vmap(jax.random.key)(key) if key.ndim else jax.random.split(jax.random.key(key), rows)


def _explore(
    functions: WorldModelFunctions, latent: Array, memory: Memory, first: Array, key: Array
) -> tuple[Array, Memory]:
    """Actions in training: planned with probability `planning_fraction`, otherwise the actor's, plus noise."""
    choice_key, plan_key, noise_key = jax.random.split(key, 3)
    action, plan = jax.lax.cond(
        jax.random.uniform(choice_key) < functions.params["planning_fraction"],
        lambda: _plan(functions, latent, memory["plan"], first, jax.random.split(plan_key, len(latent))),
        lambda: (functions.act(latent), jnp.zeros_like(memory["plan"])),
    )
    correlation = functions.agent.noise_correlation
    innovation = (1.0 - correlation**2) ** 0.5 * jax.random.normal(noise_key, action.shape)
    noise = innovation + correlation * jnp.where(first[:, None], 0.0, memory["noise"])
    action = jnp.clip(action + functions.params["exploration_noise"] * noise, -1.0, 1.0)
    return action, {"plan": plan, "noise": noise}


def _plan(
    functions: WorldModelFunctions, latent: Array, previous: Array, first: Array, keys: Array
) -> tuple[Array, Array]:
    """The first action of a plan for each row [N, k], and the plans [N, H, k] shifted by one step; `keys` are [N]."""
    args = functions.agent.planner
    previous = jnp.where(first[:, None, None], 0.0, previous)

    def plan_row(latent: Array, mean: Array, key: Array) -> Array:
        pi_key, sample_key = jax.random.split(key)
        pi_actions = _pi_actions(functions, latent, pi_key)

        def value_of(actions: Array) -> Array:
            return functions.estimate_value(jnp.broadcast_to(latent, (len(actions), *latent.shape)), actions)

        return mppi.plan(args, value_of, mean, pi_actions, sample_key)

    plans = jax.vmap(plan_row)(latent, previous, keys)
    return plans[:, 0], jnp.concatenate([plans[:, 1:], jnp.zeros_like(plans[:, :1])], axis=1)


def _pi_actions(functions: WorldModelFunctions, latent: Array, key: Array) -> Array:
    """[P, H, k] action sequences of the actor with noise of `min_std`, rolled out in the model."""
    args = functions.agent.planner
    if not args.num_pi_trajs:
        return jnp.zeros((0, args.horizon, functions.agent.action_size))

    def step(latent: Array, key: Array) -> tuple[Array, Array]:
        action = add_action_noise(functions.act(latent), args.min_std, key)
        return functions.next(latent, action), action

    initial = jnp.broadcast_to(latent, (args.num_pi_trajs, *latent.shape))
    _, actions = jax.lax.scan(step, initial, jax.random.split(key, args.horizon))
    return jnp.moveaxis(actions, 0, 1)


def add_action_noise(action: Array, std: float, key: Array) -> Array:
    """An action with Gaussian noise, clipped to -1..1."""
    return jnp.clip(action + std * jax.random.normal(key, action.shape), -1.0, 1.0)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _imagine(agent: WorldModelAgent, params: Params, observation: Array, horizon: int) -> tuple[Array, ...]:
    functions = WorldModelFunctions(agent, params)

    def step(latent: Array, _: None) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        action = functions.act(latent)
        next_latent = functions.next(latent, action)
        value = functions.q_values(latent, action).mean(axis=0)
        return next_latent, (latent, action, functions.reward(next_latent), value)

    last, (latents, actions, rewards, values) = jax.lax.scan(step, functions.encode(observation), None, horizon)
    latents = jnp.concatenate([latents, last[None]])
    values = jnp.concatenate([values, functions.q_values(last, functions.act(last)).mean(axis=0)[None]])
    middle, half = agent.observation_scale
    scale = agent.reward_scale
    return functions.decode(latents) * half + middle, agent.unscale_action(actions), rewards / scale, values / scale
