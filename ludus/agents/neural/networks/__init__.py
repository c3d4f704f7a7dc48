"""Networks of deep agents: stateless Flax modules; all learned values are in their parameters."""

from __future__ import annotations

import functools
import math
from typing import Any

IN_A_HURRY: Any = {"xla_backend_optimization_level": 0}
"""compiler options for programs that run once, for which optimization does not pay"""


def kinds_of(module: Any) -> dict[str, Any]:
    """The dtypes that a module passes on to its submodules."""
    return {"dtype": module.dtype, "param_dtype": module.param_dtype}


def new_variables(network: Any, key: Any) -> Any:
    """New parameters (and statistics, if the network has any) of an `MLPAgent` or `RNNAgent`."""
    return _initialiser(network)(key)


@functools.cache
def _initialiser(network: Any) -> Any:
    import jax

    return jax.jit(functools.partial(initialised, network), compiler_options=IN_A_HURRY)


def initialised(network: Any, key: Any) -> Any:
    """The same without compilation, for use inside a larger compiled program."""
    import numpy as np

    from ludus.agents.neural.networks.layout import blank

    nothing = network.read(blank(network.layout, 1)) if reads(network) else blank(network.layout, 1)
    return network.init(key, nothing, network.init_rnn_state(1), switch_or_main=np.zeros(1, np.int32))


def reads(network: Any) -> bool:
    """Whether a network has its own function `read` that converts observations to features."""
    return hasattr(network, "read")


def shapes_of(network: Any) -> Any:
    """The shapes and types of the variables of a network, without computing them."""
    import jax

    return jax.eval_shape(lambda: initialised(network, jax.random.key(0)))


def _sizes(tree: Any) -> list[tuple[int, int]]:
    """(number of elements, bytes per element) of each array."""
    import jax

    return [(math.prod(leaf.shape), leaf.dtype.itemsize) for leaf in jax.tree.leaves(tree)]


def total_params(network: Any) -> int:
    """The number of trainable parameters."""
    return sum(numbers for numbers, _ in _sizes(shapes_of(network)["params"]))


def memory_usage(network: Any, rows: int = 0) -> float:
    """Megabytes of the variables and of the memory for `rows` rows."""
    import jax

    memory = jax.eval_shape(lambda: network.init_rnn_state(rows))
    return sum(numbers * size for numbers, size in _sizes((shapes_of(network), memory))) / 1e6
