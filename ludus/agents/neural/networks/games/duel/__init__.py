"""DuelNet: a small and quick network for duels, which reads what `features` makes of an observation.

Cards are encoded one by one and summed by group; every option is scored together with the state of the duel. Strengths
are compared by the features; their value is learned.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.games.duel import features
from ludus.agents.neural.networks.games.duel.layout import LAYOUT
from ludus.agents.neural.networks.games.duel.reference import ReferenceNet
from ludus.agents.neural.networks.heads import masked
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Layout
from ludus.agents.neural.networks.mlp import ACTIVATIONS
from ludus.agents.neural.networks.recurrent import widened
from ludus.agents.neural.networks.settings import MLPArgs
from ludus.types import Discrete

Array = jax.Array

WIDTH = 64
"""channels of a card or an option"""
TRUST = 2.0
"""initial logit bonus for the choice of the greedy player"""
LIFE_STEPS, TURNS, TURN_PHASES = 8, 8, 10


class DuelNet(nn.Module):
    """Observation to policy and value; `width` and `depth` are those of the layers for the whole state."""

    layout: Layout
    args: MLPArgs
    outputs: int
    actions: Discrete
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    read = staticmethod(features.read)

    def init_rnn_state(self, rows: int) -> tuple[()]:
        """No memory."""
        return ()

    @nn.compact
    def __call__(
        self, x: Mapping[str, Array], rstate: tuple[()] = (), done: Array | None = None,
        switch_or_main: Array | None = None, train: bool = False, legal: Array | None = None,
    ) -> tuple[tuple[()], Array, Array, Array]:  # fmt: skip
        """(rstate, logits [B, 24], value [B, outputs], valid [B])."""
        options = self._options(x)
        there = x["options"][..., features.MESSAGE] > 0
        table = self._table(x, jnp.where(there[..., None], options, 0.0).sum(axis=1))
        for_actor = self._tower(table, "actor")
        for_critic = for_actor if self.args.shared else self._tower(table, "critic")
        value = self._dense(self.outputs, 1.0, "value")(for_critic).astype(jnp.float32)
        trust = self.param("trust", nn.initializers.constant(TRUST), (), self.param_dtype)
        logits = self._option_logits(options, for_actor) + trust * x["option_numbers"][..., features.FAVOURITE]
        legal = there if legal is None else legal[:, : logits.shape[1]]
        return rstate, widened(masked(logits, legal), self.actions.n), value, x["global_"][:, 22] == 0

    def _dense(self, width: int, gain: float, name: str) -> nn.Dense:
        return nn.Dense(width, kernel_init=orthogonal(gain), **kinds_of(self), name=name)

    def _mixed(self, parts: list[Array], width: int, name: str) -> Array:
        """One dense layer on concatenated arrays, without concatenating them, which is slow on CPUs."""
        found = [self._dense(width, 1.0, f"{name}_{at}")(part.astype(self.dtype)) for at, part in enumerate(parts)]
        return nn.relu(sum(found[1:], start=found[0]))

    def _options(self, x: Mapping[str, Array]) -> Array:
        """[B, A, WIDTH] the options."""
        return self._mixed([*categories_and_codes(x["options"]), x["option_numbers"]], WIDTH, "option")

    def _table(self, x: Mapping[str, Array], choices: Array) -> Array:
        """[B, …] the whole state as one vector."""
        rows, slots = len(choices), x["slots"].astype(jnp.int32)
        groups = jax.nn.one_hot(slots[..., 1] - 1, features.GROUPS)
        kinds = one_hot_columns(slots[..., 1:], (features.GROUPS + 1, features.POSITIONS))
        cards = self._mixed([codes_of(slots[..., 0]), kinds, x["slot_numbers"]], WIDTH, "slot")
        held = jnp.einsum("blg,blc->bgc", groups.astype(self.dtype), cards)
        past = self._mixed([*categories_and_codes(x["deeds"]), x["ages"]], WIDTH // 2, "deed")
        parts = [held, x["piles"], past, choices, numbers_of(x["global_"]), x["sums"]]
        return jnp.concatenate([part.reshape(rows, -1).astype(self.dtype) for part in parts], axis=-1)

    def _tower(self, table: Array, name: str) -> Array:
        bend = ACTIVATIONS[self.args.activation]
        for layer in range(self.args.depth):
            table = bend(self._dense(self.args.width, math.sqrt(2), f"{name}_{layer}")(table))
        return table

    def _option_logits(self, options: Array, state: Array) -> Array:
        """[B, A] the logit of each option."""
        mixed = self._dense(WIDTH, 1.0, "judge_option")(options)
        mixed += self._dense(WIDTH, 1.0, "judge_state")(state)[:, None]
        weights = self.param("judge", nn.initializers.normal(0.01), (WIDTH,), self.param_dtype)
        return (nn.relu(mixed) * weights).sum(axis=-1)


def codes_of(numbers: Array) -> Array:
    """The codes of cards with these numbers."""
    return jnp.asarray(features.CODES)[numbers.astype(jnp.int32)]


def categories_and_codes(rows: Array) -> list[Array]:
    """Options or past actions [..., columns] as one-hot categories and the code of the card."""
    return [one_hot_columns(rows[..., : features.CODE], features.SIZES), codes_of(rows[..., features.CODE])]


def one_hot_columns(categories: Array, sizes: tuple[int, ...]) -> Array:
    """[..., columns] to [..., sum of sizes]: concatenated one-hot vectors of all columns."""
    places = categories.astype(jnp.int32) + np.cumsum((0, *sizes[:-1]), dtype=np.int32)
    marks = [places[..., column, None] == np.arange(sum(sizes)) for column in range(len(sizes))]
    return functools.reduce(jnp.logical_or, marks)


def numbers_of(totals: Array) -> Array:
    """[B, …] life points in bins, the turn, the phase, whose turn it is, and the numbers of cards by location."""
    totals = totals.astype(jnp.int32)
    life = totals[:, 0:4:2] * 256 + totals[:, 1:4:2]
    steps = jnp.clip(life[..., None] * (LIFE_STEPS / 8000.0) - jnp.arange(LIFE_STEPS), 0.0, 1.0)
    parts = [
        steps.reshape(len(totals), -1), life / 8000.0,
        jax.nn.one_hot(jnp.minimum(totals[:, 4], TURNS - 1), TURNS), totals[:, 4:5] / 8.0,
        jax.nn.one_hot(totals[:, 5], TURN_PHASES), totals[:, 6:8], totals[:, 8:22] / 5.0,
    ]  # fmt: skip
    return jnp.concatenate([part.astype(jnp.float32) for part in parts], axis=-1)


NETWORK, REFERENCE = DuelNet, ReferenceNet

__all__ = ["LAYOUT", "NETWORK", "REFERENCE", "DuelNet"]
