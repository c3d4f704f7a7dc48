"""The losses of a world model, its critics and its actor.

    z = e(o),  ẑ' = d(ẑ, a)                                  predicted from the first observation of a sequence
    model   Σ ρᵗ [ |ẑ' - e(o')|² + (r̂(ẑ') - r)² + H(ĉ(ẑ'), c) + |ô(ẑ') - o'|² ] + |ô(z) - o|²
    critics Σ ρᵗ (Q(ẑ, a) - y)²,  y = r + γ c [(1 - λ) min Q̄(e(o'), π(e(o')) + ε) + λ y'],  Q̄ target critics
    actor   -[ Σ γᵗ ĉᵗ r̂ + γᴷ ĉᴷ min Q(z, π(z)) ] + w |u|²    over K imagined steps with actions π + ε, π = tanh u

The gradient of tanh vanishes for large |u|; the penalty w |u|² keeps the actor out of that region.

The noise ε (target policy smoothing, TD3) lowers the value of actions whose neighbours are bad, so that the actor keeps
a margin of safety.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from ludus.agents.neural.world_model import Params, WorldModelAgent, WorldModelFunctions, add_action_noise
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.replay import Experience, sequence_mask
from ludus.types import PyTree

Array = jax.Array


def world_loss(
    settings: WorldModelSettings, agent: WorldModelAgent, params: Params, target_critics: PyTree,
    sequences: Experience, mask: Array, key: Array, learned: Params,
) -> tuple[Array, tuple[Array, dict[str, Array]]]:  # fmt: skip
    """Loss of model and critics on sequences [H, B]; with the latents [H, B, L] before each step, and the metrics."""
    functions = WorldModelFunctions(agent, {**params, **learned})
    encoded = jax.lax.stop_gradient(functions.encode(sequences.next_observation))
    targets = jax.lax.stop_gradient(td_targets(settings, functions, target_critics, encoded, sequences, mask, key))
    first = functions.encode(sequences.observation[0])

    def step(latent: Array, action: Array) -> tuple[Array, Array]:
        next_latent = functions.next(latent, action)
        return next_latent, next_latent

    _, predicted = jax.lax.scan(step, first, sequences.action)
    latents = jnp.concatenate([first[None], predicted[:-1]])
    weights = settings.rho ** jnp.arange(mask.shape[0])[:, None] * mask

    def mean(errors: Array) -> Array:
        return (weights * errors).sum() / jnp.maximum(weights.sum(), 1.0)

    metrics = {
        "consistency_loss": mean(jnp.square(predicted - encoded).mean(axis=-1)),
        "reward_loss": mean(jnp.square(functions.reward(predicted) - sequences.reward)),
        "continue_loss": mean(
            optax.sigmoid_binary_cross_entropy(functions.continue_logit(predicted), sequences.continues)
        ),
        "reconstruction_loss": mean(jnp.square(functions.decode(predicted) - sequences.next_observation).mean(axis=-1))
        + mean(
            jnp.square(functions.decode(first) - sequences.observation[0]).mean(axis=-1)[None] * jnp.ones_like(weights)
        ),
        "value_loss": mean(jnp.square(functions.q_values(latents, sequences.action) - targets).sum(axis=0)),
    }
    loss = (
        settings.consistency_coef * metrics["consistency_loss"]
        + settings.reward_coef * (metrics["reward_loss"] + metrics["continue_loss"])
        + settings.reconstruction_coef * metrics["reconstruction_loss"]
        + settings.value_coef * metrics["value_loss"]
    )
    return loss, (jax.lax.stop_gradient(latents), metrics)


def td_targets(
    settings: WorldModelSettings, functions: WorldModelFunctions, target_critics: PyTree, encoded: Array,
    sequences: Experience, mask: Array, key: Array,
) -> Array:  # fmt: skip
    """TD(λ) targets of the critics [H, B]: y = r + γ c [(1 - λ) min Q̄(z', π(z') + ε) + λ y'].

    y' is the target of the next step. λ is 0 where the sequence has no next step in the same episode.
    """
    action = add_action_noise(functions.act(encoded), settings.imag_action_noise, key)
    bootstrap = functions.q_values(encoded, action, target_critics).min(axis=0)
    td_lambda = settings.td_lambda * jnp.concatenate([mask[1:], jnp.zeros_like(mask[:1])])

    def backward(next_target: Array, step: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
        reward, continues, bootstrap, td_lambda = step
        target = reward + settings.gamma * continues * (bootstrap + td_lambda * (next_target - bootstrap))
        return target, target

    steps = (sequences.reward, sequences.continues, bootstrap, td_lambda)
    _, targets = jax.lax.scan(backward, bootstrap[-1], steps, reverse=True)
    return targets


def actor_loss(
    settings: WorldModelSettings, agent: WorldModelAgent, params: Params, latent: Array, mask: Array, key: Array,
    actor: PyTree,
) -> Array:  # fmt: skip
    """Negative imagined return of the actor from latents [..., L], differentiable through the model's predictions."""
    functions = WorldModelFunctions(agent, {**params, "actor": actor})

    def step(carry: tuple[Array, Array, Array], key: Array) -> tuple[tuple[Array, Array, Array], None]:
        latent, total, discount = carry
        latent = functions.next(latent, add_action_noise(functions.act(latent), settings.imag_action_noise, key))
        total = total + discount * functions.reward(latent)
        return (latent, total, discount * agent.gamma * jax.nn.sigmoid(functions.continue_logit(latent))), None

    initial = latent, jnp.zeros(latent.shape[:-1]), jnp.ones(latent.shape[:-1])
    (latent, total, discount), _ = jax.lax.scan(step, initial, jax.random.split(key, settings.imag_horizon))
    total = total + discount * functions.q_values(latent, functions.act(latent)).min(axis=0)
    total = total - settings.action_penalty * jnp.square(functions.pre_tanh(initial[0])).sum(axis=-1)
    return -(mask * total).sum() / jnp.maximum(mask.sum(), 1.0)


def prediction_error(agent: WorldModelAgent, params: Params, steps: Experience, ahead: int) -> Array:
    """Mean squared error of the observations predicted `ahead` steps after each step of a rollout [T, N].

    Predictions use the actions only. NaN if no episode of the rollout is that long.
    """
    functions, times = WorldModelFunctions(agent, params), steps.reward.shape[0]
    starts = times - ahead + 1
    windows = jnp.arange(ahead)[:, None] + jnp.arange(starts)
    latent = functions.encode(steps.observation[:starts])
    for actions in steps.action[windows]:
        latent = functions.next(latent, actions)
    sequences = jax.tree.map(lambda array: array[windows].reshape(ahead, -1, *array.shape[2:]), steps)
    mask = sequence_mask(sequences)[-1].reshape(starts, -1)
    errors = jnp.square(functions.decode(latent) - steps.next_observation[ahead - 1 :]).mean(axis=-1)
    return jnp.where(mask.sum() > 0, (mask * errors).sum() / jnp.maximum(mask.sum(), 1.0), jnp.nan)
