"""The car's road by brute force in plain NumPy: checks every segment, with other formulas than the game."""

import numpy as np

SIGHT, STONE = 150.0, 10.0
RAYS = np.radians([-45.0, -22.5, 0.0, 22.5, 45.0])


def nearest(states):
    """[N] distance to the ring and the share of the ring at the nearest point, over all segments."""
    start = states["points"].astype(float)
    way = np.roll(start, -1, axis=1) - start
    offset = np.stack([states["x"], states["y"]], -1)[:, None] - start
    share = np.clip((offset * way).sum(-1) / (way * way).sum(-1), 0, 1)
    gaps = np.linalg.norm(offset - share[..., None] * way, axis=-1)
    best = gaps.argmin(axis=1)
    rows = np.arange(len(states))
    return gaps[rows, best], (best + share[rows, best]) / 100


def sensors(states):
    """[N, 5] distances to the edge of the road or an obstacle."""
    angles = np.radians(states["angle"])[:, None] + RAYS
    ways = np.exp(1j * angles)
    here = (states["x"] + 1j * states["y"])[:, None]
    road = road_ahead(states, here, ways)
    return np.minimum(np.minimum(road, SIGHT), stone_ahead(states, here, ways))


def road_ahead(states, here, ways):
    """How far the union of all 100 capsules extends along each ray: merge the connected intervals from 0 on."""
    begin, end = capsule_spans(states, here, ways)
    reach = np.zeros(here.shape[:1] + ways.shape[1:])
    while True:
        held = begin <= reach[..., None] + 1e-9
        further = np.maximum(reach, np.where(held, end, -np.inf).max(axis=-1))
        if (further <= reach).all():
            return reach
        reach = further


def capsule_spans(states, here, ways):
    """[N, 5, 100] the interval of each ray within `width` of each segment.

    After rotating the segment onto the real axis, a capsule is a rectangle and two discs.
    """
    a = states["points"][..., 0].astype(float) + 1j * states["points"][..., 1]
    b = np.roll(a, -1, axis=1)
    length = np.abs(b - a)
    turn = ((b - a) / length).conj()
    origin = (here - a)[:, None] * turn[:, None]
    way = ways[..., None] * turn[:, None]
    width = states["width"][:, None, None]
    spans = [
        slab_span(origin, way, length[:, None], width),
        disc_span(origin, way, width),
        disc_span(origin - length[:, None], way, width),
    ]
    return np.minimum.reduce([span[0] for span in spans]), np.maximum.reduce([span[1] for span in spans])


def slab_span(origin, way, length, width):
    """Where a ray is inside 0 <= real <= length and |imaginary| <= width."""
    with np.errstate(divide="ignore", invalid="ignore"):
        across = np.stack([(0 - origin.real) / way.real, (length - origin.real) / way.real])
        aside = np.stack([(-width - origin.imag) / way.imag, (width - origin.imag) / way.imag])
    begin = np.maximum(across.min(axis=0), aside.min(axis=0))
    end = np.minimum(across.max(axis=0), aside.max(axis=0))
    return np.where(begin <= end, begin, np.inf), np.where(begin <= end, end, -np.inf)


def disc_span(origin, way, radius):
    """Where a ray is inside a disc about 0: the roots of |origin + t way|² = radius²."""
    half = (origin * way.conj()).real
    root = half * half - (np.abs(origin) ** 2 - radius * radius)
    spread = np.sqrt(np.maximum(root, 0))
    return np.where(root >= 0, -half - spread, np.inf), np.where(root >= 0, -half + spread, -np.inf)


def stone_ahead(states, here, ways):
    """[N, 5] the distance to the nearest obstacle on each ray, infinite without one."""
    stones = states["stones"][..., 0].astype(float) + 1j * states["stones"][..., 1]
    begin, end = disc_span((here - stones)[:, None], ways[..., None], STONE)
    there = np.arange(stones.shape[1]) < states["obstacles"][:, None]
    return np.where(there[:, None] & (end >= 0), np.maximum(begin, 0), np.inf).min(axis=-1)
