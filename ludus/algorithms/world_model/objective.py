"""What a world model makes small: errors of its predictions, of its critics, and what its actor misses.

    z = e(o),  ẑ' = d(ẑ, a)                                   from the first latent on, without looking
    model   Σ ρᵗ [ |ẑ' - e(o')|² + (r̂(ẑ') - r)² + H(ĉ(ẑ'), c) + |ô(ẑ') - o'|² ] + |ô(z) - o|²
    critics Σ ρᵗ (Q(ẑ, a) - y)²,  y = r + γ c [(1 - λ) min Q̄(e(o'), π(e(o')) + ε) + λ y'],  Q̄ slow
    actor   -[ Σ γᵗ ĉᵗ r̂ + γᴷ ĉᴷ min Q(z, π(z)) ] + w |u|²     along steps that it imagines itself, with actions + ε

where π = tanh u: far out no gradient is left behind the bend, so what leans there is drawn back before it.

The noise ε makes what only just goes well worth less, so that the actor keeps its distance.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

from ludus.agents.world_model import Mind, Params, WorldModelAgent
from ludus.algorithms.world_model import WorldModelSettings
from ludus.algorithms.world_model.experience import Experience, counted

Array = jax.Array
stopped: Any = jax.lax.stop_gradient


def world_loss(
    settings: WorldModelSettings, agent: WorldModelAgent, params: Params, slow: Any, drawn: Experience, weights: Array,
    key: Array, learned: Any,
) -> tuple[Array, Any]:  # fmt: skip
    """The loss of model and critics on sequences [H, B]; the latents [H, B, L] of it, and numbers to watch."""
    mind = Mind(agent, {**params, **learned})
    seen = stopped(mind.encode(drawn.following))
    target = stopped(targets(settings, mind, slow, seen, drawn, weights, key))
    first = mind.encode(drawn.seen[0])

    def on(latent: Array, action: Array) -> tuple[Array, Array]:
        following = mind.next(latent, action)
        return following, following

    _, imagined = jax.lax.scan(on, first, drawn.action)
    before = jnp.concatenate([first[None], imagined[:-1]])
    fading = settings.fading ** jnp.arange(weights.shape[0])[:, None] * weights

    def mean(errors: Array) -> Array:
        return (fading * errors).sum() / jnp.maximum(fading.sum(), 1.0)

    told = {
        "consistency_loss": mean(jnp.square(imagined - seen).mean(axis=-1)),
        "reward_loss": mean(jnp.square(mind.reward(imagined) - drawn.reward)),
        "continue_loss": mean(optax.sigmoid_binary_cross_entropy(mind.goes_on(imagined), drawn.goes_on)),
        "reconstruction_loss": mean(jnp.square(mind.decode(imagined) - drawn.following).mean(axis=-1))
        + mean(jnp.square(mind.decode(first) - drawn.seen[0]).mean(axis=-1)[None] * jnp.ones_like(fading)),
        "value_loss": mean(jnp.square(mind.worth(before, drawn.action) - target).sum(axis=0)),
    }
    loss = (
        settings.consistency_weight * told["consistency_loss"]
        + settings.reward_weight * (told["reward_loss"] + told["continue_loss"])
        + settings.reconstruction_weight * told["reconstruction_loss"]
        + settings.value_weight * told["value_loss"]
    )
    return loss, (stopped(before), told)


def targets(
    settings: WorldModelSettings, mind: Mind, slow: Any, seen: Array, drawn: Experience, weights: Array, key: Array
) -> Array:
    """What critics should say, [H, B]: y = r + γ c [(1 - λ) min Q̄(z', π(z') + ε) + λ y'], by the slow critics.

    y' is that of the next step, where the sequence has one in the same game; elsewhere λ is 0.
    """
    ahead = mind.worth(seen, astray(mind.act(seen), settings.smoothing, key), slow).min(axis=0)
    joined = settings.trace * jnp.concatenate([weights[1:], jnp.zeros_like(weights[:1])])

    def back(later: Array, now: Any) -> tuple[Array, Array]:
        reward, goes_on, ahead, joined = now
        found = reward + settings.discount * goes_on * (ahead + joined * (later - ahead))
        return found, found

    _, found = jax.lax.scan(back, ahead[-1], (drawn.reward, drawn.goes_on, ahead, joined), reverse=True)
    return found


def astray(action: Array, deviation: float, key: Array) -> Array:
    """An action with noise, between -1 and 1."""
    return jnp.clip(action + deviation * jax.random.normal(key, action.shape), -1.0, 1.0)


def actor_loss(
    settings: WorldModelSettings, agent: WorldModelAgent, params: Params, latent: Array, weights: Array, key: Array,
    actor: Any,
) -> Array:  # fmt: skip
    """Minus what the actor expects of following itself from latents [..., L], through the model's steps."""
    mind = Mind(agent, {**params, "actor": actor})

    def on(carry: tuple[Array, Array, Array], key: Array) -> tuple[tuple[Array, Array, Array], None]:
        latent, total, left = carry
        latent = mind.next(latent, astray(mind.act(latent), settings.smoothing, key))
        total = total + left * mind.reward(latent)
        return (latent, total, left * agent.discount * jax.nn.sigmoid(mind.goes_on(latent))), None

    begin = latent, jnp.zeros(latent.shape[:-1]), jnp.ones(latent.shape[:-1])
    (latent, total, left), _ = jax.lax.scan(on, begin, jax.random.split(key, settings.imagination))
    total = total + left * mind.worth(latent, mind.act(latent)).min(axis=0)
    total = total - settings.leaning * jnp.square(mind.unbent(begin[0])).sum(axis=-1)
    return -(weights * total).sum() / jnp.maximum(weights.sum(), 1.0)


def prediction_error(agent: WorldModelAgent, params: Params, played: Experience, ahead: int) -> Array:
    """The mean squared error of what is seen `ahead` steps after each step of a rollout [T, N], by actions alone."""
    mind, times = Mind(agent, params), played.reward.shape[0]
    starts = times - ahead + 1
    windows = jnp.arange(ahead)[:, None] + jnp.arange(starts)
    latent = mind.encode(played.seen[:starts])
    for actions in played.action[windows]:
        latent = mind.next(latent, actions)
    apart = jax.tree.map(lambda array: array[windows].reshape(ahead, -1, *array.shape[2:]), played)
    weights = counted(apart)[-1].reshape(starts, -1)
    errors = jnp.square(mind.decode(latent) - played.following[ahead - 1 :]).mean(axis=-1)
    return jnp.where(weights.sum() > 0, (weights * errors).sum() / jnp.maximum(weights.sum(), 1.0), jnp.nan)
