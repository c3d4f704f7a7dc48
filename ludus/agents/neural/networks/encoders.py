"""Encoders from an observation to action tokens and one state vector.

A transformer over the entities, one layer over past actions, and a token for each action; for any layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from ludus.agents.neural.networks import kinds_of
from ludus.agents.neural.networks.features import Features, token_features, tokens_of
from ludus.agents.neural.networks.layout import Entities, Field, Layout, real
from ludus.agents.neural.networks.settings import EncoderArgs, table_shape
from ludus.agents.neural.networks.transformer import GLU, EncoderLayer, LastLayer, heads_for, sinusoid

Array = jax.Array


class EntityEncoder(nn.Module):
    """One set of tokens [B, L, K] to [B, L, channels]: features of the token, times the embedding of its id."""

    part: Entities
    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None) -> Array:
        features, embedding = token_features(self, tokens, table, swish=True)
        x = nn.Dense(self.channels, **kinds_of(self), name="mix")(features)
        x = x if embedding is None else x * embedding
        if self.part.positions:
            places = nn.Embed(self.part.count, self.channels, **kinds_of(self), name="place")
            x = x + places(jnp.arange(tokens.shape[1]))
        return nn.LayerNorm(**kinds_of(self))(x)


class SetEncoder(nn.Module):
    """A transformer over the tokens of several sets and a summary token: to [B, c] and optionally [B, L, c]."""

    parts: Sequence[Entities]
    args: EncoderArgs
    return_tokens: bool = False
    """return the tokens in addition to the summary"""
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array], table: Array | None) -> tuple[Array, Array | None]:
        channels = self.args.num_channels
        columns = [tokens_of(part, x) for part in self.parts]
        encoded = [
            EntityEncoder(part, channels, **kinds_of(self), name=part.name)(tokens, table)
            for part, tokens in zip(self.parts, columns, strict=True)
        ]
        rows = columns[0].shape[0]
        summary = self.param("summary", nn.initializers.normal(0.02), (1, 1, channels), self.param_dtype)
        summary = jnp.broadcast_to(summary.astype(self.dtype), (rows, 1, channels))
        tokens = jnp.concatenate([summary, *encoded], axis=1)
        valid = self._valid(columns) if self.args.card_mask else None
        layer = (channels, heads_for(channels), self.args.noam)
        for _ in range(self.args.num_layers - (not self.return_tokens)):
            tokens = EncoderLayer(*layer, **kinds_of(self))(tokens, valid)
        norm = nn.LayerNorm(**kinds_of(self))
        if not self.return_tokens:
            return norm(LastLayer(*layer, **kinds_of(self))(tokens, valid)), None
        tokens = norm(tokens)
        return tokens[:, 0], tokens[:, 1:]

    def _valid(self, columns: Sequence[Array]) -> Array:
        masks = [real(part, tokens) for part, tokens in zip(self.parts, columns, strict=True)]
        return jnp.concatenate([jnp.ones((columns[0].shape[0], 1), bool), *masks], axis=1)


class GlobalEncoder(nn.Module):
    """Global fields to [B, features], and with version 2 through a gated MLP to [B, channels]."""

    fields: Sequence[Field]
    channels: int
    version: int = 2
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array]) -> Array:
        arrays = [x[field.source or field.name] for field in self.fields]
        columns = [array.reshape(array.shape[0], -1) for array in arrays]
        norm = partial(nn.LayerNorm, **kinds_of(self))
        found = norm()(Features(self.fields, self.channels, **kinds_of(self), name="features")(columns))
        if self.version == 1:
            return found
        found = nn.Dense(self.channels, **kinds_of(self), name="mix")(found)
        return norm()(found + GLU(self.channels, 2 * self.channels, **kinds_of(self), name="mlp")(found))


class ActionFeatures(nn.Module):
    """Tokens of past or possible actions, without the entities they refer to: [B, L, K] to [B, L, channels]."""

    part: Entities
    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None) -> Array:
        found = [part for part in token_features(self, tokens, table) if part is not None]
        normal = nn.LayerNorm(**kinds_of(self))(jnp.concatenate(found, axis=-1))
        return nn.Dense(self.channels, **kinds_of(self), name="mix")(normal)


class HistoryEncoder(nn.Module):
    """Past actions, newest first, summarized by the attention of the newest: to [B, channels]."""

    part: Entities
    args: EncoderArgs
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array], table: Array | None) -> Array:
        channels, noam = self.args.num_channels, self.args.noam
        tokens = tokens_of(self.part, x)
        past = ActionFeatures(self.part, channels, **kinds_of(self), name="actions")(tokens, table)
        if not noam:
            past = past + sinusoid(past.shape[1], channels).astype(self.dtype)
        layer = LastLayer(channels, heads_for(channels), noam, rope=noam, **kinds_of(self), name="layer")
        return nn.LayerNorm(**kinds_of(self))(layer(past, real(self.part, tokens)))


class ActionEncoder(nn.Module):
    """Tokens of possible actions, combined with the entity that each refers to: to [B, A, channels]."""

    part: Entities
    channels: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None, entities: Array | None) -> Array:
        acts = ActionFeatures(self.part, self.channels, **kinds_of(self), name="actions")(tokens, table)
        if self.part.points < 0 or entities is None:
            return acts
        dense = partial(nn.Dense, self.channels, **kinds_of(self))
        about = self._about(tokens, entities)
        return acts + dense(name="join")(nn.silu(dense(name="about")(about)) * acts)

    def _about(self, tokens: Array, entities: Array) -> Array:
        """The entity that each action points to, counted from 1; a learned vector for 0."""
        nothing = self.param("nothing", nn.initializers.normal(0.02), (1, 1, self.channels), self.param_dtype)
        nothing = jnp.broadcast_to(nothing.astype(self.dtype), (entities.shape[0], 1, self.channels))
        pointers = jnp.clip(tokens[..., self.part.points].astype(jnp.int32), 0, entities.shape[1])
        return jnp.take_along_axis(jnp.concatenate([nothing, entities], axis=1), pointers[..., None], axis=1)


class Encoded(NamedTuple):
    """The output of an encoder."""

    actions: Array
    """[B, A, c] a token for each action; A is 0 if actions are continuous"""
    state: Array
    """[B, c] from what the player may observe"""
    hidden: Array | None
    """[B, c] from hidden information, for a critic only"""
    legal: Array
    """[B, A] which actions are legal"""
    valid: Array
    """[B] whether the game is not over"""


class Encoder(nn.Module):
    """A whole observation to action tokens and a state of `out` channels."""

    layout: Layout
    args: EncoderArgs
    choices: int
    """number of actions; 0 if they are continuous"""
    out: int
    dtype: DTypeLike = jnp.float32
    param_dtype: DTypeLike = jnp.float32

    @nn.compact
    def __call__(self, x: Mapping[str, Array], legal: Array | None = None) -> Encoded:
        layout, args, table = self.layout, self.args, self._table()
        rows = x[layout.shown[0].name].shape[0]
        parts, entities = [], None
        if layout.entities:
            pointed_at = self.choices > 0 and layout.actions is not None and layout.actions.points >= 0
            encoder = SetEncoder(layout.entities, args, pointed_at, **kinds_of(self), name="entities")
            summary, entities = encoder(x, table)
            parts.append(summary)
        if layout.globals:
            alone = GlobalEncoder(layout.globals, args.num_channels, args.version, **kinds_of(self), name="globals")
            parts.append(alone(x))
        if layout.history and args.use_history:
            parts.append(HistoryEncoder(layout.history, args, **kinds_of(self), name="history")(x, table))
        actions, legal = self._actions(x, legal, table, entities, rows)
        if self.choices and args.action_feats:
            parts.append(self._summary(actions, legal))
        state = GLU(self.out, 2 * args.num_channels, **kinds_of(self), name="state")(jnp.concatenate(parts, axis=-1))
        state = nn.LayerNorm(**kinds_of(self), name="state_norm")(state)
        return Encoded(actions, state, self._hidden(x, table), legal, self._valid(x, rows))

    def _table(self) -> Array | None:
        """The embedding table of ids, shared by all sets; None if no set has ids."""
        if not any(part.ids for part in self.layout.sets):
            return None
        table = self.param("ids", nn.initializers.uniform(0.001), table_shape(self.args), self.param_dtype)
        return (jax.lax.stop_gradient(table) if self.args.freeze_id else table).astype(self.dtype)

    def _actions(
        self, x: Mapping[str, Array], legal: Array | None, table: Array | None, entities: Array | None, rows: int
    ) -> tuple[Array, Array]:
        """A token for each action and whether it is legal; all are legal unless stated otherwise."""
        part, channels = self.layout.actions, self.args.num_channels
        if not self.choices:
            return jnp.zeros((rows, 0, channels), self.dtype), jnp.zeros((rows, 0), bool)
        if part is None:
            known = self.param("actions", nn.initializers.normal(1.0), (1, self.choices, channels), self.param_dtype)
            tokens = jnp.broadcast_to(known.astype(self.dtype), (rows, self.choices, channels))
            return tokens, jnp.ones((rows, self.choices), bool) if legal is None else legal
        columns = tokens_of(part, x)
        about = None if entities is None else entities[:, : tokens_of(self.layout.entities[0], x).shape[1]]
        encoder = ActionEncoder(part, channels, **kinds_of(self), name="actions")
        # Padding tokens may have been cut off; then cut the mask too.
        return encoder(columns, table, about), real(part, columns) if legal is None else legal[:, : columns.shape[1]]

    def _summary(self, actions: Array, legal: Array) -> Array:
        """The mean over the legal actions, [B, c]."""
        weights = jnp.asarray(legal, self.dtype)[..., None]
        seen = nn.Dense(self.args.num_channels, **kinds_of(self), name="choices")(actions)
        return (seen * weights).sum(axis=1) / jnp.maximum(weights.sum(axis=1), 1)

    def _hidden(self, x: Mapping[str, Array], table: Array | None) -> Array | None:
        if not (self.args.oppo_info and self.layout.hidden):
            return None
        return SetEncoder(self.layout.hidden, self.args, **kinds_of(self), name="hidden")(x, table)[0]

    def _valid(self, x: Mapping[str, Array], rows: int) -> Array:
        name, column = self.layout.ended
        return x[name].reshape(rows, -1)[:, column] == 0 if name else jnp.ones(rows, bool)
