"""What RLlib has learned, as plain arrays by the paths of the Flax twin's variables; no Ray and no PyTorch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.agents import checkpoint
from ludus.agents.neural.networks import new_variables, variable_shapes
from ludus.algorithms.protocol import Groups, Metrics
from ludus.algorithms.tally import DECISIONS, EPISODES, means, merged
from ludus.types import Array, LudusError, PyTree

if TYPE_CHECKING:  # env runners import this module, and JAX takes seconds and memory
    from ludus.agents.neural.agent import DeepAgent

Arrays = dict[str, Array]


class Weights(NamedTuple):
    """Parameters and the state of Adam and of the KL penalty."""

    params: Arrays
    mean: Arrays
    """first moments of the gradients"""
    square: Arrays
    """second moments"""
    gradient_steps: int
    kl_coef: float


class Unit(NamedTuple):
    """One iteration of RLlib's PPO: experience was collected and learned from."""

    weights: Weights
    tally: Array
    version: int
    notes: Metrics


class Learner(NamedTuple):
    """The progress of a run."""

    weights: Weights
    steps: int
    episodes: int

    @property
    def params(self) -> PyTree:
        """The variables of the Flax twin."""
        tree: dict[str, Any] = {}
        for path, array in self.weights.params.items():
            *branches, leaf = path.split("/")
            place = tree
            for branch in branches:
                place = place.setdefault(branch, {})
            place[leaf] = array
        return tree


def start(agent: DeepAgent, seed: int, kl_coef: float) -> Learner:
    """An untrained learner; its initial parameters are those of the Flax twin."""
    import jax

    from ludus.agents.neural import devices

    devices.start()
    params = checkpoint.flatten(jax.device_get(new_variables(agent.network, jax.random.key(seed % 2**32))))
    zeros = {name: np.zeros_like(array) for name, array in params.items()}
    return Learner(Weights(params, zeros, zeros, 0, float(np.float32(kl_coef))), 0, 0)


def update(learner: Learner, units: Sequence[Unit]) -> tuple[Learner, Metrics]:
    """The learner with the parameters that RLlib has learned in one unit."""
    (unit,) = units
    metrics = means(merged([unit.tally])) | unit.notes
    finite = all(np.isfinite(array).all() for array in unit.weights.params.values())
    steps = learner.steps + int(unit.tally[DECISIONS])
    episodes = learner.episodes + int(unit.tally[EPISODES])
    weights = unit.weights if finite else learner.weights
    return Learner(weights, steps, episodes), metrics | {"finite": float(finite)}


def save(learner: Learner) -> Groups:
    weights = learner.weights
    moments = {f"mean/{name}": array for name, array in weights.mean.items()}
    moments |= {f"square/{name}": array for name, array in weights.square.items()}
    facts = {
        "counters": np.array([learner.steps, learner.episodes, weights.gradient_steps], np.int64),
        "kl_coef": np.array([weights.kl_coef], np.float64),
    }
    return {"params": weights.params, "optimiser": moments, "learner": facts}


def restore(agent: DeepAgent, stored: Mapping[str, Mapping[str, Array]]) -> Learner:
    """The learner of a checkpoint; raises LudusError if it is of another game or other settings."""
    shapes, facts = variable_shapes(agent.network), stored.get("learner", {})
    counters, kl_coef = (facts.get(name, np.zeros(0)) for name in ("counters", "kl_coef"))
    if counters.shape != (3,) or kl_coef.shape != (1,):
        raise LudusError("it has no counters of steps; remove this checkpoint to continue from the previous one")
    params = checkpoint.unflatten(shapes, dict(stored.get("params", {})))
    moments = checkpoint.unflatten({"mean": shapes, "square": shapes}, dict(stored.get("optimiser", {})))
    mean, square = (checkpoint.flatten(moments[name]) for name in ("mean", "square"))
    weights = Weights(checkpoint.flatten(params), mean, square, int(counters[2]), float(kl_coef[0]))
    return Learner(weights, int(counters[0]), int(counters[1]))
