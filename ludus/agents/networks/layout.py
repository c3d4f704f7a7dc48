"""What a game shows, described once: which numbers stand alone, which are tokens, which are past or possible actions.

A layout is hashable data. `layout_of` reads it from the record of any game; a game with cards declares its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ludus.agents.networks.arguments import KNOWN_IDS
from ludus.types import Array, Discrete, LudusError, Spec
from ludus.words import bounds

MOST_CATEGORIES = 256
"""integers of a wider range are numbers, not names"""
MOST_TOKENS = 512
"""an array with more cells is a picture, read as numbers: attention over it would cost its square"""
BINS = 32
"""soft steps in which a number is shown to an encoder"""
MOST_BINNED = 64
"""of arrays with more numbers, steps would be too many: they are read as they are"""


class Shown(NamedTuple):
    """An array of the observation as one row of a batch holds it."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Field(NamedTuple):
    """One feature, read from neighbouring columns of an array."""

    name: str
    shape: tuple[int, ...]
    """() for one value, (n,) for n values alike"""
    kind: Literal["category", "number"]
    low: tuple[float, ...]
    """one bound, or one a value"""
    high: tuple[float, ...]
    at: int = 0
    """the first of its columns"""
    source: str = ""
    """the array it is read from, where that has another name"""
    pair: bool = False
    """each value is two columns: x // 256, x % 256"""
    share: int = 16
    """the encoder gives a category `channels // share` dimensions"""
    bins: int = 0
    """soft steps between low and high; 0 to read a number as it is, scaled"""
    fine: float = 0.0
    """three of four steps lie below this, where differences matter most; 0 for steps alike"""

    @property
    def size(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)

    @property
    def categories(self) -> int:
        """How many different values a category has."""
        return int(max(self.high) - min(self.low)) + 1

    @property
    def columns(self) -> int:
        """How many columns it is read from."""
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
    """the column that is 0 where there is no entity; -1 if all are real"""
    points: int = -1
    """for actions: the column that names the row, from 1, of the first entity set it is about; 0 for none"""
    untold: tuple[int, int] = (-1, 0)
    """column and value of tokens that say nothing but that they are there, unless they have an id: like padding"""
    named: bool = True
    """whether those of them that have an id are looked at"""
    mask: str = ""
    """the array that tells which columns of each token the player sees, where others are shown too; all 0 for all"""
    masked: tuple[int, ...] = ()
    """how many columns each column of the mask speaks of"""
    positions: bool = False
    """whether a token's place in the array means something (a board does, a hand of cards does not)"""


@dataclass(frozen=True)
class Layout:
    """Everything a network must know of an observation."""

    shown: tuple[Shown, ...]
    globals: tuple[Field, ...] = ()
    """what stands alone"""
    entities: tuple[Entities, ...] = ()
    """what is read by the transformer, all sets together"""
    history: Entities | None = None
    """what was done, newest first"""
    actions: Entities | None = None
    """what can be done, one token for each action; where there is none, actions are known by their number"""
    hidden: tuple[Entities, ...] = ()
    """what only a critic with `oppo_info` may read"""
    ended: tuple[str, int] = ("", 0)
    """array and column that are not 0 once the game is over, so that the row is not `valid`"""

    def __post_init__(self) -> None:
        for part in self.sets:
            _check_set(self, part)
        for field in self.globals:
            _check_columns(field.name, field, math.prod(self.array(field.source or field.name).shape))
        if self.actions and self.actions.points >= 0 and not self.entities:
            raise LudusError(f"layout: {self.actions.name} points to entities, and there are none; declare them first")

    @property
    def sets(self) -> tuple[Entities, ...]:
        """All sets of tokens."""
        return (*self.entities, *filter(None, (self.history, self.actions)), *self.hidden)

    def array(self, name: str) -> Shown:
        """What is said of the array of this name."""
        for array in self.shown:
            if array.name == name:
                return array
        known = ", ".join(array.name for array in self.shown)
        raise LudusError(f'layout: "{name}" is not shown; the arrays shown are {known}')


def _check_set(layout: Layout, part: Entities) -> None:
    shape = layout.array(part.name).shape
    if math.prod(shape) != part.count * part.columns:
        raise LudusError(
            f"layout: {part.name} of shape {shape} is not {part.count} entities of {part.columns} columns; mend either"
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
        raise LudusError(f"layout: {field.name} reads the columns {field.at} to {last} of {name}, which has {columns}")
    if field.kind == "category" and not (np.isfinite([*field.low, *field.high]).all() and field.categories >= 1):
        raise LudusError(f"layout: the category {field.name} needs a finite range, not {field.low} to {field.high}")


def layout_of(observation: np.dtype[Any], spec: Spec, own: Layout | None = None) -> Layout:
    """The layout of a record, or the game's `own` one once it is seen to fit.

    Integers of a small range are categories, arrays of them tokens; all other numbers stand alone.
    """
    shown = tuple(_shown(observation, name) for name in observation.names or ())
    if own is not None:
        return _fitting(own, shown, spec)
    alone, sets = [], []
    for array in shown:
        low, high = _range(observation, array)
        if array.shape and _is_category(array, low, high) and math.prod(array.shape) <= MOST_TOKENS:
            sets.append(_tokens(array, low, high))
        else:
            alone.append(_alone(array, low, high))
    if not alone and not sets:
        raise LudusError("this game shows nothing: its OBSERVATION has no fields that are not empty; give it one")
    return Layout(shown, tuple(alone), tuple(sets))


def _shown(observation: np.dtype[Any], name: str) -> Shown:
    field = observation.fields[name][0]  # type: ignore[index]
    if field.base.kind not in "biuf" or 0 in field.shape:
        raise LudusError(f"{name} of the observation is {field}; networks read arrays of numbers that are not empty")
    return Shown(name, field.shape, field.base.name)


def _range(observation: np.dtype[Any], array: Shown) -> tuple[Array, Array]:
    """The declared range; none where the type's own is too wide to mean anything."""
    if array.dtype == "bool":
        return np.zeros(array.shape), np.ones(array.shape)
    low, high = (np.asarray(end, np.float64) for end in bounds(observation, array.name))
    meaningless = (high - low) >= 2.0**31
    return np.where(meaningless, -np.inf, low), np.where(meaningless, np.inf, high)


def _is_category(array: Shown, low: Array, high: Array) -> bool:
    return not array.dtype.startswith("float") and float(np.max(high) - np.min(low)) < MOST_CATEGORIES


def _ends(bound: Array) -> tuple[float, ...]:
    """One number where all are alike."""
    flat = np.ravel(bound).tolist()
    return tuple(flat[:1] if len(set(flat)) == 1 else flat)


def _alone(array: Shown, low: Array, high: Array) -> Field:
    if not array.shape and _is_category(array, low, high):
        return Field(array.name, (), "category", _ends(low), _ends(high), share=4)
    size = math.prod(array.shape)
    shape = (size,) if array.shape else ()
    if size > MOST_BINNED:
        return Field(array.name, shape, "number", _ends(low), _ends(high), share=1)
    return Field(array.name, shape, "number", _ends(low), _ends(high), share=_share(size), bins=BINS)


def _share(count: int) -> int:
    """About as many channels for all of `count` features as a token has, and never less than a sixteenth for one."""
    return min(16, 1 << (count - 1).bit_length())


def _tokens(array: Shown, low: Array, high: Array) -> Entities:
    """Each cell a token; or each row, where the columns have ranges of their own."""
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


def _fitting(own: Layout, shown: tuple[Shown, ...], spec: Spec) -> Layout:
    """The game's own layout, which must speak of the record's arrays and of as many actions as there are."""
    real = {array.name: array for array in shown}
    for array in own.shown:
        if real.get(array.name) != array:
            there = real.get(array.name, "no such field")
            raise LudusError(f"LAYOUT speaks of {array}, but the OBSERVATION has {there}; make them agree")
    if own.actions and not (isinstance(spec.actions, Discrete) and spec.actions.n == own.actions.count):
        raise LudusError(
            f"LAYOUT has {own.actions.count} action tokens, but the actions are {spec.actions}; make them agree"
        )
    return own


def blank(layout: Layout, rows: int) -> dict[str, Array]:
    """An observation of zeros, to make parameters from: [rows, ...] arrays."""
    return {array.name: np.zeros((rows, *array.shape), array.dtype) for array in layout.shown}


def check_shapes(layout: Layout, observation: Mapping[str, Any], hidden: bool = False) -> int:
    """The number of rows of a batch, once its arrays are seen to be those of the layout (tokens may be cut off)."""
    rows = -1
    for name, shape in _needed(layout, hidden):
        if name not in observation:
            raise LudusError(f"the observation lacks {name}; it has {', '.join(observation) or 'nothing'}")
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
    """The arrays that are read; those of the critic alone only where it reads them."""
    left_out = set() if hidden else {part.name for part in layout.hidden} - {part.name for part in layout.entities}
    return ((array.name, array.shape) for array in layout.shown if array.name not in left_out)


def check_ids(layout: Layout, observation: Mapping[str, Array], rows: int = KNOWN_IDS + 1) -> None:
    """Refuse what a network would have to clip: ids beyond the `rows` of its table, categories beyond their range.

    Inside a network nothing can be said any more, so this is asked where observations come in.
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
            f"{name}: {field.name} is {wrong[0]}, and the network knows {low} to {high}; mend the observation"
        )


def _check_id(part: Entities, tokens: Array, rows: int) -> None:
    ids = np.zeros(len(tokens), np.int64)
    for column in part.ids:
        ids = ids * 256 + tokens[:, column].astype(np.int64)
    if ids.max(initial=0) >= rows:
        raise LudusError(
            f"{part.name} holds the id {ids.max()}, but the network's table ends at {rows - 1}; "
            "raise embedding_shape to the number of ids, or look for what wrote this one"
        )


def _check_pointers(layout: Layout, observation: Mapping[str, Array]) -> None:
    part = layout.actions
    if part is None or part.points < 0 or part.name not in observation:
        return
    pointers = np.asarray(observation[part.name]).reshape(-1, part.columns)[:, part.points]
    there = np.asarray(observation[layout.entities[0].name]).shape[1]
    if pointers.max(initial=0) > there:
        raise LudusError(f"{part.name} points to row {pointers.max()} of {layout.entities[0].name}, which has {there}")


BUCKETS = (32, 48, 64, 80, 96, 128, 160)
"""the lengths that sets of entities are cut to; few of them keep the number of compilations low"""
FEW = (8, 16, 32)
"""those of past and possible actions"""


def real(part: Entities, tokens: Any) -> Any:
    """Which of the tokens [..., L, K] are looked at: neither padding nor untold."""
    if part.padding < 0:
        return np.ones(tokens.shape[:-1], bool)
    there = tokens[..., part.padding] != 0
    column, value = part.untold
    if column < 0:
        return there
    told = tokens[..., column] != value
    for number in part.ids if part.named else ():
        told = told | (tokens[..., number] != 0)
    return there & told


def trimmed(
    layout: Layout, observation: Mapping[str, Array], legal: Array | None = None, buckets: tuple[int, ...] = BUCKETS
) -> dict[str, Array]:
    """The observation without padding, as far as the fullest row allows: entities to one of `buckets`, acts to `FEW`.

    Past and possible actions that are padding are never looked at, other entities with `card_mask` alone: only with it
    nothing changes. What the network is told to be `legal` is kept.
    """
    cut = dict(observation)
    for part in filter(None, (layout.history, layout.actions)):
        if part.padding >= 0:
            array = np.asarray(observation[part.name])
            used = real(part, array).any(axis=0)
            if part is layout.actions and legal is not None:
                used = used | np.asarray(legal, bool).any(axis=0)
            cut[part.name] = array[:, : _bucket(used, FEW)]
    return packed(layout, cut, longest(layout, observation, buckets))


def longest(layout: Layout, observation: Mapping[str, Array], buckets: tuple[int, ...] = BUCKETS) -> dict[str, int]:
    """How long each set of entities with padding must be, to hold those of the fullest row."""
    lengths = {}
    for part in layout.entities:
        if part.padding >= 0:
            there = real(part, np.asarray(observation[part.name]))
            used = np.arange(part.count) < there.sum(axis=1).max(initial=0)
            lengths[part.name] = _bucket(used if part.untold[0] >= 0 else there.any(axis=0), buckets)
    return lengths


def packed(layout: Layout, observation: Mapping[str, Array], lengths: Mapping[str, int]) -> dict[str, Array]:
    """The observation with its entities cut to these lengths; what lies between them untold is left out."""
    cut = dict(observation)
    for part in layout.entities:
        if part.name not in lengths:
            continue
        shown = [name for name in (part.name, part.mask) if name in observation]
        if part.untold[0] < 0:
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
            cut[layout.actions.name] = _pointing(layout.actions, cut[layout.actions.name], places)
    return cut


def _pointing(part: Entities, acts: Array, places: Array) -> Array:
    """The same actions, about the same entities where these lie now; `places` [B, L] counts from 1, 0 for left out."""
    moved = np.pad(places, ((0, 0), (1, 0)))
    acts = acts.copy()
    acts[..., part.points] = np.take_along_axis(moved, acts[..., part.points].astype(np.int64), axis=1)
    return acts


def _bucket(used: Array, lengths: tuple[int, ...]) -> int:
    """The least of the lengths that holds all that is used, or all there is."""
    needed = int(np.flatnonzero(used)[-1]) + 1 if used.any() else 0
    return min(min((length for length in lengths if length >= needed), default=len(used)), len(used))
