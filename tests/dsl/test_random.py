"""Random numbers from the state: in range, repeatable, uniform, and unrelated between neighbouring seeds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ludus.dsl import i64, random, record, rule
from ludus.dsl.rows import new_rows

STATE = record(key=np.uint64, items=(i64, 52))
seeds = st.integers(0, 2**64 - 1)


@rule
def many_below(states, count, out):
    for index in range(len(out)):
        out[index] = random.below(states[0], count)


@rule
def many_uniform(states, low, high, out):
    for index in range(len(out)):
        out[index] = random.uniform(states[0], low, high)


@rule
def many_normal(states, out):
    for index in range(len(out)):
        out[index] = random.normal(states[0])


@rule
def shuffle(states, count):
    random.shuffle(states[0], states[0].items, count)


def state(key: int):
    rows = new_rows(1, STATE)
    rows["key"] = np.uint64(key)
    return rows


def drawn(fill, key: int, size: int, *arguments):
    out = np.zeros(size)
    fill(state(key), *arguments, out)
    return out


@given(seeds, st.integers(1, 2**31 - 1))
def test_below_stays_below(key, count):
    values = drawn(many_below, key, 20, count)
    assert values.min() >= 0 and values.max() < count


@given(seeds, st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_uniform_stays_in_its_range(key, low, width):
    values = drawn(many_uniform, key, 20, low, low + width)
    assert values.min() >= low and values.max() <= low + width


@given(seeds)
def test_normal_is_finite(key):
    assert np.isfinite(drawn(many_normal, key, 20)).all()


@given(seeds)
def test_the_same_key_draws_the_same(key):
    assert drawn(many_below, key, 20, 1000).tolist() == drawn(many_below, key, 20, 1000).tolist()


@given(seeds)
def test_the_key_moves_on_with_every_draw(key):
    rows = state(key)
    many_below(rows, 6, np.zeros(3))
    assert int(rows["key"][0]) == (key + 3 * int(random.GOLDEN)) % 2**64


@given(seeds, st.integers(0, 52))
def test_shuffle_is_a_permutation_of_the_first_items(key, count):
    rows = state(key)
    rows["items"] = np.arange(52)
    shuffle(rows, count)
    assert sorted(rows["items"][0, :count]) == list(range(count))
    assert rows["items"][0, count:].tolist() == list(range(count, 52))


def chi_square(counts) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2).sum() / expected)


def test_dice_are_uniform():
    counts = np.bincount(drawn(many_below, 1, 120_000, 12).astype(int), minlength=12)
    assert chi_square(counts) < 31.3  # one in a thousand at 11 degrees of freedom


def test_pairs_of_dice_are_uniform():
    values = drawn(many_below, 2, 144_000, 12).astype(int).reshape(-1, 2)
    assert chi_square(np.bincount(values @ [12, 1], minlength=144)) < 202  # one in a thousand at 143


def test_shuffles_are_uniform():
    counts = {}
    rows = state(3)
    for _ in range(12_000):
        rows["items"] = np.arange(52)
        shuffle(rows, 4)
        order = tuple(rows["items"][0, :4].tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert chi_square(np.array(list(counts.values()))) < 49.7  # one in a thousand at 23


def test_uniform_and_normal_have_their_moments():
    uniform, normal = drawn(many_uniform, 4, 100_000, 0.0, 1.0), drawn(many_normal, 5, 100_000)
    assert abs(uniform.mean() - 1 / 2) < 0.005 and abs(uniform.var() - 1 / 12) < 0.002
    assert abs(normal.mean()) < 0.015 and abs(normal.var() - 1) < 0.02
    assert abs((normal**4).mean() - 3) < 0.15


@given(st.integers(-(2**70), 2**70))
def test_keys_of_neighbouring_seeds_share_nothing(seed):
    keys = np.concatenate([random.keys(seed + step, 500) for step in range(4)])
    assert len(np.unique(keys)) == 2000


@given(seeds)
def test_streams_of_neighbouring_keys_share_nothing(seed):
    """A key advances by GOLDEN; the streams of the keys of one seed must not overlap."""
    draws = [drawn(many_below, int(key), 50, 2**31 - 1) for key in random.keys(seed, 8)]
    assert len(np.unique(draws)) == 400


def test_neighbouring_keys_differ_in_half_their_bits():
    keys = random.keys(6, 4000)
    differing = np.unpackbits((keys[1:] ^ keys[:-1]).view(np.uint8)).reshape(-1, 64)
    assert np.abs(differing.mean(axis=0) - 0.5).max() < 0.04


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=5))
def test_seeded_gives_each_row_the_key_of_its_seed(numbers):
    assert random.seeded(numbers).tolist() == [random.keys(number, 1)[0] for number in numbers]


@given(st.lists(seeds, min_size=1, max_size=5))
def test_row_i_of_many_uniforms_comes_from_key_i_alone(keys):
    drawn = random.uniforms(np.array(keys, np.uint64), 7)
    for key, row in zip(keys, drawn, strict=True):
        assert np.array_equal(random.uniforms(np.array([key], np.uint64), 7)[0], row)


def test_uniforms_have_their_moments():
    drawn = random.uniforms(random.keys(0, 3000), 20)
    assert (drawn >= 0).all()
    assert (drawn < 1).all()
    assert np.abs(drawn.mean(axis=0) - 1 / 2).max() < 0.03
    assert np.abs(drawn.var(axis=0) - 1 / 12).max() < 0.01
    assert np.abs(np.corrcoef(drawn.T) - np.eye(20)).max() < 0.1


def test_only_the_chosen_streams_of_keys_move_on():
    streams = random.keys(0, 3)
    first = random.next_keys(streams, np.array([True, True, True]))
    second = random.next_keys(streams, np.array([True, False, True]))
    assert (first == second).tolist() == [False, True, False]
    assert len({*first.tolist(), *second.tolist()}) == 5


@given(seeds, st.integers(0, 1000))
def test_combine_is_the_key_of_that_stream(seed, index):
    assert random.combine(np.uint64(seed), np.uint64(index)) == random.keys(seed, index + 1)[index]
