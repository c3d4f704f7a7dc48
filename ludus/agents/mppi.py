"""Planning by model predictive path integrals: imagine many futures, keep what the best have in common, again.

Williams et al. 2017, https://arxiv.org/abs/1509.01149; with an actor's proposals as in Hansen et al. 2024.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ludus.agents.networks.world_model_args import PlanArgs

Array = jax.Array


def plan(args: PlanArgs, worth_of: Callable[[Array], Array], mean: Array, proposals: Array, key: Array) -> Array:
    """[H, k] the actions to take, from those planned a step ago.

    `worth_of` says what futures [S, H, k] are worth, [S]; `proposals` [P, H, k] are among them in every round.

        μ ← Σ w a,   σ² ← Σ w (a - μ)²,   w = softmax((worth - max) / (temperature · deviation)) of the elites
    """

    def refine(carry: tuple[Array, Array], key: Array) -> tuple[tuple[Array, Array], None]:
        mean, deviation = carry
        noise = jax.random.normal(key, (args.samples, *mean.shape))
        futures = jnp.concatenate([jnp.clip(mean + deviation * noise, -1.0, 1.0), proposals])
        return best_of(args, futures, worth_of(futures)), None

    begin = mean, jnp.full_like(mean, args.most)
    (mean, _), _ = jax.lax.scan(refine, begin, jax.random.split(key, args.rounds))
    return mean


def best_of(args: PlanArgs, futures: Array, worth: Array) -> tuple[Array, Array]:
    """Mean and deviation [H, k] of the elites, the better ones counting more."""
    best, places = jax.lax.top_k(worth, args.elites)
    weights = jax.nn.softmax((best - best[0]) / (args.temperature * (best.std() + 1e-6)))
    elites = futures[places]
    mean = jnp.tensordot(weights, elites, axes=1)
    deviation = jnp.sqrt(jnp.tensordot(weights, jnp.square(elites - mean), axes=1))
    return mean, jnp.clip(deviation, args.least, args.most)
