"""The tracks: the same for a seed, never crossing or overlapping, with wide bends, inside the frame, passable."""

import itertools

import numpy as np
import pytest

from ludus.games import car
from ludus.pool import Pool

WIDTH = 40.0
STEEPEST = np.array(list(itertools.product((-1, -0.5, 0, 0.5, 1), repeat=5)))


@pytest.fixture(scope="module")
def states():
    return Pool("car(obstacles=10)", 20_000, 1).states


@pytest.fixture(scope="module")
def rings(states):
    return states["points"].astype(float)


def test_the_same_seed_gives_the_same_track(states):
    for row in (0, 7):
        seed = int(states["seed"][row])
        for key in (1, 2):
            same = Pool(f"car(obstacles=10, track={seed})", 1, key).states[0]
            assert np.array_equal(same["points"], states["points"][row])
            assert np.array_equal(same["stones"], states["stones"][row])


def test_other_seeds_give_other_tracks(rings):
    assert len(np.unique(rings[:, 10:100:20].reshape(20_000, -1), axis=0)) >= 19_998


def test_a_fixed_track_stays_and_a_random_one_changes_with_every_game():
    fixed, free = Pool("car(track=7)", 1, 1), Pool("car", 1, 1)
    before = [pool.states["points"].copy() for pool in (fixed, free)]
    fixed.reset()
    free.reset()
    assert np.array_equal(before[0], fixed.states["points"])
    assert not np.array_equal(before[1], free.states["points"])


def test_the_ring_never_crosses_itself(rings):
    first, second = np.triu_indices(100, 2)
    apart = (second - first) < 99
    first, second = first[apart], second[apart]
    for ring in np.split(rings[:2000], 20):
        a, b = ring[:, first], ring[:, (first + 1) % 100]
        c, d = ring[:, second], ring[:, (second + 1) % 100]
        crossing = (side(a, b, c) != side(a, b, d)) & (side(c, d, a) != side(c, d, b))
        assert not crossing.any()


def side(a, b, c):
    """The side of the line from a to b on which the point c is."""
    way, other = b - a, c - a
    return way[..., 0] * other[..., 1] > way[..., 1] * other[..., 0]


def test_the_road_never_overlaps_itself(rings):
    """Two places further apart along the ring than the half circle that joins the road's edges are 2 widths apart."""
    for ring in np.split(rings[:2000], 20):
        lengths = np.linalg.norm(np.roll(ring, -1, axis=1) - ring, axis=-1)
        place = np.cumsum(lengths, axis=1) - lengths
        along = np.abs(place[:, :, None] - place[:, None])
        along = np.minimum(along, lengths.sum(axis=1)[:, None, None] - along)
        apart = np.linalg.norm(ring[:, :, None] - ring[:, None], axis=-1)
        assert (apart[along >= np.pi * WIDTH] > 2 * WIDTH).all()


def test_bends_are_wider_than_the_road(rings):
    """The circle through three neighbouring points has a radius of 50 px at least; the road is 40 px to either side."""
    before, after = np.roll(rings, 1, axis=1), np.roll(rings, -1, axis=1)
    sides = [np.linalg.norm(p - q, axis=-1) for p, q in ((before, rings), (rings, after), (after, before))]
    one, two = rings - before, after - rings
    twice_area = np.abs(one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0])
    radius = sides[0] * sides[1] * sides[2] / np.maximum(2 * twice_area, 1e-9)
    assert radius.min() >= 50


def test_tracks_have_bends_in_both_directions(rings):
    """Most tracks bend both ways and differ from a circle; none is a plain ring."""
    way = np.roll(rings, -1, axis=1) - rings
    after = np.roll(way, -1, axis=1)
    turn = way[..., 0] * after[..., 1] - way[..., 1] * after[..., 0]
    radius = np.linalg.norm(rings - [400, 300], axis=-1)
    assert ((turn < 0).any(axis=1)).mean() > 0.95
    assert np.median(np.ptp(radius, axis=1)) > 45 and np.ptp(radius, axis=1).min() > 10


def test_the_whole_road_lies_in_the_frame(rings):
    assert (rings.min(axis=(0, 1)) >= WIDTH).all()
    assert (rings.max(axis=(0, 1)) <= np.array([800, 600]) - WIDTH).all()


def test_points_lie_all_around_between_138_and_258_pixels_from_the_centre(rings):
    offset = rings - [400, 300]
    radius = np.linalg.norm(offset, axis=-1)
    assert radius.min() > 138 and radius.max() < 258
    angles = np.arctan2(offset[..., 1], offset[..., 0]) % (2 * np.pi)
    turned = np.abs((angles - 2 * np.pi * np.arange(100) / 100 + np.pi) % (2 * np.pi) - np.pi)
    assert turned.max() < 1e-5


def test_no_seed_can_fold_the_road():
    """The two octaves at their steepest: radius and bend depend on at most five slopes, tried from -1 to 1."""
    (lattice, height), (finer, less) = car.WAVES
    assert finer == 2 * lattice
    t = np.linspace(0, 1, 201)[:-1]
    early = t < 0.5
    a, b, c, d, e = STEEPEST.T[..., None]
    coarse = blended(a, b, t)
    fine = blended(np.where(early, c, d), np.where(early, d, e), 2 * t % 1)
    cell = lattice / (2 * np.pi)
    r = car.RADIUS + 2 * height * coarse[0] + 2 * less * fine[0]
    r1 = 2 * height * cell * coarse[1] + 2 * less * 2 * cell * fine[1]
    r2 = 2 * height * cell**2 * coarse[2] + 2 * less * 4 * cell**2 * fine[2]
    bend = (r * r + 2 * r1 * r1 - r * r2) / (r * r + r1 * r1) ** 1.5
    assert r.min() > 138 and r.max() < 258
    assert 1 / np.abs(bend).max() > 45


def blended(left, right, t):
    """One-dimensional Perlin noise between two lattice points, with its first and second derivative."""
    s, s1, s2 = t**3 * (10 - 15 * t + 6 * t * t), 30 * (t - t * t) ** 2, 60 * (t - t * t) * (1 - 2 * t)
    p, q = left * t, right * (t - 1)
    return p + (q - p) * s, left + (right - left) * s + (q - p) * s1, 2 * (right - left) * s1 + (q - p) * s2


@pytest.mark.parametrize(("width", "count"), [(40, 5), (40, 10), (25, 10), (25, 1)])
def test_obstacles_stand_on_the_road_and_leave_room_to_pass(width, count):
    states = Pool(f"car(width={width}, obstacles={count})", 2000, 2).states
    stones, rings = states["stones"][:, :count].astype(float), states["points"].astype(float)
    gap = np.stack([to_ring(rings, stones[:, stone]) for stone in range(count)], axis=1)
    assert gap.max() <= width / 2 + 1e-3
    assert (width + gap - 10).min() >= 15
    assert (states["stones"][:, count:] == 0).all()


def test_obstacles_stand_apart_from_each_other_and_from_the_start(states):
    stones = states["stones"].astype(float)
    assert np.linalg.norm(stones - states["points"][:, :1], axis=-1).min() > 50
    apart = np.linalg.norm(stones[:, :, None] - stones[:, None], axis=-1)[:, ~np.eye(10, dtype=bool)]
    assert apart.min() > 20


def test_obstacles_stand_on_both_sides(states):
    stones, centre = states["stones"].astype(float), np.array([400, 300])
    rings = states["points"].astype(float)
    outward = np.linalg.norm(stones[:, 4] - centre, axis=-1)
    nearest = np.linalg.norm(rings - stones[:, 4:5], axis=-1).argmin(axis=1)
    ring = np.linalg.norm(rings[np.arange(len(rings)), nearest] - centre, axis=-1)
    assert 0.4 < (outward > ring).mean() < 0.6


def to_ring(rings, points):
    """[N] the distance of a point from the ring."""
    way = np.roll(rings, -1, axis=1) - rings
    offset = points[:, None] - rings
    share = np.clip((offset * way).sum(-1) / (way * way).sum(-1), 0, 1)
    return np.linalg.norm(offset - share[..., None] * way, axis=-1).min(axis=1)
