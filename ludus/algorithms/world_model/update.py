"""One update: push a rollout into the replay buffer, then take gradient steps on sequences sampled from it.

The model learns to predict, the critics to estimate returns, and the actor to maximise the return of imagined steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike

from ludus.agents.neural import devices
from ludus.agents.neural.world_model import Params, WorldModelAgent, initial_params
from ludus.algorithms.tally import means
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.objective import actor_loss, prediction_error, world_loss
from ludus.algorithms.world_model.replay import (
    Experience,
    ReplayBuffer,
    from_rollout,
    mirror_half,
    new_replay_buffer,
    push,
    sample,
)
from ludus.types import PyTree, Rollout

Array = jax.Array
FAR = 10
"""steps ahead of `ten_step_error`"""
ERRORS = ("one_step_error", "ten_step_error")
AVERAGED = ("model", "actor", "critics")
"""parameters with an exponential moving average for evaluation"""
Scheduled = Mapping[str, Array]
"""current values of the schedules"""


class State(NamedTuple):
    """Everything that an update changes, as one pytree."""

    agent: Params
    target_critics: PyTree
    """exponential moving average of the critics, for their targets"""
    model_optimiser: PyTree
    """optimiser state of model and critics"""
    actor_optimiser: PyTree
    """optimiser state of the actor"""
    updates: Array


class Learner(NamedTuple):
    """The progress of a run."""

    state: State
    replay: ReplayBuffer | None
    """None before the first update"""
    seed: int
    steps: int
    episodes: int

    @property
    def params(self) -> Params:
        """The parameters that act."""
        return self.state.agent


def start(settings: WorldModelSettings, agent: WorldModelAgent, seed: int) -> Learner:
    """An untrained learner."""
    devices.start()
    initial = jax.jit(functools.partial(new_state, settings, agent))
    return Learner(initial(np.uint32(seed % 2**32)), None, seed, 0, 0)


def new_state(settings: WorldModelSettings, agent: WorldModelAgent, seed: Array) -> State:
    """The state before the first update."""
    params = with_schedules(initial_params(agent, seed), settings.schedule_values(0))
    optimiser = optimiser_of(settings)
    model, actor = optimiser.init(model_and_critics(params)), optimiser.init(params["actor"])
    return State(params, params["critics"], model, actor, jnp.zeros((), jnp.int32))


def update(
    settings: WorldModelSettings, agent: WorldModelAgent, learner: Learner, rollout: Rollout
) -> tuple[Learner, dict[str, float]]:
    """Learn from a rollout and the replay buffer; prediction errors are measured before the rollout is learned from."""
    played = from_rollout(agent, rollout)
    times, rows = played.reward.shape
    capacity = max(settings.replay_size // rows, times)
    replay = learner.replay or new_replay_buffer(capacity, rows, agent.observation_size, agent.action_size)
    steps, episodes = learner.steps + int(rollout.tally[2]), learner.episodes + int(rollout.tally[0])
    schedules = settings.schedule_values(steps)
    arrays = {name: np.float32(value) for name, value in schedules.items()}
    key = np.random.SeedSequence([learner.seed % 2**64, int(learner.state.updates)]).generate_state(1)[0]
    work = learn if steps >= settings.learning_starts else collect
    state, pushed, device_metrics = work(settings, agent, learner.state, replay, played, arrays, key)
    metrics = {name: float(number) for name, number in jax.device_get(device_metrics).items()}
    errors = {name: metrics.pop(name) for name in ERRORS}
    finite = all(map(math.isfinite, metrics.values()))
    metrics |= {name: error for name, error in errors.items() if not math.isnan(error)}
    state, replay = (state, pushed) if finite else (learner.state, replay)
    filled = min(int(replay.pushed), replay.storage.reward.shape[0])
    metrics |= {"finite": float(finite), "replay_steps": float(filled * rows)}
    learner = Learner(state, replay, learner.seed, steps, episodes)
    return learner, metrics | schedules | means(rollout.tally) | rollout.notes


@functools.partial(jax.jit, static_argnums=(0, 1))
def collect(
    settings: WorldModelSettings, agent: WorldModelAgent, state: State, replay: ReplayBuffer, played: Experience,
    schedules: Scheduled, key: Array,
) -> tuple[State, ReplayBuffer, dict[str, Array]]:  # fmt: skip
    """The update before learning starts: push the rollout, take no gradient step."""
    errors = dict(zip(ERRORS, _errors(agent, state.agent, played), strict=True))
    params = with_schedules(state.agent, schedules)
    return state._replace(agent=params, updates=state.updates + 1), push(replay, played), errors


@functools.partial(jax.jit, static_argnums=(0, 1))
def learn(
    settings: WorldModelSettings, agent: WorldModelAgent, state: State, replay: ReplayBuffer, played: Experience,
    schedules: Scheduled, key: Array,
) -> tuple[State, ReplayBuffer, dict[str, Array]]:  # fmt: skip
    """Push the rollout and take all gradient steps of the update, in one compiled program."""
    errors = dict(zip(ERRORS, _errors(agent, state.agent, played), strict=True))
    replay = push(replay, played)
    count = max(int(settings.utd_ratio * played.reward.size), 1)
    step = functools.partial(gradient_step, settings, agent, replay, schedules)
    state, metrics = jax.lax.scan(step, state, jax.random.split(jax.random.key(key), count))
    params = with_schedules(state.agent, schedules)
    return state._replace(agent=params, updates=state.updates + 1), replay, jax.tree.map(jnp.mean, metrics) | errors


def prediction_errors(agent: WorldModelAgent, params: Params, rollout: Rollout) -> tuple[float, float]:
    """Mean squared errors of the observations predicted one and ten steps ahead in a rollout."""
    one, far = jax.jit(_errors, static_argnums=0)(agent, params, from_rollout(agent, rollout))
    return float(one), float(far)


def _errors(agent: WorldModelAgent, params: Params, played: Experience) -> tuple[Array, Array]:
    near, far = 1, min(FAR, played.reward.shape[0])
    return prediction_error(agent, params, played, near), prediction_error(agent, params, played, far)


def gradient_step(
    settings: WorldModelSettings,
    agent: WorldModelAgent,
    replay: ReplayBuffer,
    schedules: Scheduled,
    state: State,
    key: Array,
) -> tuple[State, dict[str, Array]]:
    """One gradient step on a batch of sequences: first of model and critics, then of the actor in the new model."""
    sample_key, target_key, imagine_key = jax.random.split(key, 3)
    oversampling = schedules["terminal_oversampling"]
    sequences, mask = sample(replay, sample_key, settings.horizon, settings.batch_size, oversampling)
    if agent.mirror:
        sequences = mirror_half(agent.mirror, sequences, jax.random.fold_in(key, 3))
    learned = model_and_critics(state.agent)
    objective = functools.partial(
        world_loss, settings, agent, state.agent, state.target_critics, sequences, mask, target_key
    )
    gradients, (latents, metrics) = jax.grad(objective, has_aux=True)(learned)
    learned, model_optimiser = apply_gradients(settings, schedules, gradients, state.model_optimiser, learned)
    params = {**state.agent, **learned}
    imagined = functools.partial(actor_loss, settings, agent, params, latents, mask, imagine_key)
    loss, actor_gradients = jax.value_and_grad(imagined)(params["actor"])
    params["actor"], actor_optimiser = apply_gradients(
        settings, schedules, actor_gradients, state.actor_optimiser, params["actor"]
    )
    target_critics = optax.incremental_update(params["critics"], state.target_critics, 1.0 - settings.target_ema_decay)
    newest = {name: params[name] for name in AVERAGED}
    params["ema"] = optax.incremental_update(newest, params["ema"], 1.0 - settings.ema_decay)
    metrics |= {"actor_loss": loss, "grad_norm": optax.tree.norm(gradients)}
    metrics["actor_grad_norm"] = optax.tree.norm(actor_gradients)
    return State(params, target_critics, model_optimiser, actor_optimiser, state.updates), metrics


def apply_gradients(
    settings: WorldModelSettings, schedules: Scheduled, gradients: PyTree, optimiser: PyTree, params: PyTree
) -> tuple[PyTree, PyTree]:
    """Parameters and optimiser state after one step of the optimiser."""
    changes, optimiser = optimiser_of(settings).update(gradients, optimiser, params)
    changes = jax.tree.map(lambda change: -schedules["learning_rate"] * change, changes)
    return optax.apply_updates(params, changes), optimiser


def model_and_critics(params: Params) -> Params:
    """The parameters that `world_loss` trains."""
    return {"model": params["model"], "critics": params["critics"]}


def with_schedules(params: Params, schedules: Mapping[str, ArrayLike]) -> Params:
    """The parameters with the scheduled values that the agent reads from them."""
    return params | {name: jnp.float32(schedules[name]) for name in ("exploration_noise", "planning_fraction")}


@functools.cache
def optimiser_of(settings: WorldModelSettings) -> optax.GradientTransformation:
    """Adam with gradient clipping by global norm; `apply_gradients` multiplies by the learning rate."""
    return optax.chain(optax.clip_by_global_norm(settings.max_grad_norm), optax.scale_by_adam(eps=1e-5))
