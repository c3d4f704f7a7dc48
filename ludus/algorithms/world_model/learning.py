"""One update, top to bottom: keep what was played, then follow gradients of sequences drawn from all that is kept.

The model learns to predict, the critics to judge, the actor to do what both of them find best.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ludus import devices
from ludus.agents.world_model import Params, WorldModelAgent, initialised
from ludus.algorithms.tally import means
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.experience import Experience, Ring, draw, from_rollout, new_ring, push, reflected
from ludus.algorithms.world_model.objective import actor_loss, prediction_error, world_loss
from ludus.types import Rollout

Array = jax.Array
FAR = 10
"""steps ahead of the further prediction error"""
ERRORS = ("one_step_error", "ten_step_error")
CALM = ("model", "actor", "critics")
"""what is averaged for play in earnest"""


class State(NamedTuple):
    """All that an update changes: one pytree."""

    agent: Params
    slow: Any
    """critics that follow slowly"""
    world: Any
    """of the optimiser of model and critics"""
    actor: Any
    """of the optimiser of the actor"""
    updates: Any


class Learner(NamedTuple):
    """How far a run has come."""

    state: State
    ring: Ring | None
    """None before anything was played"""
    seed: int
    steps: int
    episodes: int

    @property
    def params(self) -> Params:
        """What plays."""
        return self.state.agent


def start(settings: WorldModelSettings, agent: WorldModelAgent, seed: int) -> Learner:
    """A learner that knows nothing yet."""
    devices.start()
    begin = jax.jit(functools.partial(new_state, settings, agent))
    return Learner(begin(np.uint32(seed % 2**32)), None, seed, 0, 0)


def new_state(settings: WorldModelSettings, agent: WorldModelAgent, seed: Array) -> State:
    """The state before the first update."""
    params = with_rates(initialised(agent, seed), settings.rates(0))
    optimiser = optimiser_of(settings)
    world, actor = optimiser.init(worldly(params)), optimiser.init(params["actor"])
    return State(params, params["critics"], world, actor, jnp.zeros((), jnp.int32))


def update(
    settings: WorldModelSettings, agent: WorldModelAgent, learner: Learner, rollout: Rollout
) -> tuple[Learner, dict[str, float]]:
    """Learn from a rollout and all that is kept of earlier ones; prediction errors are those before it was seen."""
    played = from_rollout(agent, rollout)
    times, rows = played.reward.shape
    ring = learner.ring or new_ring(max(settings.replay // rows, times), rows, agent.shown, agent.actions)
    steps, episodes = learner.steps + int(rollout.tally[2]), learner.episodes + int(rollout.tally[0])
    rates = settings.rates(steps)
    given = {name: np.float32(rate) for name, rate in rates.items()}
    key = np.random.SeedSequence([learner.seed % 2**64, int(learner.state.updates)]).generate_state(1)[0]
    work = learn if steps >= settings.warmup else keep
    state, held, metrics = work(settings, agent, learner.state, ring, played, given, key)
    told = {name: float(number) for name, number in jax.device_get(metrics).items()}
    errors = {name: told.pop(name) for name in ERRORS}
    finite = all(map(math.isfinite, told.values()))
    told |= {name: error for name, error in errors.items() if not math.isnan(error)}
    state, ring = (state, held) if finite else (learner.state, ring)
    told |= {"finite": float(finite), "kept": float(min(int(ring.pushed), ring.held.reward.shape[0]) * rows)}
    return Learner(state, ring, learner.seed, steps, episodes), told | rates | means(rollout.tally) | rollout.notes


@functools.partial(jax.jit, static_argnums=(0, 1))
def keep(
    settings: WorldModelSettings, agent: WorldModelAgent, state: State, ring: Ring, played: Experience, rates: Any,
    key: Array,
) -> tuple[State, Ring, Any]:  # fmt: skip
    """The update of a learner that only looks on."""
    errors = dict(zip(ERRORS, _errors(agent, state.agent, played), strict=True))
    params = with_rates(state.agent, rates)
    return state._replace(agent=params, updates=state.updates + 1), push(ring, played), errors


@functools.partial(jax.jit, static_argnums=(0, 1))
def learn(
    settings: WorldModelSettings, agent: WorldModelAgent, state: State, ring: Ring, played: Experience, rates: Any,
    key: Array,
) -> tuple[State, Ring, Any]:  # fmt: skip
    """The update as the device does it: one program for all gradients."""
    errors = dict(zip(ERRORS, _errors(agent, state.agent, played), strict=True))
    ring = push(ring, played)
    count = max(int(settings.ratio * played.reward.size), 1)
    follow = functools.partial(gradient, settings, agent, ring, rates)
    state, told = jax.lax.scan(follow, state, jax.random.split(jax.random.key(key), count))
    params = with_rates(state.agent, rates)
    return state._replace(agent=params, updates=state.updates + 1), ring, jax.tree.map(jnp.mean, told) | errors


def prediction_errors(agent: WorldModelAgent, params: Params, rollout: Rollout) -> tuple[float, float]:
    """Mean squared errors of what is seen one step and ten steps ahead, in a rollout that was not learned from."""
    one, far = jax.jit(_errors, static_argnums=0)(agent, params, from_rollout(agent, rollout))
    return float(one), float(far)


def _errors(agent: WorldModelAgent, params: Params, played: Experience) -> tuple[Array, Array]:
    near, far = 1, min(FAR, played.reward.shape[0])
    return prediction_error(agent, params, played, near), prediction_error(agent, params, played, far)


def gradient(
    settings: WorldModelSettings, agent: WorldModelAgent, ring: Ring, rates: Any, state: State, key: Array
) -> tuple[State, Any]:
    """Follow the gradients of one batch of sequences: the world's, then the actor's in the world so changed."""
    drawing, smoothing, imagining = jax.random.split(key, 3)
    drawn, weights = draw(ring, drawing, settings.horizon, settings.batch, rates["ends"])
    if agent.mirror:
        drawn = reflected(agent.mirror, drawn, jax.random.fold_in(key, 3))
    learned = worldly(state.agent)
    objective = functools.partial(world_loss, settings, agent, state.agent, state.slow, drawn, weights, smoothing)
    slopes, (latents, told) = jax.grad(objective, has_aux=True)(learned)
    learned, world = followed(settings, rates, slopes, state.world, learned)
    params = {**state.agent, **learned}
    imagined = functools.partial(actor_loss, settings, agent, params, latents, weights, imagining)
    missed, slopes_of_actor = jax.value_and_grad(imagined)(params["actor"])
    params["actor"], actor = followed(settings, rates, slopes_of_actor, state.actor, params["actor"])
    slow = optax.incremental_update(params["critics"], state.slow, 1.0 - settings.slowness)
    params["calm"] = optax.incremental_update(
        {name: params[name] for name in CALM}, params["calm"], 1.0 - settings.calm
    )
    told |= {"actor_loss": missed, "gradient": optax.tree.norm(slopes)}
    told["actor_gradient"] = optax.tree.norm(slopes_of_actor)
    return State(params, slow, world, actor, state.updates), told


def followed(settings: WorldModelSettings, rates: Any, slopes: Any, optimiser: Any, params: Any) -> tuple[Any, Any]:
    """Parameters and optimiser after a step down."""
    changes, optimiser = optimiser_of(settings).update(slopes, optimiser, params)
    changes = jax.tree.map(lambda change: -rates["learning_rate"] * change, changes)
    return optax.apply_updates(params, changes), optimiser


def worldly(params: Params) -> Params:
    """What is learned from the world, and not from imagination."""
    return {"model": params["model"], "critics": params["critics"]}


def with_rates(params: Params, rates: Any) -> Params:
    """The params with what decays in them."""
    return params | {name: jnp.float32(rates[name]) for name in ("exploration", "planning")}


@functools.cache
def optimiser_of(settings: WorldModelSettings) -> optax.GradientTransformation:
    """Adam behind a bound on the gradient's length; the learning rate comes with every update."""
    return optax.chain(optax.clip_by_global_norm(settings.max_gradient), optax.scale_by_adam(eps=1e-5))
