"""A Flax network of the user in place of the MLP: it reads the observation as one vector.

`module(x)` takes x [B, features], float32, and returns logits [B, A] (or mean and log deviation [B, k] for continuous
actions) and values [B] or [B, outputs], where the first value is that of the player to move.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from ludus.agents.neural.networks.heads import masked
from ludus.agents.neural.networks.layout import Layout, check_shapes
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.types import Continuous, Discrete, LudusError

if TYPE_CHECKING:
    from ludus.agents.neural.networks import NetworkPolicy

Array = jax.Array
_modules: dict[str, nn.Module] = {}
"""the networks that were given in this process, by the name of their class"""


def register(module: Any) -> str:
    """Make a network known in this process; returns the name by which settings refer to it."""
    made = module() if isinstance(module, type) and issubclass(module, nn.Module) else module
    if not isinstance(made, nn.Module):
        raise LudusError(f"network is {module!r}; expected a flax.linen.Module")
    name = type(made).__name__
    _modules[name] = made
    return name


def find(name: str) -> nn.Module:
    """The network of this name; raises LudusError if it was not given in this process."""
    if name not in _modules:
        raise LudusError(
            f"this agent has a network of your own, {name}, which its files do not contain; give it: "
            f"ludus.load(…, network={name}()) or ludus.train(…, network={name}())"
        )
    return _modules[name]


class OwnNetwork(nn.Module):
    """The network of the user with the call of an `MLPAgent`."""

    layout: Layout
    args: MLPArgs
    outputs: int
    actions: Discrete | Continuous
    module: nn.Module

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """No memory."""
        return ()

    @nn.compact
    def __call__(
        self, x: Mapping[str, Array], rstate: tuple[()] = (), done: Array | None = None,
        switch_or_main: Array | None = None, train: bool = False, legal: Array | None = None,
    ) -> tuple[tuple[()], NetworkPolicy, Array, Array]:  # fmt: skip
        """(rstate, logits [B, A] or (mean, log deviation), value [B, outputs], valid [B])."""
        rows = check_shapes(self.layout, x)
        flat = [jnp.asarray(array, jnp.float32).reshape(rows, -1) for array in x.values()]
        policy, value = _pair(self.module(jnp.concatenate(flat, axis=-1)), "logits (or mean and log deviation), values")
        value = jnp.asarray(value, jnp.float32).reshape(rows, -1)
        if value.shape[1] != self.outputs:
            raise LudusError(f"the network returned {value.shape[1]} values for a row; this game needs {self.outputs}")
        return rstate, self._policy(policy, legal), value, jnp.ones(rows, bool)

    def _policy(self, policy: Any, legal: Array | None) -> NetworkPolicy:
        if isinstance(self.actions, Continuous):
            mean, log_deviation = _pair(policy, "mean, log deviation")
            if mean.shape[-1] != len(self.actions.low):
                raise LudusError(f"the network returned {mean.shape[-1]} means; an action has {len(self.actions.low)}")
            return jnp.asarray(mean, jnp.float32), jnp.broadcast_to(log_deviation, mean.shape).astype(jnp.float32)
        if policy.shape[-1] != self.actions.n:
            raise LudusError(f"the network returned {policy.shape[-1]} logits; this game has {self.actions.n} actions")
        return policy.astype(jnp.float32) if legal is None else masked(policy, legal)


def _pair(result: Any, parts: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise LudusError(f"the network returned {type(result).__name__}; expected a pair: {parts}")
    return result[0], result[1]
