"""MPPI planning (model predictive path integral control): sample action sequences, refit to the best ones, repeat.

Williams et al. 2017, https://arxiv.org/abs/1509.01149; with action sequences of a policy as in Hansen et al. 2024,
https://arxiv.org/abs/2310.16828
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ludus.agents.neural.networks.world_model_args import PlannerArgs

Array = jax.Array


def plan(args: PlannerArgs, value_of: Callable[[Array], Array], mean: Array, pi_actions: Array, key: Array) -> Array:
    """Planned actions [H, k], starting from the mean [H, k] of the previous plan.

    `value_of` maps action sequences [S, H, k] to their values [S]. `pi_actions` [P, H, k] are the sequences of the
    actor, which are candidates in every iteration.

        μ ← Σ w a,   σ² ← Σ w (a - μ)²,   w = softmax((value - max) / (temperature · std)) over the elites
    """

    def refine(carry: tuple[Array, Array], key: Array) -> tuple[tuple[Array, Array], None]:
        mean, std = carry
        noise = jax.random.normal(key, (args.num_samples, *mean.shape))
        candidates = jnp.concatenate([jnp.clip(mean + std * noise, -1.0, 1.0), pi_actions])
        return fit_elites(args, candidates, value_of(candidates)), None

    initial = mean, jnp.full_like(mean, args.max_std)
    (mean, _), _ = jax.lax.scan(refine, initial, jax.random.split(key, args.iterations))
    return mean


def fit_elites(args: PlannerArgs, candidates: Array, values: Array) -> tuple[Array, Array]:
    """Weighted mean and standard deviation [H, k] of the elites among candidates [S, H, k] with values [S]."""
    best, indices = jax.lax.top_k(values, args.num_elites)
    weights = jax.nn.softmax((best - best[0]) / (args.temperature * (best.std() + 1e-6)))
    elites = candidates[indices]
    mean = jnp.tensordot(weights, elites, axes=1)
    std = jnp.sqrt(jnp.tensordot(weights, jnp.square(elites - mean), axes=1))
    return mean, jnp.clip(std, args.min_std, args.max_std)
