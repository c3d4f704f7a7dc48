"""What deep agents are made of: Flax modules without state of their own; everything learned is in their parameters."""

from __future__ import annotations

import functools
import math
from typing import Any

IN_A_HURRY: Any = {"xla_backend_optimization_level": 0}
"""for what runs once: compiling it well would take longer than it saves"""


def kinds_of(module: Any) -> dict[str, Any]:
    """The number types that a module hands on to its parts."""
    return {"dtype": module.dtype, "param_dtype": module.param_dtype}


def new_variables(network: Any, key: Any) -> Any:
    """Fresh parameters (and statistics, where a network keeps any) of an `MLPAgent` or `RNNAgent`."""
    return _initialiser(network)(key)


@functools.cache
def _initialiser(network: Any) -> Any:
    import jax

    return jax.jit(functools.partial(initialised, network), compiler_options=IN_A_HURRY)


def initialised(network: Any, key: Any) -> Any:
    """The same, for a program that does more than that."""
    import numpy as np

    from ludus.agents.networks.layout import blank

    nothing = network.read(blank(network.layout, 1)) if reads(network) else blank(network.layout, 1)
    return network.init(key, nothing, network.init_rnn_state(1), switch_or_main=np.zeros(1, np.int32))


def reads(network: Any) -> bool:
    """Whether a network makes lists of its own of an observation (`read`) before any of it is reckoned with."""
    return hasattr(network, "read")


def shapes_of(network: Any) -> Any:
    """The shapes and types of its variables; nothing is computed for it."""
    import jax

    return jax.eval_shape(lambda: initialised(network, jax.random.key(0)))


def _sizes(tree: Any) -> list[tuple[int, int]]:
    """(numbers, bytes of one) of each array."""
    import jax

    return [(math.prod(leaf.shape), leaf.dtype.itemsize) for leaf in jax.tree.leaves(tree)]


def total_params(network: Any) -> int:
    """How many numbers the network learns."""
    return sum(numbers for numbers, _ in _sizes(shapes_of(network)["params"]))


def memory_usage(network: Any, rows: int = 0) -> float:
    """Megabytes of its variables, and of what it remembers of so many rows."""
    import jax

    memory = jax.eval_shape(lambda: network.init_rnn_state(rows))
    return sum(numbers * size for numbers, size in _sizes((shapes_of(network), memory))) / 1e6
