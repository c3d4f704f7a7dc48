"""What deep agents are made of: Flax modules without state of their own; everything learned is in their parameters."""

from __future__ import annotations

import math
from typing import Any


def new_variables(network: Any, key: Any, rows: int = 1) -> Any:
    """Fresh parameters (and statistics, where a network keeps any) of an `MLPAgent` or `RNNAgent`."""
    import numpy as np

    from ludus.agents.networks.layout import blank

    return network.init(
        key, blank(network.layout, rows), network.init_rnn_state(rows), switch_or_main=np.zeros(rows, np.int32)
    )


def _sizes(tree: Any) -> list[tuple[int, int]]:
    """(numbers, bytes of one) of each array."""
    import jax

    return [(math.prod(leaf.shape), leaf.dtype.itemsize) for leaf in jax.tree.leaves(tree)]


def total_params(network: Any) -> int:
    """How many numbers the network learns; nothing is computed for it."""
    import jax

    variables = jax.eval_shape(lambda: new_variables(network, jax.random.key(0)))
    return sum(numbers for numbers, _ in _sizes(variables["params"]))


def memory_usage(network: Any, rows: int = 0) -> float:
    """Megabytes of its variables, and of what it remembers of so many rows."""
    import jax

    variables = jax.eval_shape(lambda: new_variables(network, jax.random.key(0)))
    memory = jax.eval_shape(lambda: network.init_rnn_state(rows))
    return sum(numbers * size for numbers, size in _sizes((variables, memory))) / 1e6
