"""Networks of deep agents: stateless Flax modules; all learned values are in their parameters."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeGuard

from ludus.agents.protocol import Memory, Params
from ludus.types import Array, PyTree

if TYPE_CHECKING:  # importing the settings of networks must not import JAX
    import jax
    from jax.typing import DTypeLike

    from ludus.agents.neural.networks.layout import Layout
    from ludus.agents.neural.networks.settings import MLPArgs, ModelArgs

    NetworkPolicy = jax.Array | tuple[jax.Array, jax.Array]
    """logits [B, A], or mean and log deviation [B, k] of a continuous action"""
    NetworkOutput = tuple[Memory, NetworkPolicy, jax.Array, jax.Array]
    """memory, policy, value [B, outputs] and valid [B]"""

IN_A_HURRY: dict[str, int] = {"xla_backend_optimization_level": 0}
"""compiler options for programs that run once, for which optimization does not pay"""


class Dtypes(TypedDict):
    """The dtypes of a Flax module, as keyword arguments."""

    dtype: DTypeLike
    param_dtype: DTypeLike


class HasDtypes(Protocol):
    """A Flax module with these two attributes."""

    @property
    def dtype(self) -> DTypeLike: ...
    @property
    def param_dtype(self) -> DTypeLike: ...


class Network(Protocol):
    """The Flax module of a deep agent: an `MLPAgent`, an `RNNAgent` or the network of a game."""

    @property
    def layout(self) -> Layout: ...
    @property
    def args(self) -> MLPArgs | ModelArgs: ...
    def __hash__(self) -> int: ...
    def init_rnn_state(self, rows: int) -> Memory: ...
    def init(
        self, rngs: jax.Array, x: Mapping[str, Array], rstate: Memory, /, *, switch_or_main: Array
    ) -> Mapping[str, PyTree]: ...
    def apply(
        self,
        variables: Params,
        x: Mapping[str, jax.Array],
        rstate: Memory,
        done: jax.Array,
        switch_or_main: jax.Array,
        /,
        *,
        train: bool,
        legal: jax.Array,
        mutable: Sequence[str],
    ) -> tuple[NetworkOutput, Mapping[str, PyTree]]: ...


class FeatureNetwork(Network, Protocol):
    """A network that does not read observations, but features that its function `read` computes from them."""

    @property
    def read(self) -> Callable[..., dict[str, Array]]: ...


def kinds_of(module: HasDtypes) -> Dtypes:
    """The dtypes that a module passes on to its submodules."""
    return {"dtype": module.dtype, "param_dtype": module.param_dtype}


def new_variables(network: Network, key: jax.Array) -> Params:
    """New parameters (and statistics, if the network has any) of an `MLPAgent` or `RNNAgent`."""
    return _initialiser(network)(key)


def variable_shapes(network: Network) -> Params:
    """The tree of `new_variables` with the shape and type of each array instead of its values; computes nothing."""
    import jax

    return jax.eval_shape(functools.partial(initialised, network), jax.random.key(0))


@functools.cache
def _initialiser(network: Network) -> Callable[[jax.Array], Params]:
    import jax

    return jax.jit(functools.partial(initialised, network), compiler_options=IN_A_HURRY)


def initialised(network: Network, key: jax.Array) -> Params:
    """The same without compilation, for use inside a larger compiled program."""
    import numpy as np

    from ludus.agents.neural.networks.layout import blank

    observation = blank(network.layout, 1)
    x = network.read(observation) if reads(network) else observation
    return network.init(key, x, network.init_rnn_state(1), switch_or_main=np.zeros(1, np.int32))


def reads(network: Network) -> TypeGuard[FeatureNetwork]:
    """Whether a network has its own function `read` that converts observations to features."""
    return hasattr(network, "read")


def shapes_of(network: Network) -> Params:
    """The shapes and types of the variables of a network, without computing them."""
    import jax

    return jax.eval_shape(lambda: initialised(network, jax.random.key(0)))


def _sizes(tree: PyTree) -> list[tuple[int, int]]:
    """(number of elements, bytes per element) of each array."""
    import jax

    return [(math.prod(leaf.shape), leaf.dtype.itemsize) for leaf in jax.tree.leaves(tree)]


def total_params(network: Network) -> int:
    """The number of trainable parameters."""
    return sum(numbers for numbers, _ in _sizes(shapes_of(network)["params"]))


def memory_usage(network: Network, rows: int = 0) -> float:
    """Megabytes of the variables and of the memory for `rows` rows."""
    import jax

    memory = jax.eval_shape(lambda: network.init_rnn_state(rows))
    return sum(numbers * size for numbers, size in _sizes((shapes_of(network), memory))) / 1e6
