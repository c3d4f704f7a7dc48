"""Discretize continuous observations into tiles, so that tabular methods can learn them.

`discretize:cartpole(bins=8)` or `discretize:gymnasium:CartPole-v1(bins=6)` works wherever a game's name is accepted.
A native game stays native: its tiles are compiled into the rules and run at full speed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ludus import bridges, games
from ludus.bridges import AnyPool
from ludus.dsl import bounds, i16, record, within
from ludus.pool import Pool, Snapshot, binding
from ludus.pool.actions import random_actions
from ludus.types import Array, Continuous, DType, LudusError, Spec, Step

TEMPLATE = pathlib.Path(__file__).with_name("discretized.py")
NAME = re.compile(r"\s*([^()]+?)\s*(\(.*\))?\s*", re.DOTALL)
MAX_BINS, MAX_COMPONENTS = 2**15 - 1, 1024
"""MAX_BINS is the largest int16; a table over more than MAX_COMPONENTS numbers is not feasible"""
MEASURE_ROWS, MEASURE_STEPS, MEASURE_SEED = 8, 512, 20
"""random play that measures the limits of components without a declared range"""
ENDLESS = {"f": float(np.finfo(np.float32).max), "i": 2.0**31 - 1, "u": 2.0**32 - 1}
"""bounds from here on are just the largest number of some type, and count as undeclared"""

Bins = int | str | Sequence[int]
Limits = str | Sequence[tuple[float, float] | None] | None
Measure = Callable[[], Array]
"""returns [M, k] observations from random play; called only if some range is not declared"""


class Component(NamedTuple):
    """One number of an observation, with its declared range."""

    name: str
    low: float
    high: float
    whole: bool
    """whether it is an integer"""


class Tiling(NamedTuple):
    """How to convert an observation of k components into k tiles."""

    bins_text: str
    """the number of bins as written in a name: `8` or `1/1/6/12`"""
    limits_text: str
    """the limits as written in a name: `-2.4:2.4//-3:3`; empty if only declared ranges are used"""
    bins: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    """the upper end of the last tile; for integers it is the limit + 1"""

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(self[2:]).encode()).hexdigest()[:12]

    @property
    def width(self) -> list[float]:
        """[k] the width of one tile."""
        return [(high - low) / bins for low, high, bins in zip(self.low, self.high, self.bins, strict=True)]

    @property
    def edges(self) -> list[Array]:
        """For each component, the values at which a new tile begins."""
        return [
            low + np.arange(1, bins) * width for low, bins, width in zip(self.low, self.bins, self.width, strict=True)
        ]

    @property
    def observation(self) -> DType:
        return record(tiles=within(0, tuple(bins - 1 for bins in self.bins), i16, len(self.bins)))


class Discretize:
    """A pool whose observations are replaced by `tiles`, [N, k] from 0 to bins - 1; everything else is unchanged.

    >>> pool = Discretize(Pool("cartpole", rows=4), bins=(1, 1, 6, 12), limits="//-0.21:0.21/-2:2")
    >>> pool.step.observation["tiles"].shape
    (4, 4)

    Tiles of one component have equal width; a value on an edge belongs to the upper tile, values beyond the limits to
    the outermost tiles, and NaN to tile 0. An integer with at most `bins` values keeps them, counted from the lowest.
    Without limits the declared ranges are used. A range that is not declared is measured in random play: in separate
    games if the pool is native, else in the given pool, which is then reset.
    """

    compiled = None
    """None, because compiled code would see the inner game without tiles"""

    def __init__(self, pool: AnyPool, bins: Bins = 8, limits: Limits = None) -> None:
        self._pool = pool
        self.tiling = plan(pool.name, pool.spec, pool.observation, bins, limits, lambda: _measure_here(pool))
        self.rows, self.spec, self.observation = pool.rows, pool.spec, self.tiling.observation
        self.name = tiled_name(pool.name, self.tiling)
        self._edges = self.tiling.edges

    @property
    def fingerprint(self) -> str:
        """A hash that depends on the inner game and on the tiling."""
        return hashlib.sha256(f"{self._pool.fingerprint} {self.tiling.digest}".encode()).hexdigest()[:16]

    @property
    def can_fork(self) -> bool:
        return self._pool.can_fork

    @property
    def can_save(self) -> bool:
        return self._pool.can_save

    @property
    def can_draw(self) -> bool:
        return self._pool.can_draw

    @property
    def names_moves(self) -> bool:
        return self._pool.names_moves

    @property
    def status(self) -> Array:
        """[rows] PLAYING, OVER or CUT."""
        return self._pool.status

    @property
    def step(self) -> Step:
        """What the players see now."""
        return self._tiled(self._pool.step)

    def reset(self, seed: int | Sequence[int] | None = None, rows: Array | None = None) -> Step:
        """Start new games in all rows, or in those marked by the booleans `rows`."""
        return self._tiled(self._pool.reset(seed, rows))

    def advance(self, actions: ArrayLike) -> Step:
        """Play one action in every game."""
        return self._tiled(self._pool.advance(actions))

    def check(self, actions: ArrayLike) -> Array:
        """The actions as the inner pool converts them."""
        return self._pool.check(actions)

    def random_actions(self, seed: int) -> Array:
        """A random legal action for every row."""
        return self._pool.random_actions(seed)

    def fork(self, rows: Sequence[int], seed: int | Sequence[int], seat: int = -1) -> Discretize:
        """Copies of these rows with new random streams, if the inner pool can be copied."""
        return Discretize(self._pool.fork(rows, seed, seat), self.tiling.bins_text, self.tiling.limits_text or None)

    def save(self) -> Snapshot:
        """The whole content of the inner pool, if it can be saved."""
        return self._pool.save()._replace(fingerprint=self.fingerprint)

    def restore(self, snapshot: Snapshot) -> Step:
        """Continue exactly from the call of `save`."""
        inside = self._pool.fingerprint if snapshot.fingerprint == self.fingerprint else ""
        return self._tiled(self._pool.restore(snapshot._replace(fingerprint=inside)))

    def measure(self, rows: Array) -> dict[str, Array]:
        """The measures of the inner game."""
        return self._pool.measure(rows)

    def action_name(self, action: Array | int, row: int = 0, seat: int = -1) -> str:
        """The name of an action."""
        return self._pool.action_name(action, row, seat)

    def describe(self, row: int = 0, seat: int = -1) -> str:
        """One game as text."""
        return self._pool.describe(row, seat)

    def scene(self, row: int = 0, seat: int = -1) -> Array:
        """One game as shapes or pixels."""
        return self._pool.scene(row, seat)

    def close(self) -> None:
        """Close the inner pool."""
        self._pool.close()

    def _tiled(self, step: Step) -> Step:
        return step._replace(observation={"tiles": tiles(self._edges, flat(step))})


def open_pool(name: str, rows: int, seed: int | Sequence[int] = 0, threads: int | None = None) -> AnyPool:
    """A pool of `cartpole(bins=8, horizon=100)` in tiles; parameters other than `bins` and `limits` are the game's."""
    inner, bins, limits = split(name)
    if ":" not in inner:
        return Pool(discretized_game(games.load(inner), bins, limits), rows, seed, threads)
    pool = bridges.open_pool(inner, rows, seed, threads)
    try:
        if pool.compiled is not None:
            return Pool(discretized_game(pool.compiled.game, bins, limits), rows, seed, threads)
        tiling = plan(pool.name, pool.spec, pool.observation, bins, limits, lambda: _measure_name(inner))
        return Discretize(pool, tiling.bins_text, tiling.limits_text or None)
    except LudusError:
        pool.close()
        raise


def discretized_game(game: games.Game, bins: Bins = 8, limits: Limits = None) -> games.Game:
    """A native game with tiled observations; one module per process for the same game, settings and tiling."""
    rules = game.rules
    tiling = plan(game.full_name, game.spec, rules.OBSERVATION, bins, limits, lambda: _measure_game(game))
    if "untiled" in rules.STATE.names:
        raise LudusError(f'the STATE of {game.full_name} has a field "untiled", a name discretize needs; rename it')
    name = tiled_name(game.full_name, tiling)
    content = hashlib.sha256(f"{binding.digest(TEMPLATE, rules)} {name} {tiling!r}".encode()).hexdigest()[:16]
    module = sys.modules.get(f"ludus_discretized_{content}") or _run_template(content, game, tiling)
    module.__doc__ = f"{game.title} in tiles: {game.summary}"
    return games.Game(name, module, dict(game.settings))


def plan(
    name: str, spec: Spec, observation: DType, bins: Bins, limits: Limits, measure: Measure
) -> Tiling:  # fmt: skip
    """The tiling of a game's observations; raises LudusError if they cannot be tiled."""
    components = components_of(observation)
    _check_sense(name, spec, components)
    requested, given = read_bins(name, bins, components), read_limits(name, limits, components)
    undeclared = [
        given[k] is None and requested[k] > 1 and not (math.isfinite(one.low) and math.isfinite(one.high))
        for k, one in enumerate(components)
    ]
    seen = measured_ranges(measure()) if any(undeclared) else None
    found = [
        (0.0, 1.0) if requested[k] == 1 else given[k] or _range(one, seen[k] if seen is not None else (0.0, 1.0))
        for k, one in enumerate(components)
    ]
    names_limits = any(undeclared) or any(one is not None for one in given)
    return _tiling(name, components, requested, found, names_limits)


def tiles(edges: list[Array], values: Array) -> Array:
    """[N, k] numbers -> [N, k] tiles: the number of edges at or below each value, 0 for NaN."""
    found = np.empty(values.shape, i16)
    for component, inner in enumerate(edges):
        found[:, component] = np.searchsorted(inner, values[:, component], side="right")
    found[np.isnan(values)] = 0
    return found


def flat(step: Step) -> Array:
    """[N, k] all components of the observations, in the order of the record."""
    return np.concatenate([field.reshape(len(field), -1).astype(np.float64) for field in step.observation.values()], 1)


def components_of(observation: DType) -> list[Component]:
    """Every number of an observation record; bounds at the limits of a type become infinite."""
    found = []
    for name in observation.names or ():
        low, high = bounds(observation, name)
        kind = observation[name].base.kind
        for place in np.ndindex(low.shape):
            label = f"{name}{list(place)}" if place else name
            found.append(Component(label, _end(low[place], kind), _end(high[place], kind), kind in "iu"))
    return found


def read_bins(name: str, bins: Bins, components: list[Component]) -> list[int]:
    """The number of tiles of each component, from one number, a text like 1/1/6/12, or a sequence."""
    parts = bins.split("/") if isinstance(bins, str) else [bins] if isinstance(bins, int | np.integer) else list(bins)
    if len(parts) not in (1, len(components)):
        raise LudusError(
            f"{name}: {len(parts)} bins were given, but the observation has {_listed(components)}; "
            "give one number for all, or one each, joined by /"
        )
    found = [int(text) if re.fullmatch(r"\d{1,5}", text := str(part).strip(), re.ASCII) else 0 for part in parts]
    for part, number in zip(parts, found, strict=True):
        if not 1 <= number <= MAX_BINS:
            raise LudusError(f'{name}: bins "{part}" is not a whole number from 1 (ignore it) to {MAX_BINS}')
    return found * len(components) if len(found) == 1 else found


def read_limits(name: str, limits: Limits, components: list[Component]) -> list[tuple[float, float] | None]:
    """Low and high for each component, from a text like -2:2//0:1 (empty: not given) or a sequence."""
    if limits is None:
        return [None] * len(components)
    parts = limits.split("/") if isinstance(limits, str) else list(limits)
    if len(parts) != len(components):
        raise LudusError(
            f"{name}: {len(parts)} limits were given, but the observation has {_listed(components)}; give low:high for "
            "each, joined by / (empty for the declared range)"
        )
    return [_read_pair(name, part, one) for part, one in zip(parts, components, strict=True)]


def measured_ranges(values: Array) -> list[tuple[float, float]]:
    """The 1st and 99th percentile of each component [M, k], to three digits; widened if they are equal."""
    found = []
    for column in values.T:
        finite = column[np.isfinite(column)]
        low, high = np.percentile(finite, (1, 99)) if finite.size else (0.0, 0.0)
        found.append(_apart(float(f"{low:.3g}"), float(f"{high:.3g}")))
    return found


def random_play(pool: AnyPool) -> Array:
    """[M, k] observations from a few thousand steps of random play."""
    generator, step = np.random.default_rng(MEASURE_SEED), pool.step
    seen = [flat(step)]
    for _ in range(-(-MEASURE_STEPS * MEASURE_ROWS // pool.rows)):
        step = pool.advance(random_actions(generator, pool.spec, step.mask))
        seen.append(flat(step))
    return np.concatenate(seen)


def tiled_name(inner: str, tiling: Tiling) -> str:
    """The name that gives the same tiling when opened."""
    bare, _, settings = inner.partition("(")
    limits = f"limits={tiling.limits_text}" if tiling.limits_text else ""
    inside = ", ".join(filter(None, [f"bins={tiling.bins_text}", limits, settings.strip().removesuffix(")")]))
    return f"discretize:{bare}({inside})"


def split(name: str) -> tuple[str, str, str | None]:
    """`cartpole(bins=6, horizon=9)` -> ("cartpole(horizon=9)", "6", None)."""
    match = NAME.fullmatch(name)
    if not match:
        raise LudusError(f'"discretize:{name}" is not a name; write it like discretize:cartpole(bins=8)')
    settings = games.split_name(f"inner{match[2] or ''}")[1]
    bins, limits = settings.pop("bins", "8"), settings.pop("limits", None)
    if ":" not in match[1]:
        # Callers that want pictures pass render_mode to every name with a prefix; a native game does not need it.
        settings.pop("render_mode", None)
    inside = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{match[1]}({inside})" if inside else match[1], bins, limits


def _run_template(content: str, game: games.Game, tiling: Tiling) -> ModuleType:
    module_name = f"ludus_discretized_{content}"
    spec = importlib.util.spec_from_file_location(module_name, TEMPLATE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # The settings are already part of the name, so they become the defaults of the tiled game.
    parameters = games.parameters_of(game.rules)
    settings = {key: one._replace(default=game.settings[key]) for key, one in parameters.items()}
    module.__dict__.update(
        INNER=game.rules, PARAMETERS=settings, CONTENT=content, TILING=tiling.digest, BINS=np.array(tiling.bins),
        LOW=np.array(tiling.low), HIGH=np.array(tiling.high), WIDTH=np.array(tiling.width),
        SCALE=1 / np.array(tiling.width),
    )  # fmt: skip
    spec.loader.exec_module(module)
    sys.modules[module_name] = module
    return module


def _measure_game(game: games.Game) -> Array:
    return _measure_and_close(Pool(game, MEASURE_ROWS, MEASURE_SEED, threads=1))


def _measure_name(name: str) -> Array:
    return _measure_and_close(bridges.open_pool(name, MEASURE_ROWS, MEASURE_SEED))


def _measure_and_close(pool: AnyPool) -> Array:
    seen = random_play(pool)
    pool.close()
    return seen


def _measure_here(pool: AnyPool) -> Array:
    if pool.compiled is not None:
        return _measure_game(pool.compiled.game)
    seen = random_play(pool)
    pool.reset()
    return seen


def _check_sense(name: str, spec: Spec, components: list[Component]) -> None:
    if isinstance(spec.actions, Continuous):
        raise LudusError(
            f"{name} has continuous actions, but discretize is for tabular methods, which need discrete ones; open it "
            "without discretize: and train it by a method for continuous actions (PPO), or choose another game"
        )
    if all(one.whole for one in components):
        raise LudusError(f"{name} needs no discretize: its observations are already whole numbers; open it as {name}")
    if len(components) > MAX_COMPONENTS:
        raise LudusError(
            f"{name} has {len(components)} numbers in its observation, and discretize supports at most "
            f"{MAX_COMPONENTS}; train it by a method with networks, or shrink the observation first"
        )


def _tiling(
    name: str, components: list[Component], requested: list[int], found: list[tuple[float, float]], names_limits: bool
) -> Tiling:
    """Matching bins and limits, with their text form."""
    bins, ends = list(requested), list(found)
    for k, one in enumerate(components):
        if one.whole and requested[k] > 1:
            low, high = math.floor(found[k][0]), math.ceil(found[k][1])
            found[k], ends[k], bins[k] = (low, high), (low, high + 1), min(requested[k], high - low + 1)
    written = "/".join(
        f"{_short(low)}:{_short(high)}" if requested[k] > 1 else "" for k, (low, high) in enumerate(found)
    )  # fmt: skip
    same = str(requested[0]) if len(set(requested)) == 1 else "/".join(map(str, requested))
    lows, highs = (tuple(float(end) for end in side) for side in zip(*ends, strict=True))
    tiling = Tiling(same, written if names_limits else "", tuple(bins), lows, highs)
    _check_edges(name, components, tiling)
    return tiling


def _check_edges(name: str, components: list[Component], tiling: Tiling) -> None:
    sides = (tiling.low, tiling.high, tiling.width, tiling.edges)
    for one, low, high, width, inner in zip(components, *sides, strict=True):
        usable = math.isfinite(width) and width > 1e-300
        if not usable or not (np.diff([low, *inner, high]) > 0).all():
            raise LudusError(
                f"{name}: {one.name} cannot have {len(inner) + 1} tiles from {low:g} to {high:g}, since that exceeds "
                "the precision or range of floats; give fewer bins or other limits"
            )


def _range(one: Component, seen: tuple[float, float]) -> tuple[float, float]:
    """The declared range; measured ends replace undeclared ones."""
    return _apart(*(end if math.isfinite(end) else other for end, other in zip(one[1:3], seen, strict=True)))


def _apart(low: float, high: float) -> tuple[float, float]:
    """Widen an empty range, since a tiling needs two different limits."""
    return (low, high) if low < high else (low, low + max(1.0, abs(low)))


def _end(bound: object, kind: str) -> float:
    """A bound as a float with the shortest text, so that names are exact (4.8, not 4.800000190734863)."""
    number = float(str(bound))
    return number if abs(number) < ENDLESS[kind] else math.copysign(math.inf, number)


def _short(number: float) -> str:
    return repr(number).removesuffix(".0")


def _read_pair(name: str, part: str | tuple[float, float] | None, one: Component) -> tuple[float, float] | None:
    if part is None or part == "":
        return None
    try:
        low, high = (float(end) for end in (part.split(":") if isinstance(part, str) else part))
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    finite = math.isfinite(low) and math.isfinite(high)
    if not (finite and low < high and not (one.whole and (low % 1 or high % 1))):
        kind = "whole numbers" if one.whole else "numbers"
        raise LudusError(f'{name}: limits "{part}" of {one.name} are not two {kind} low:high, the lower first')
    return low, high


def _listed(components: list[Component]) -> str:
    shown = ", ".join(one.name for one in components[:6]) + (", …" if len(components) > 6 else "")
    return f"{len(components)} components ({shown})"
