"""The layout of an observation: which numbers are global, which are tokens, which are past or possible actions.

A layout is hashable data. `layout_of` derives it from the record of any game; a game with cards declares its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np

from ludus.agents.neural.networks.settings import KNOWN_IDS
from ludus.dsl import bounds
from ludus.types import Array, Discrete, DType, LudusError, Spec

if TYPE_CHECKING:
    import jax

Tokens = TypeVar("Tokens", Array, "jax.Array")

MOST_CATEGORIES = 256
"""maximum range of an integer that is a category; larger ones are numbers"""
MOST_TOKENS = 512
"""maximum cells of an array that become tokens; larger arrays are read as numbers, because attention is quadratic"""
BINS = 32
"""number of soft bins of a number"""
MOST_BINNED = 64
"""maximum size of an array of numbers with soft bins; larger arrays are only scaled"""


class Shown(NamedTuple):
    """An array of the observation, for one row of a batch."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Field(NamedTuple):
    """One feature, read from neighbouring columns of an array."""

    name: str
    shape: tuple[int, ...]
    """() for one value, (n,) for n values of the same kind"""
    kind: Literal["category", "number"]
    low: tuple[float, ...]
    """one bound for all values, or one per value"""
    high: tuple[float, ...]
    at: int = 0
    """index of its first column"""
    source: str = ""
    """the array it is read from, if the name differs"""
    pair: bool = False
    """each value is two columns: x // 256, x % 256"""
    share: int = 16
    """the encoder gives a category `channels // share` dimensions"""
    bins: int = 0
    """number of soft bins between low and high; 0 to use the scaled number"""
    fine: float = 0.0
    """three of four bins are below this value, where differences matter most; 0 for equal bins"""

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def categories(self) -> int:
        """Number of different values of a category."""
        return int(max(self.high) - min(self.low)) + 1

    @property
    def columns(self) -> int:
        """Number of columns that it is read from."""
        return self.size * (2 if self.pair else 1)


@dataclass(frozen=True)
class Entities:
    """A set of tokens: an array [count, columns], or any array whose cells are `count` tokens of one column."""

    name: str
    count: int
    fields: tuple[Field, ...]
    columns: int = 1
    ids: tuple[int, ...] = ()
    """the columns that form an id into the shared table, the high byte first"""
    padding: int = -1
    """the column that is 0 for padding; -1 if there is no padding"""
    points: int = -1
    """for actions: the column with the row, from 1, of the entity in the first set that they refer to; 0 for none"""
    unknown: tuple[int, int] = (-1, 0)
    """column and value that mark tokens about which nothing is known, which are masked like padding; column -1 if
    there are none"""
    keep_identified: bool = True
    """whether unknown tokens that have an id are not masked"""
    mask: str = ""
    """the array that marks which columns of each token the player may see; all 0 means all columns"""
    masked: tuple[int, ...] = ()
    """the number of columns that each column of the mask covers"""
    positions: bool = False
    """whether the position of a token in the array matters (on a board, but not in a hand of cards)"""


@dataclass(frozen=True)
class Layout:
    """Everything that a network must know about an observation."""

    shown: tuple[Shown, ...]
    globals: tuple[Field, ...] = ()
    """fields that are not part of a set"""
    entities: tuple[Entities, ...] = ()
    """sets of tokens, read together by the transformer"""
    history: Entities | None = None
    """past actions, newest first"""
    actions: Entities | None = None
    """possible actions, one token for each; if None, actions have learned tokens by number"""
    hidden: tuple[Entities, ...] = ()
    """hidden information that only a critic with `oppo_info` reads"""
    ended: tuple[str, int] = ("", 0)
    """array and column that are nonzero when the game is over, so that the row is not `valid`"""

    def __post_init__(self) -> None:
        for part in self.sets:
            _check_set(self, part)
        for field in self.globals:
            _check_columns(field.name, field, math.prod(self.array(field.source or field.name).shape))
        if self.actions and self.actions.points >= 0 and not self.entities:
            raise LudusError(f"layout: {self.actions.name} refers to entities, but there are none; declare them first")

    @property
    def sets(self) -> tuple[Entities, ...]:
        """All sets of tokens."""
        return (*self.entities, *filter(None, (self.history, self.actions)), *self.hidden)

    def array(self, name: str) -> Shown:
        """The description of the array of this name."""
        for array in self.shown:
            if array.name == name:
                return array
        known = ", ".join(array.name for array in self.shown)
        raise LudusError(f'layout: unknown array "{name}"; the arrays are {known}')


def _check_set(layout: Layout, part: Entities) -> None:
    shape = layout.array(part.name).shape
    if math.prod(shape) != part.count * part.columns:
        raise LudusError(
            f"layout: {part.name} of shape {shape} is not {part.count} entities of {part.columns} columns; fix either"
        )
    for column in (*part.ids, part.padding, part.points):
        if not -1 <= column < part.columns:
            raise LudusError(
                f"layout: {part.name} has the columns 0 to {part.columns - 1}; there is no column {column}"
            )
    for field in part.fields:
        _check_columns(part.name, field, part.columns)


def _check_columns(name: str, field: Field, columns: int) -> None:
    last = field.at + field.columns - 1
    if not 0 <= field.at <= last < columns:
        raise LudusError(
            f"layout: {field.name} reads the columns {field.at} to {last} of {name}, which has only {columns}"
        )
    if field.kind == "category" and not (np.isfinite([*field.low, *field.high]).all() and field.categories >= 1):
        raise LudusError(f"layout: the category {field.name} needs a finite range, not {field.low} to {field.high}")


def layout_of(observation: DType, spec: Spec, own: Layout | None = None) -> Layout:
    """The layout of a record, or the game's `own` layout after checking that it fits.

    Integers of a small range are categories, arrays of them are tokens; all other numbers are global fields.
    """
    shown = tuple(_shown(observation, name) for name in observation.names or ())
    if own is not None:
        return _checked_layout(own, shown, spec)
    alone, sets = [], []
    for array in shown:
        low, high = _range(observation, array)
        if array.shape and _is_category(array, low, high) and math.prod(array.shape) <= MOST_TOKENS:
            sets.append(_tokens(array, low, high))
        else:
            alone.append(_global_field(array, low, high))
    if not alone and not sets:
        raise LudusError("the OBSERVATION of this game has no field that is not empty; add one")
    return Layout(shown, tuple(alone), tuple(sets))


def _shown(observation: DType, name: str) -> Shown:
    field = observation.fields[name][0]  # type: ignore[index]
    if field.base.kind not in "biuf" or 0 in field.shape:
        raise LudusError(f"{name} of the observation is {field}; networks read arrays of numbers that are not empty")
    return Shown(name, field.shape, field.base.name)


def _range(observation: DType, array: Shown) -> tuple[Array, Array]:
    """The declared range; infinite if the type's own range is too wide to be meaningful."""
    if array.dtype == "bool":
        return np.zeros(array.shape), np.ones(array.shape)
    low, high = (np.asarray(end, np.float64) for end in bounds(observation, array.name))
    meaningless = (high - low) >= 2.0**31
    return np.where(meaningless, -np.inf, low), np.where(meaningless, np.inf, high)


def _is_category(array: Shown, low: Array, high: Array) -> bool:
    return not array.dtype.startswith("float") and float(np.max(high) - np.min(low)) < MOST_CATEGORIES


def _ends(bound: Array) -> tuple[float, ...]:
    """The bounds as a tuple, with one element if all are equal."""
    flat = np.ravel(bound).tolist()
    return tuple(flat[:1] if len(set(flat)) == 1 else flat)


def _global_field(array: Shown, low: Array, high: Array) -> Field:
    if not array.shape and _is_category(array, low, high):
        return Field(array.name, (), "category", _ends(low), _ends(high), share=4)
    size = math.prod(array.shape)
    shape = (size,) if array.shape else ()
    if size > MOST_BINNED:
        return Field(array.name, shape, "number", _ends(low), _ends(high), share=1)
    return Field(array.name, shape, "number", _ends(low), _ends(high), share=_share(size), bins=BINS)


def _share(count: int) -> int:
    """The share such that `count` features together have about the channels of one token; at most 16."""
    return min(16, 1 << (count - 1).bit_length())


def _tokens(array: Shown, low: Array, high: Array) -> Entities:
    """One token per cell; or per row, if the columns have different ranges."""
    if low.ndim < 2 or (_same_columns(low) and _same_columns(high)):
        field = Field(array.name, (), "category", (float(low.min()),), (float(high.max()),), share=1)
        return Entities(array.name, math.prod(array.shape), (field,), positions=True)
    columns = array.shape[-1]
    lows, highs = low.reshape(-1, columns).min(axis=0), high.reshape(-1, columns).max(axis=0)
    fields = tuple(
        Field(f"{array.name}_{at}", (), "category", (float(lows[at]),), (float(highs[at]),), at, share=_share(columns))
        for at in range(columns)
    )
    return Entities(array.name, math.prod(array.shape[:-1]), fields, columns, positions=True)


def _same_columns(bound: Array) -> bool:
    return bool((bound == bound[..., :1]).all())


def _checked_layout(own: Layout, shown: tuple[Shown, ...], spec: Spec) -> Layout:
    """The game's own layout; raises LudusError unless it matches the arrays and actions of the game."""
    real = {array.name: array for array in shown}
    for array in own.shown:
        if real.get(array.name) != array:
            there = real.get(array.name, "no such field")
            raise LudusError(f"LAYOUT describes {array}, but the OBSERVATION has {there}; make them agree")
    if own.actions and not (isinstance(spec.actions, Discrete) and spec.actions.n == own.actions.count):
        raise LudusError(
            f"LAYOUT has {own.actions.count} action tokens, but the actions are {spec.actions}; make them agree"
        )
    return own


def blank(layout: Layout, rows: int) -> dict[str, Array]:
    """An observation of zeros, [rows, ...] arrays, to initialize parameters."""
    return {array.name: np.zeros((rows, *array.shape), array.dtype) for array in layout.shown}


def check_shapes(
    layout: Layout, observation: Mapping[str, Array] | Mapping[str, jax.Array], hidden: bool = False
) -> int:
    """The number of rows of a batch; raises LudusError unless its arrays match the layout (tokens may be cut off)."""
    rows = -1
    for name, shape in _needed(layout, hidden):
        if name not in observation:
            raise LudusError(f"the observation has no {name}; it has {', '.join(observation) or 'nothing'}")
        given = tuple(observation[name].shape)
        rows = given[0] if rows < 0 and given else rows
        cut = any(part.name == name and len(shape) == 2 and part.columns > 1 for part in layout.sets)
        fits = len(given) == len(shape) + 1 and given[0] == rows
        if not (fits and (given[1:] == shape or (cut and given[1] <= shape[0] and given[2:] == shape[1:]))):
            raise LudusError(
                f"{name} has the shape {given}; this network reads {('rows', *shape)}, all with equal rows"
            )
    return rows


def _needed(layout: Layout, hidden: bool) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The arrays that are read; hidden ones only if the critic reads them."""
    left_out = set() if hidden else {part.name for part in layout.hidden} - {part.name for part in layout.entities}
    return ((array.name, array.shape) for array in layout.shown if array.name not in left_out)


def check_ids(layout: Layout, observation: Mapping[str, Array], rows: int = KNOWN_IDS + 1) -> None:
    """Raise LudusError for values that a network would clip: ids beyond its table, categories out of range.

    A compiled network cannot raise errors, so observations are checked before.
    """
    for field in layout.globals:
        name = field.source or field.name
        if name in observation:
            _check_range(name, field, np.asarray(observation[name]).reshape(len(observation[name]), -1))
    for part in layout.sets:
        if part.name in observation:
            tokens = np.asarray(observation[part.name]).reshape(-1, part.columns)
            for field in part.fields:
                _check_range(part.name, field, tokens)
            _check_id(part, tokens, rows)
    _check_pointers(layout, observation)


def _check_range(name: str, field: Field, columns: Array) -> None:
    if field.kind == "number":
        return
    values = columns[:, field.at : field.at + field.columns].astype(np.int64)
    values = values[:, 0::2] * 256 + values[:, 1::2] if field.pair else values
    low, high = int(min(field.low)), int(max(field.high))
    wrong = values[(values < low) | (values > high)]
    if wrong.size:
        raise LudusError(
            f"{name}: {field.name} is {wrong[0]}, but the network knows {low} to {high}; fix the observation"
        )


def _check_id(part: Entities, tokens: Array, rows: int) -> None:
    ids = np.zeros(len(tokens), np.int64)
    for column in part.ids:
        ids = ids * 256 + tokens[:, column].astype(np.int64)
    if ids.max(initial=0) >= rows:
        raise LudusError(
            f"{part.name} contains the id {ids.max()}, but the network's table ends at {rows - 1}; "
            "increase embedding_shape to the number of ids, or fix the observation"
        )


def _check_pointers(layout: Layout, observation: Mapping[str, Array]) -> None:
    part = layout.actions
    if part is None or part.points < 0 or part.name not in observation:
        return
    pointers = np.asarray(observation[part.name]).reshape(-1, part.columns)[:, part.points]
    there = np.asarray(observation[layout.entities[0].name]).shape[1]
    if pointers.max(initial=0) > there:
        raise LudusError(
            f"{part.name} refers to row {pointers.max()} of {layout.entities[0].name}, which has only {there}"
        )


BUCKETS = (32, 48, 64, 80, 96, 128, 160)
"""lengths to which sets of entities are cut; few of them keep the number of compilations low"""
FEW = (8, 16, 32)
"""lengths of past and possible actions"""


def real(part: Entities, tokens: Tokens) -> Tokens:
    """Which of the tokens [..., L, K] are used: those that are neither padding nor unknown."""
    if part.padding < 0:
        return tokens.__array_namespace__().ones(tokens.shape[:-1], bool)
    there = tokens[..., part.padding] != 0
    column, value = part.unknown
    if column < 0:
        return there
    known = tokens[..., column] != value
    for number in part.ids if part.keep_identified else ():
        known = known | (tokens[..., number] != 0)
    return there & known


def trimmed(
    layout: Layout, observation: Mapping[str, Array], legal: Array | None = None, buckets: tuple[int, ...] = BUCKETS
) -> dict[str, Array]:
    """The observation with padding cut off as far as the fullest row allows: entities to `buckets`, actions to `FEW`.

    The output of the network does not change if it has `card_mask`, because then it ignores the padding of entities.
    The padding of actions is always ignored. Actions that are `legal` are kept.
    """
    lengths = used(layout, observation, legal)
    for part in filter(None, (layout.history, layout.actions)):
        if part.name in lengths:
            lengths[part.name] = _bucket(lengths[part.name], part.count, FEW)
    return cut_to(layout, observation, lengths | longest(layout, observation, buckets))


def used(layout: Layout, observation: Mapping[str, Array], legal: Array | None = None) -> dict[str, int]:
    """The length that each set with padding needs at least: entities, past and possible actions."""
    lengths = _used_entities(layout, observation)
    for part in filter(None, (layout.history, layout.actions)):
        if part.padding >= 0:
            there = np.any(real(part, np.asarray(observation[part.name])), axis=0)
            if part is layout.actions and legal is not None:
                there = there | np.asarray(legal, bool).any(axis=0)
            lengths[part.name] = _last(there)
    return lengths


def cut_to(layout: Layout, observation: Mapping[str, Array], lengths: Mapping[str, int]) -> dict[str, Array]:
    """The observation with its sets cut to these lengths, which must be at least those that are `used`."""
    cut = dict(observation)
    for part in filter(None, (layout.history, layout.actions)):
        if part.name in lengths:
            cut[part.name] = np.asarray(observation[part.name])[:, : lengths[part.name]]
    return packed(layout, cut, lengths)


def longest(layout: Layout, observation: Mapping[str, Array], buckets: tuple[int, ...] = BUCKETS) -> dict[str, int]:
    """The length that each set of entities with padding needs for the fullest row."""
    counts = {part.name: part.count for part in layout.entities}
    return {name: _bucket(n, counts[name], buckets) for name, n in _used_entities(layout, observation).items()}


def _used_entities(layout: Layout, observation: Mapping[str, Array]) -> dict[str, int]:
    lengths = {}
    for part in layout.entities:
        if part.padding >= 0:
            there = real(part, np.asarray(observation[part.name]))
            packs = part.unknown[0] >= 0  # then `packed` removes the gaps
            lengths[part.name] = int(there.sum(axis=1).max(initial=0)) if packs else _last(np.any(there, axis=0))
    return lengths


def packed(layout: Layout, observation: Mapping[str, Array], lengths: Mapping[str, int]) -> dict[str, Array]:
    """The observation with its entities cut to these lengths; unknown tokens are removed."""
    cut = dict(observation)
    for part in layout.entities:
        if part.name not in lengths:
            continue
        shown = [name for name in (part.name, part.mask) if name in observation]
        if part.unknown[0] < 0:
            cut |= {name: np.asarray(observation[name])[:, : lengths[part.name]] for name in shown}
            continue
        there = real(part, np.asarray(observation[part.name]))
        places = np.where(there, there.cumsum(axis=1), 0)
        rows, columns = np.nonzero(there)
        for name in shown:
            whole = np.asarray(observation[name])
            cut[name] = np.zeros((len(whole), lengths[part.name], *whole.shape[2:]), whole.dtype)
            cut[name][rows, places[rows, columns] - 1] = whole[rows, columns]
        if layout.actions and layout.actions.points >= 0 and part is layout.entities[0]:
            cut[layout.actions.name] = _moved_pointers(layout.actions, cut[layout.actions.name], places)
    return cut


def _moved_pointers(part: Entities, acts: Array, places: Array) -> Array:
    """The actions with pointers to the new positions of entities; `places` [B, L] counts from 1, 0 if removed."""
    moved = np.pad(places, ((0, 0), (1, 0)))
    acts = acts.copy()
    acts[..., part.points] = np.take_along_axis(moved, acts[..., part.points].astype(np.int64), axis=1)
    return acts


def _last(used: Array) -> int:
    """The length that covers all used places."""
    return int(np.flatnonzero(used)[-1]) + 1 if used.any() else 0


def _bucket(needed: int, count: int, lengths: tuple[int, ...]) -> int:
    """The smallest of the lengths that is enough, at most the number of places."""
    return min(min((length for length in lengths if length >= needed), default=count), count)
