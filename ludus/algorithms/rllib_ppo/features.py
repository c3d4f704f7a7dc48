"""The input of the general network in NumPy: what the first layer of `MLPAgent` computes from an observation.

Numbers are scaled and categories are one-hot columns of `features`; a field with very many columns becomes `indices`
into a table of weights instead, as it does there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ludus.agents.neural.networks import games as game_networks
from ludus.agents.neural.networks.layout import Entities, Field, Layout, layout_of
from ludus.types import Array, LudusError, Spec

MOST_COLUMNS = 1024
"""number of one-hot columns above which a field is looked up in a table"""


class Source(NamedTuple):
    """A field and where it is read."""

    field: Field
    array: str
    tokens: int
    """rows of the array, of `columns` numbers each"""
    columns: int

    @property
    def places(self) -> int:
        """Values of the field in one observation."""
        return self.tokens * self.field.size

    @property
    def wide(self) -> bool:
        """Whether it is looked up in a table."""
        columns = self.tokens * self.field.size * max(1, self.field.categories - 1) if self.is_category else 0
        return columns > MOST_COLUMNS

    @property
    def is_category(self) -> bool:
        return self.field.kind == "category"


def layout_for(game: str, rules: ModuleType, spec: Spec) -> Layout:
    """The layout of the observations of a game."""
    own = game_networks.find(game).layout or getattr(rules, "LAYOUT", None)
    return layout_of(rules.OBSERVATION, spec, own)


class FlatFeatures:
    """Converts observations of one layout."""

    def __init__(self, layout: Layout) -> None:
        self.sources = [*_globals(layout), *_tokens(layout)]
        self.tables = [
            (one.field.name, one.places * one.field.categories, one.places) for one in self.sources if one.wide
        ]
        """(name, rows, indices per observation) of each table"""
        self.width = max(1, sum(_width(one) for one in self.sources if not one.wide))

    @property
    def places(self) -> int:
        """The number of all indices of an observation."""
        return sum(places for _, _, places in self.tables)

    def __call__(self, observation: Mapping[str, Array]) -> dict[str, Array]:
        """`features` [N, width] and, if there are tables, `indices` [N, places]."""
        narrow, wide = [], []
        for one in self.sources:
            values = _values(one, observation)
            if not one.is_category:
                narrow.append(_scaled(one.field, values))
            elif one.wide:
                indices = _indices(one.field, values).reshape(len(values), -1)
                wide.append(indices + np.arange(one.places) * one.field.categories)
            else:
                narrow.append(_one_hot(one.field, values))
        rows = len(next(iter(observation.values())))
        columns = [part.reshape(rows, -1) for part in narrow] or [np.zeros((rows, 1), np.float32)]
        found = {"features": np.concatenate(columns, axis=1, dtype=np.float32)}
        return found | ({"indices": np.concatenate(wide, axis=1, dtype=np.int32)} if wide else {})


def _globals(layout: Layout) -> list[Source]:
    found = []
    for field in layout.globals:
        name = field.source or field.name
        found.append(Source(field, name, 1, math.prod(layout.array(name).shape)))
    return found


def _tokens(layout: Layout) -> list[Source]:
    """The fields of all sets of tokens; raises LudusError for ids, which a plain network cannot read."""
    found = []
    parts: list[Entities] = [*layout.entities, *filter(None, (layout.history, layout.actions))]
    for part in parts:
        if part.ids or part.mask:
            raise LudusError(f"{part.name} has ids of cards, which the network of rllib_ppo cannot read; use ppo")
        found += [Source(field, part.name, part.count, part.columns) for field in part.fields]
    return found


def _width(one: Source) -> int:
    if not one.is_category or one.field.categories <= 2:
        return one.places
    return one.places * (one.field.categories - 1)


def _values(one: Source, observation: Mapping[str, Array]) -> Array:
    """[N, tokens, size] the values of a field."""
    array = observation[one.array]
    columns = array.reshape(len(array), one.tokens, one.columns)
    columns = columns[..., one.field.at : one.field.at + one.field.columns]
    if not one.field.pair:
        return columns
    return columns[..., 0::2].astype(np.int64) * 256 + columns[..., 1::2]


def _indices(field: Field, values: Array) -> Array:
    """The category of each value, from 0."""
    return np.clip(values.astype(np.int64) - int(min(field.low)), 0, field.categories - 1)


def _one_hot(field: Field, values: Array) -> Array:
    indices = _indices(field, values)
    if field.categories <= 2:
        return indices.astype(np.float32)
    return (indices[..., None] == np.arange(1, field.categories)).astype(np.float32)


def _scaled(field: Field, values: Array) -> Array:
    """Numbers scaled to -1 to 1 if they have finite bounds; large integers without bounds are compressed."""
    low, high = (np.broadcast_to(np.asarray(end, np.float64), (field.size,)) for end in (field.low, field.high))
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    middle, half = np.where(known, (low + high) / 2, 0.0), np.where(known, (high - low) / 2, 1.0)
    numbers = values.astype(np.float32)
    fitted = (numbers - middle.astype(np.float32)) * (1.0 / half).astype(np.float32)
    if known.all() or values.dtype.kind == "f":
        return fitted
    return np.where(known, fitted, np.sign(numbers) * np.log1p(np.abs(numbers)))
