"""How the arrays of an observation become features, tokens, and at last one state.

Embeddings for categories, soft bins for numbers, a transformer over the entities: any layout, and no game by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from ludus.agents.networks.arguments import EncoderArgs, table_shape
from ludus.agents.networks.heads import leaky
from ludus.agents.networks.layout import Entities, Field, Layout
from ludus.agents.networks.transformer import GLU, EncoderLayer, RMSNorm, attend, heads_for, rotary, sinusoid

Array = jax.Array

LEAST = 4
"""dimensions of a feature in a narrow network: of a single number, a layer norm leaves nothing"""


def values_of(field: Field, array: Array) -> Array:
    """The values [..., size] of a field among the columns [..., K] of its array."""
    whole = field.at == 0 and field.columns == array.shape[-1]
    columns = array if whole else array[..., field.at : field.at + field.columns]
    if not field.pair:
        return columns
    high, low = columns[..., 0::2].astype(jnp.int32), columns[..., 1::2].astype(jnp.int32)
    return high * 256 + low


def tokens_of(part: Entities, observation: Mapping[str, Array]) -> Array:
    """The columns [B, L, K] of a set of tokens."""
    array = observation[part.name]
    return array.reshape(array.shape[0], -1, part.columns)


def indices_of(field: Field, array: Array) -> Array:
    """Which category each value is, counted from 0; what is out of range is taken for the nearest."""
    low = int(min(field.low))
    return jnp.clip(values_of(field, array).astype(jnp.int32) - low, 0, field.categories - 1)


def scaled(field: Field, array: Array) -> Array:
    """Numbers [..., size] as floats: from -1 to 1 between finite bounds, else as they are.

    Integers without bounds can be of any size, so of them the logarithm is read: sign(x) log(1 + |x|).
    """
    values = values_of(field, array)
    known, low, high = bounded(field)
    numbers = values.astype(jnp.float32)
    middle, half = np.where(known, (low + high) / 2, 0.0), np.where(known, (high - low) / 2, 1.0)
    fitted = (numbers - jnp.asarray(middle, jnp.float32)) * jnp.asarray(1.0 / half, jnp.float32)
    if known.all() or jnp.issubdtype(values.dtype, jnp.floating):
        return fitted
    return jnp.where(jnp.asarray(known), fitted, jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers)))


def bounded(field: Field) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which values lie between two different finite bounds, and these; 0 where there are none."""
    low, high = (np.broadcast_to(end, (field.size,)) for end in (field.low, field.high))
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    return known, np.where(known, low, 0.0), np.where(known, high, 0.0)


def soft_bins(field: Field, array: Array) -> Array:
    """How far each value has climbed every step of its range: clip((x - p + w) / w, 0, 1), [..., size, bins].

    Steps of width w end at p = low + w, low + 2w, ..., high; what has no bounds is bent by x / (1 + |x|) first. A layer
    norm after plain numbers would forget how large they are; after steps it does not.
    """
    numbers, known = scaled(field, array), bounded(field)[0]
    if not known.all():
        numbers = jnp.where(jnp.asarray(known), numbers, numbers / (1.0 + jnp.abs(numbers)))
    climbed = (numbers[..., None] + 1.0) * (field.bins / 2)
    return jnp.clip(climbed - jnp.arange(field.bins, dtype=jnp.float32), 0.0, 1.0)


def one_hot(field: Field, array: Array, dtype: Any) -> Array:
    """A column for every category but the lowest, which a bias can say: [..., size · (categories - 1)].

    Of a constant there is one column, of zeros.
    """
    indices = indices_of(field, array)
    if field.categories <= 2:
        return indices.astype(dtype)
    columns = (indices[..., None] == jnp.arange(1, field.categories)).astype(dtype)
    return columns.reshape(*columns.shape[:-2], math.prod(columns.shape[-2:]))


def kinds_of(module: Any) -> dict[str, Any]:
    """The number types that a module hands on to its parts."""
    return {"dtype": module.dtype, "param_dtype": module.param_dtype}


class Features(nn.Module):
    """All fields of one array side by side: columns [..., K] to [..., features]."""

    fields: Sequence[Field]
    channels: int
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, columns: Sequence[Array]) -> Array:
        """`columns` holds the array of each field."""
        parts = [self._feature(field, array) for field, array in zip(self.fields, columns, strict=True)]
        return jnp.concatenate(parts, axis=-1)

    def _feature(self, field: Field, array: Array) -> Array:
        width = max(LEAST, self.channels // field.share)
        if field.kind == "category":
            embed = nn.Embed(field.categories, width, **kinds_of(self), name=field.name)
            found = embed(indices_of(field, array))
        elif field.bins:
            climbed = nn.Dense(max(LEAST, self.channels // 8), **kinds_of(self), name=f"{field.name}_bins")
            steps = leaky(climbed(soft_bins(field, array).astype(self.dtype)))
            found = nn.Dense(width, **kinds_of(self), name=field.name)(steps)
        else:
            return nn.Dense(width, **kinds_of(self), name=field.name)(scaled(field, array).astype(self.dtype))
        return found.reshape(*found.shape[:-2], -1)


class Named(nn.Module):
    """A projection of rows of the table of ids: table [R, D], ids [...] to [..., channels].

    What an id becomes depends on the id alone. So where there are fewer ids than tokens the table is projected once
    and its rows are handed out; and the collection "folded" can keep them from one call to the next.
    """

    channels: int
    swish: bool = False
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, table: Array, ids: Array) -> Array:
        # A row that is not there would be read as NaN.
        ids = jnp.clip(ids, 0, len(table) - 1)
        if self.has_variable("folded", "rows"):
            return self.get_variable("folded", "rows")[ids]
        dense = nn.Dense(self.channels, use_bias=False, **kinds_of(self))
        bend = nn.swish if self.swish else lambda x: x
        if self.is_mutable_collection("folded") and not self.is_initializing():
            self.put_variable("folded", "rows", bend(dense(table)))
        return bend(dense(table))[ids] if len(table) < ids.size else bend(dense(table[ids]))


def ids_of(part: Entities, tokens: Array) -> Array:
    """The ids [B, L] of tokens [B, L, K]."""
    ids = jnp.zeros(tokens.shape[:-1], jnp.int32)
    for column in part.ids:
        ids = ids * 256 + tokens[..., column].astype(jnp.int32)
    return ids


def real(part: Entities, tokens: Array) -> Array:
    """Which tokens [B, L] are no padding."""
    return tokens[..., part.padding] != 0 if part.padding >= 0 else jnp.ones(tokens.shape[:-1], bool)


class EntityEncoder(nn.Module):
    """One set of tokens [B, L, K] to [B, L, channels]: what it is, told by its id, times how it stands."""

    part: Entities
    channels: int
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None) -> Array:
        fields = Features(self.part.fields, self.channels, **kinds_of(self), name="features")
        x = nn.Dense(self.channels, **kinds_of(self), name="mix")(fields([tokens] * len(self.part.fields)))
        if self.part.ids and table is not None:
            x = x * Named(self.channels, True, **kinds_of(self), name="id")(table, ids_of(self.part, tokens))
        if self.part.positions:
            places = nn.Embed(self.part.count, self.channels, **kinds_of(self), name="place")
            x = x + places(jnp.arange(tokens.shape[1]))
        return nn.LayerNorm(**kinds_of(self))(x)


class LastLayer(nn.Module):
    """An encoder layer of which only the first token is wanted: [B, L, c] to [B, c], without the work for the rest."""

    channels: int
    heads: int
    noam: bool = True
    rope: bool = False
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array, valid: Array | None = None) -> Array:
        norm = partial(RMSNorm if self.noam else nn.LayerNorm, **kinds_of(self))
        dense = partial(nn.Dense, use_bias=not self.noam, dtype=self.dtype, param_dtype=self.param_dtype)
        shape = (x.shape[0], -1, self.heads, self.channels // self.heads)
        seen = norm(name="attention_norm")(x)
        query = dense(self.channels, name="query")(seen[:, 0]).reshape(shape)
        parts = jnp.split(dense(2 * self.channels, name="key_value")(seen), 2, axis=-1)
        key, value = (part.reshape(shape) for part in parts)
        if self.rope:  # the first token stands at 0, where nothing is turned
            key = rotary(key, jnp.arange(x.shape[1]))
        answer = attend(query, key, value, valid).reshape(x.shape[0], self.channels)
        first = x[:, 0] + dense(self.channels, name="out")(answer)
        return first + self._mlp(norm(name="mlp_norm")(first))

    def _mlp(self, x: Array) -> Array:
        if self.noam:
            return GLU(self.channels, 2 * self.channels, **kinds_of(self), name="mlp")(x)
        hidden = nn.relu(nn.Dense(4 * self.channels, **kinds_of(self), name="mlp_in")(x))
        return nn.Dense(self.channels, **kinds_of(self), name="mlp_out")(hidden)


class SetEncoder(nn.Module):
    """A transformer over all tokens of several sets and one that sums up: to [B, c] and, if wanted, [B, L, c]."""

    parts: Sequence[Entities]
    args: EncoderArgs
    wanted: bool = False
    """whether the tokens are asked for, or only what sums them up"""
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

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
        for _ in range(self.args.num_layers - (not self.wanted)):
            tokens = EncoderLayer(*layer, **kinds_of(self))(tokens, valid)
        norm = nn.LayerNorm(**kinds_of(self))
        if not self.wanted:
            return norm(LastLayer(*layer, **kinds_of(self))(tokens, valid)), None
        tokens = norm(tokens)
        return tokens[:, 0], tokens[:, 1:]

    def _valid(self, columns: Sequence[Array]) -> Array:
        masks = [real(part, tokens) for part, tokens in zip(self.parts, columns, strict=True)]
        return jnp.concatenate([jnp.ones((columns[0].shape[0], 1), bool), *masks], axis=1)


class GlobalEncoder(nn.Module):
    """What stands alone: to [B, features], and with version 2 to [B, channels] through a gated MLP."""

    fields: Sequence[Field]
    channels: int
    version: int = 2
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

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
    """Tokens of actions, past or possible, without what they are about: [B, L, K] to [B, L, channels]."""

    part: Entities
    channels: int
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None) -> Array:
        fields = Features(self.part.fields, self.channels, **kinds_of(self), name="features")
        found = [fields([tokens] * len(self.part.fields))]
        if self.part.ids and table is not None:
            found.append(Named(self.channels, **kinds_of(self), name="id")(table, ids_of(self.part, tokens)))
        normal = nn.LayerNorm(**kinds_of(self))(jnp.concatenate(found, axis=-1))
        return nn.Dense(self.channels, **kinds_of(self), name="mix")(normal)


class HistoryEncoder(nn.Module):
    """What was done, newest first, as the newest sees it: to [B, channels]."""

    part: Entities
    args: EncoderArgs
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

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
    """Tokens of what can be done, joined with the entity that each is about: to [B, A, channels]."""

    part: Entities
    channels: int
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens: Array, table: Array | None, entities: Array | None) -> Array:
        acts = ActionFeatures(self.part, self.channels, **kinds_of(self), name="actions")(tokens, table)
        if self.part.points < 0 or entities is None:
            return acts
        dense = partial(nn.Dense, self.channels, **kinds_of(self))
        about = self._about(tokens, entities)
        return acts + dense(name="join")(nn.silu(dense(name="about")(about)) * acts)

    def _about(self, tokens: Array, entities: Array) -> Array:
        """The entity each action points to, counted from 1; a learned one for 0."""
        nothing = self.param("nothing", nn.initializers.normal(0.02), (1, 1, self.channels), self.param_dtype)
        nothing = jnp.broadcast_to(nothing.astype(self.dtype), (entities.shape[0], 1, self.channels))
        pointers = jnp.clip(tokens[..., self.part.points].astype(jnp.int32), 0, entities.shape[1])
        return jnp.take_along_axis(jnp.concatenate([nothing, entities], axis=1), pointers[..., None], axis=1)


class Encoded(NamedTuple):
    """What an encoder makes of an observation."""

    actions: Array
    """[B, A, c] a token for each action; A is 0 where actions are continuous"""
    state: Array
    """[B, c] what the player knows"""
    hidden: Array | None
    """[B, c] what only a critic may know"""
    legal: Array
    """[B, A] what may be done"""
    valid: Array
    """[B] whether the game goes on"""


class Encoder(nn.Module):
    """A whole observation to action tokens and a state of `out` channels."""

    layout: Layout
    args: EncoderArgs
    choices: int
    """how many actions there are; 0 where they are continuous"""
    out: int
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

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
        """The embeddings of ids, shared by all sets, where any set has ids."""
        if not any(part.ids for part in self.layout.sets):
            return None
        table = self.param("ids", nn.initializers.uniform(0.001), table_shape(self.args), self.param_dtype)
        return (jax.lax.stop_gradient(table) if self.args.freeze_id else table).astype(self.dtype)

    def _actions(
        self, x: Mapping[str, Array], legal: Array | None, table: Array | None, entities: Array | None, rows: int
    ) -> tuple[Array, Array]:
        """A token for each action and whether it is legal; all are where nothing says otherwise."""
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
        return encoder(columns, table, about), real(part, columns) if legal is None else legal

    def _summary(self, actions: Array, legal: Array) -> Array:
        """The mean over what is legal, [B, c]."""
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
