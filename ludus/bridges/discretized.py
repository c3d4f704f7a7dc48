"""A game with tiled observations, made from the rules of another game. `discretize` runs a copy of this module for each
game and tiling, with both already bound, so that they are compiled in and part of the key of the compile cache.
"""

# ruff: noqa: F821, SIM113  (`discretize` defines game and tiling before this module runs; unrolled loops cannot enumerate)
# Rules are typed by Numba when they compile.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from types import ModuleType

import numpy as np
from numba import literal_unroll

from ludus.dsl import HEAD, Parameter, i16, record, rule, u8, within
from ludus.types import Array

INNER: ModuleType
"""the rules of the inner game"""
PARAMETERS: dict[str, Parameter]
CONTENT: str
"""a hash of the inner game's sources and of all constants below: it is part of the module's name, which compiled code
refers to, so it must be part of the cache key"""
TILING: str
"""a hash of bins and limits"""
BINS: Array
"""[k] number of tiles of each component"""
LOW: Array
HIGH: Array
WIDTH: Array
"""[k] width of one tile"""
SCALE: Array
"""[k] tiles per unit"""

SPEC = INNER.SPEC
ARRAYS = tuple(name for name in INNER.OBSERVATION.names if INNER.OBSERVATION[name].shape)
NUMBERS = tuple(name for name in INNER.OBSERVATION.names if not INNER.OBSERVATION[name].shape)
HAS_ARRAYS, HAS_NUMBERS = bool(ARRAYS), bool(NUMBERS)
SIZES = [max(1, int(np.prod(INNER.OBSERVATION[name].shape))) for name in INNER.OBSERVATION.names]
START = dict(zip(INNER.OBSERVATION.names, np.cumsum([0, *SIZES]), strict=False))
ARRAY_START = np.array([START[name] for name in ARRAYS], np.int64)
NUMBER_START = np.array([START[name] for name in NUMBERS], np.int64)
"""the first component of each field"""

# The inner observation is written into the state, since rules must not allocate. Its widest fields come first, so that
# there is no padding between fields: copies leave padding unwritten, and equal states would differ in it.
BY_WIDTH = sorted(INNER.OBSERVATION.names, key=lambda name: -INNER.OBSERVATION[name].base.itemsize)
FILLED = sum(INNER.OBSERVATION[name].itemsize for name in BY_WIDTH)
GAP = -FILLED % INNER.OBSERVATION[BY_WIDTH[0]].base.itemsize
UNTILED = record(
    **{name: INNER.OBSERVATION[name] for name in BY_WIDTH}, **({"gap_at_the_end": (u8, GAP)} if GAP else {})
)
# The empty field adds the tiling to the game's fingerprint by its name, so that agents trained with another tiling are
# not accepted. Both fields come before those of the game: Numba treats a record that begins like another one as its
# subtype, and warns that this is experimental.
STATE = record(
    **HEAD, **{f"tiling_{TILING}": (u8, 0)}, untiled=UNTILED,
    **{name: INNER.STATE[name] for name in INNER.STATE.names if name not in HEAD},
)  # fmt: skip
OBSERVATION = record(tiles=within(0, tuple((BINS - 1).tolist()), i16, len(BINS)))

init, step, legal, action_name = INNER.init, INNER.step, INNER.legal, INNER.action_name
observe_untiled = INNER.observe
if hasattr(INNER, "redeal"):
    redeal = INNER.redeal
if hasattr(INNER, "scene"):
    scene = INNER.scene
if hasattr(INNER, "text"):
    text = INNER.text


@rule
def tile(value, component):
    """The number of edges between tiles at or below the value: estimated by division, then corrected at the edges.

    NaN belongs to tile 0.
    """
    low, width, last = LOW[component], WIDTH[component], BINS[component] - 1
    if not value > low:
        return 0
    if value >= HIGH[component]:
        return last
    place = min(np.int64((value - low) * SCALE[component]), last)
    while value < low + place * width:
        place -= 1
    while place < last and value >= low + (place + 1) * width:
        place += 1
    return place


@rule
def observe(state, seat, out):
    seen = state.untiled
    observe_untiled(state, seat, seen)
    if HAS_ARRAYS:
        field = 0
        for name in literal_unroll(ARRAYS):
            component = ARRAY_START[field]
            for value in seen[name].flat:
                out.tiles[component] = tile(np.float64(value), component)
                component += 1
            # Observing must not change the state, so the scratch fields are cleared.
            seen[name].fill(0)
            field += 1
    if HAS_NUMBERS:
        field = 0
        for name in literal_unroll(NUMBERS):
            out.tiles[NUMBER_START[field]] = tile(np.float64(seen[name]), NUMBER_START[field])
            seen[name] = 0
            field += 1
