"""ReferenceNet: computes what the network of the reference project does, with the same names of parameters.

So its files of parameters can be read as they are. It differs from `RNNAgent` in many small ways: sizes of embeddings,
biases, which layers are shared, which padding is masked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from ludus.agents.neural.networks import Dtypes, kinds_of
from ludus.agents.neural.networks.heads import MLP, Critic, masked, nearly_uniform
from ludus.agents.neural.networks.initializers import orthogonal
from ludus.agents.neural.networks.layout import Layout, check_shapes
from ludus.agents.neural.networks.memory import Cell, Memoryless, State, rnn_forward_2p, state_of
from ludus.agents.neural.networks.recurrent import memory_rows, switched
from ludus.agents.neural.networks.settings import EncoderArgs, ModelArgs, table_shape
from ludus.agents.neural.networks.transformer import Film, RMSNorm, attend, head_width, heads_for, modulate, rotary
from ludus.games.duel import action_features as act
from ludus.games.duel import observation as see
from ludus.types import Continuous, Discrete

Array = jax.Array

BIN_WIDTHS = np.repeat(np.array([8000 / 24, 4000 / 8], np.float32), [24, 8])
BIN_ENDS = np.cumsum(BIN_WIDTHS)
LIFE, COUNTS, HANDS, ENDED = (0, 2), slice(8, 22), (9, 16), 22
"""columns of `global_`; the sizes of both hands are read twice"""


class Category(NamedTuple):
    """A column with an embedding of `values` rows of `channels // share` numbers."""

    column: int
    values: int
    share: int


PLACES = (Category(see.LOCATION, 9, 8), Category(see.SEQUENCE, 76, 8))
LOOKS = (
    Category(see.CONTROLLER, 2, 16), Category(see.POSITION, 9, 16), Category(see.IS_OVERLAY, 2, 16),
    Category(see.ATTRIBUTE, 8, 16), Category(see.RACE, 27, 16), Category(see.LEVEL, 14, 16),
    Category(see.COUNTERS, 16, 16), Category(see.NEGATED, 3, 16),
)  # fmt: skip
ACTS = (
    Category(act.MESSAGE, 30, 8), Category(act.ACT, 10, 8), Category(act.FINISH, 3, 16), Category(act.EFFECT, 256, 4),
    Category(act.PHASE, 4, 16), Category(act.POSITION_ID, 9, 8), Category(act.NUMBER, 13, 16),
    Category(act.PLACE_ID, 31, 8), Category(act.ATTRIBUTE, 10, 16),
)  # fmt: skip
PAST = (Category(act.AGE, 20, 2), Category(act.PHASE_THEN, 12, 2))
SITUATION = (Category(4, 20, 8), Category(5, 11, 8), Category(6, 2, 8), Category(7, 2, 8))
"""turn, phase, whether the player moved first, whether it is their turn"""


class Embeddings(NamedTuple):
    """Creates the embeddings of categories with the names `Embed_0`, `Embed_1`, … inside a module."""

    channels: int
    kinds: Dtypes

    def __call__(self, rows: Array, categories: tuple[Category, ...], first: int) -> list[Array]:
        """The embeddings of columns of [..., K]; values out of range are clipped, as they would become NaN."""
        return [
            nn.Embed(values, self.channels // share, **self.kinds, name=f"Embed_{number}")(
                jnp.clip(rows[..., column].astype(jnp.int32), 0, values - 1)
            )
            for number, (column, values, share) in enumerate(categories, start=first)
        ]


def pair(rows: Array, column: int) -> Array:
    """The number in two columns, the high byte first."""
    return rows[..., column].astype(jnp.int32) * 256 + rows[..., column + 1].astype(jnp.int32)


def linear(x: Array) -> Array:
    """No activation."""
    return x


def bins(numbers: Array) -> Array:
    """32 ramps from 0 to 1: 24 up to 8000, 8 up to 12000."""
    return jnp.clip((numbers[..., None] - BIN_ENDS + BIN_WIDTHS) / BIN_WIDTHS, 0.0, 1.0)


class GatedMLP(nn.Module):
    """W₃ (silu(W₁ x) · W₂ x), hidden width 2c."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        dense = partial(nn.Dense, use_bias=False, **kinds_of(self))
        hidden = nn.silu(dense(2 * self.channels, name="gate")(x)) * dense(2 * self.channels, name="up")(x)
        return dense(self.channels, name="down")(hidden)


class Attention(nn.Module):
    """Attention of all tokens to the valid ones: [B, L, c] to [B, L, c]."""

    channels: int
    rope: bool
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, valid: Array | None) -> Array:
        heads = heads_for(self.channels)
        dense = partial(nn.DenseGeneral, (heads, head_width(self.channels, heads)), use_bias=False, **kinds_of(self))
        query, key, value = (dense(name=name)(x) for name in ("query", "key", "value"))
        if self.rope:
            query, key = (rotary(part, jnp.arange(x.shape[1])) for part in (query, key))
        out = nn.DenseGeneral(self.channels, axis=(-2, -1), use_bias=False, **kinds_of(self), name="out")
        return out(attend(query, key, value, valid))


class Layer(nn.Module):
    """x + attention(norm x), then x + MLP(norm x): [B, L, c] to [B, L, c]."""

    channels: int
    rope: bool = False
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array, valid: Array | None = None, film: Film | None = None) -> Array:
        kinds = kinds_of(self)
        change = Attention(self.channels, self.rope, **kinds, name="attn")(RMSNorm(**kinds, name="ln_1")(x), valid)
        x = x + (change if film is None else modulate(change, film.attention_scale, film.attention_bias))
        change = GatedMLP(self.channels, **kinds, name="mlp")(RMSNorm(**kinds, name="ln_2")(x))
        return x + (change if film is None else modulate(change, film.mlp_scale, film.mlp_bias))


class ActionEncoder(nn.Module):
    """The categories of possible or past actions, concatenated: [B, L, K] to [B, L, c]."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, rows: Array) -> Array:
        return jnp.concatenate(Embeddings(self.channels, kinds_of(self))(rows, ACTS, 0), axis=-1)


class CardEncoder(nn.Module):
    """Cards [B, L, 41] and the embeddings of their ids [B, L, D] to [B, L, c]."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, cards: Array, known: Array) -> Array:
        c, kinds = self.channels, kinds_of(self)
        embed, dense = Embeddings(c, kinds), partial(nn.Dense, use_bias=False, **kinds)
        steps = MLP((c // 8,), **kinds, name="MLP_0")
        attack, defense = (steps(bins(pair(cards, at))) for at in (see.ATTACK, see.DEFENSE))
        features = jnp.concatenate(
            [
                *embed(cards, PLACES, first=8), *embed(cards, LOOKS, first=0),
                dense(c // 16, name="Dense_0")(attack), dense(c // 16, name="Dense_1")(defense),
                dense(c // 8, name="Dense_2")(cards[..., see.TYPES :].astype(self.dtype)),
            ], axis=-1,
        )  # fmt: skip
        known = MLP((c,), nn.silu, **kinds, name="MLP_1")(known)
        return nn.LayerNorm(**kinds, name="LayerNorm_0")(MLP((c,), linear, **kinds, name="MLP_2")(features) * known)


class GlobalEncoder(nn.Module):
    """Life points, turn, phase and numbers of cards: [B, 23] to [B, 2c]."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        c, kinds = self.channels, kinds_of(self)
        steps = MLP((c // 8,), **kinds, name="MLP_0")
        dense = partial(nn.Dense, c // 4, use_bias=False, **kinds)
        life = [dense(name=f"Dense_{side}")(steps(bins(pair(x, at)))) for side, at in enumerate(LIFE)]
        situation = Embeddings(c, kinds)(x, SITUATION, first=2)
        counts, hands = self._counts(x[:, COUNTS], 0), self._counts(x[:, np.array(HANDS)], 1)
        return nn.LayerNorm(**kinds, name="LayerNorm_0")(jnp.concatenate([*life, *situation, counts, hands], axis=-1))

    def _counts(self, numbers: Array, number: int) -> Array:
        embed = nn.Embed(100, self.channels // 16, **kinds_of(self), name=f"Embed_{number}")
        return embed(jnp.clip(numbers.astype(jnp.int32), 0, 99)).reshape(len(numbers), -1)


class Encoded(NamedTuple):
    """The output of the encoder."""

    actions: Array
    """[B, A, c]"""
    state: Array
    """[B, c]"""
    real: Array
    """[B, A] which action tokens are not padding; the first always counts"""


class Encoder(nn.Module):
    """A whole observation to action tokens and a state."""

    args: EncoderArgs
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array]) -> Encoded:
        c, kinds = self.args.num_channels, kinds_of(self)
        norm = partial(nn.LayerNorm, **kinds)
        table = self._table()
        cards, summary = self._cards(x["cards_"], table)
        deeds = ActionEncoder(c, **kinds, name="ActionEncoderV1_0")
        history = self._history(x["h_actions_"], deeds, table)
        actions, real = x["actions_"], first_or(x["actions_"][..., act.MESSAGE] != 0)
        tokens = self._actions(actions, deeds, table, cards)
        weights = real[..., None].astype(self.dtype)
        pooled = (self._dense(7)(tokens) * weights).sum(axis=1) / weights.sum(axis=1)
        parts = jnp.concatenate([summary, self._globals(x["global_"]), history, pooled], axis=-1)
        state = norm(name="LayerNorm_6")(GatedMLP(c, **kinds, name="GLUMlp_1")(parts))
        return Encoded(tokens, state, real)

    def _dense(self, number: int) -> nn.Dense:
        return nn.Dense(self.args.num_channels, use_bias=False, **kinds_of(self), name=f"Dense_{number}")

    def _table(self) -> Callable[[Array, int], Array]:
        """A function from rows [..., K] and the column of an id to its embedding; ids beyond the table are unknown."""
        rows, width = table_shape(self.args)
        embed = nn.Embed(rows, width, embedding_init=nn.initializers.uniform(0.001), **kinds_of(self), name="Embed_0")

        def known(tokens: Array, column: int) -> Array:
            ids = pair(tokens, column)
            found = embed(jnp.where(ids < rows, ids, 0))
            return jax.lax.stop_gradient(found) if self.args.freeze_id else found

        return known

    def _cards(self, cards: Array, known: Callable[[Array, int], Array]) -> tuple[Array, Array]:
        """The cards [B, 1 + L, c], with a learned vector for "no card" first, and their summary [B, c]."""
        c, kinds = self.args.num_channels, kinds_of(self)
        tokens = CardEncoder(c, **kinds, name="CardEncoder_0")(cards, known(cards, see.ID_HIGH))
        summary, nothing = (
            self.param(name, nn.initializers.normal(0.02), (1, c), self.param_dtype).astype(self.dtype)
            for name in ("g_card_embed", "na_card_embed")
        )
        rows = (len(cards), 1, c)
        tokens = jnp.concatenate([jnp.broadcast_to(summary, rows), tokens], axis=1)
        for number in range(self.args.num_layers):
            tokens = Layer(c, **kinds, name=f"LlamaEncoderLayer_{number}")(tokens)
        tokens = nn.LayerNorm(**kinds, name="LayerNorm_0")(tokens)
        return jnp.concatenate([jnp.broadcast_to(nothing, rows), tokens[:, 1:]], axis=1), tokens[:, 0]

    def _globals(self, x: Array) -> Array:
        c, kinds = self.args.num_channels, kinds_of(self)
        found = self._dense(0)(GlobalEncoder(c, **kinds, name="GlobalEncoder_0")(x))
        normal = nn.LayerNorm(**kinds, name="LayerNorm_1")(found)
        found = found + GatedMLP(c, **kinds, name="GLUMlp_0")(normal)
        return nn.LayerNorm(**kinds, name="LayerNorm_2")(found)

    def _history(self, past: Array, deeds: ActionEncoder, known: Callable[[Array, int], Array]) -> Array:
        """The newest of the past actions, after attention to all of them: [B, c]."""
        c, kinds = self.args.num_channels, kinds_of(self)
        when = Embeddings(c, kinds)(past, PAST, first=1)
        parts = jnp.concatenate([deeds(past), self._dense(1)(known(past, act.ID_HIGH)), *when], axis=-1)
        tokens = self._dense(2)(nn.LayerNorm(**kinds, name="LayerNorm_3")(parts))
        layer = Layer(c, rope=True, **kinds, name=f"LlamaEncoderLayer_{self.args.num_layers}")
        tokens = layer(tokens, first_or(past[..., act.MESSAGE] != 0))
        return nn.LayerNorm(**kinds, name="LayerNorm_4")(tokens[:, 0])

    def _actions(
        self, actions: Array, deeds: ActionEncoder, known: Callable[[Array, int], Array], cards: Array
    ) -> Array:
        """Possible actions with the cards that they are about: [B, A, c]."""
        parts = jnp.concatenate([deeds(actions), self._dense(3)(known(actions, act.ID_HIGH))], axis=-1)
        found = self._dense(4)(nn.LayerNorm(**kinds_of(self), name="LayerNorm_5")(parts))
        rows = jnp.minimum(actions[..., act.SPEC].astype(jnp.int32), cards.shape[1] - 1)
        about = self._dense(5)(jnp.take_along_axis(cards, rows[..., None], axis=1))
        return found + self._dense(6)(nn.silu(about) * found)


def first_or(real: Array) -> Array:
    """[B, L] which tokens are attended to: the real ones, and always the first."""
    return real | (jnp.arange(real.shape[1]) == 0)


class FiLMActor(nn.Module):
    """One layer over the actions, modulated by the memory: to logits [B, A]."""

    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, remembered: Array, encoded: Encoded, legal: Array) -> Array:
        kinds = kinds_of(self)
        scales = jnp.split(nn.Dense(4 * self.channels, **kinds, name="Dense_0")(remembered), 4, axis=-1)
        tokens = Layer(self.channels, **kinds, name="LlamaEncoderLayer_0")(encoded.actions, encoded.real, Film(*scales))
        logits = nn.Dense(1, kernel_init=nearly_uniform, **kinds, name="Dense_1")(tokens)[..., 0]
        return masked(logits, encoded.real & legal)


class ReferenceNet(nn.Module):
    """The network of the reference project with the fields and the call of `RNNAgent`."""

    layout: Layout
    args: ModelArgs
    outputs: int
    actions: Discrete | Continuous
    seats: int = 2
    stop_every: int = 0
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    def init_rnn_state(self, rows: int) -> tuple[State, ...]:
        """The initial memory for each seat; () for networks without memory."""
        args = self.args
        if args.rnn_type == "none":
            return ()
        return (state_of(args.rnn_type, rows, args.rnn_channels, dtype=self.dtype),) * self.seats

    @nn.compact
    def __call__(
        self, x: Mapping[str, Array], rstate: tuple[State, ...] = (), done: Array | None = None,
        switch_or_main: Array | None = None, train: bool = False, legal: Array | None = None,
    ) -> tuple[tuple[State, ...], Array, Array, Array]:  # fmt: skip
        """(rstate, logits [B, 24], value [B, 1], valid [B]); see `RNNAgent`."""
        batch = check_shapes(self.layout, x)
        encoded = Encoder(self.args.encoder, **kinds_of(self), name="Encoder_0")(x)
        rows = memory_rows(rstate, self.seats, batch)
        done = jnp.zeros(batch, bool) if done is None else jnp.asarray(done, bool)
        main = jnp.zeros(batch, jnp.int32) if switch_or_main is None else jnp.asarray(switch_or_main)
        over_time = [part.reshape(batch // rows, rows, *part.shape[1:]) for part in (encoded.state, done, main)]
        rstate, remembered = self._remember(rstate, *over_time)
        known = remembered.reshape(batch, -1)
        actor = FiLMActor(self.args.num_channels, **kinds_of(self), name="FiLMActor_0")
        logits = actor(known, encoded, jnp.ones((), bool) if legal is None else legal)
        widths = (self.args.critic_width,) * self.args.critic_depth
        value = Critic(widths, self.outputs, **kinds_of(self), name="Critic_0")(known)
        return rstate, logits, value, x["global_"][:, ENDED] == 0

    def _remember(
        self, rstate: tuple[State, ...], state: Array, done: Array, main: Array
    ) -> tuple[tuple[State, ...], Array]:
        cell = self._cell()
        if not rstate:
            return rstate, cell((), state)[1]
        if self.args.switch and main.dtype == bool:
            return switched(cell, rstate, state, done, main)
        return rnn_forward_2p(cell, rstate, state, done, main, self.stop_every)

    def _cell(self) -> Cell:
        channels, kinds = self.args.rnn_channels, kinds_of(self)
        if self.args.rnn_type == "lstm":
            return nn.OptimizedLSTMCell(
                channels, recurrent_kernel_init=orthogonal(), **kinds, name="OptimizedLSTMCell_0"
            )
        if self.args.rnn_type == "gru":
            return nn.GRUCell(channels, recurrent_kernel_init=orthogonal(), **kinds, name="GRUCell_0")
        return Memoryless(channels, **kinds)
