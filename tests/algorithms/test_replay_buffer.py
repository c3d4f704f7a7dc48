"""The ring of experience: it holds the newest in order, never draws one twice, draws all alike, resumes to the bit."""

import collections
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.algorithms.replay_buffer import ExperienceBuffer, MemoryEfficientSampler, hash_table_size, shuffled_head
from ludus.dsl import f32, f64, i8, i64, record, u8, u64, within
from ludus.types import LudusError

NUMBER = record(number=i64)
TRANSITION = record(board=(i8, 9), grid=(f32, (2, 3)), key=u64, done=np.bool_, speed=within(0, 1, f64), seat=u8)


def filled(capacity, count, dtype=NUMBER):
    buffer = ExperienceBuffer(capacity, dtype)
    buffer.extend({"number": np.arange(count)})
    return buffer


def transitions(count, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "board": rng.integers(-1, 2, (count, 9)),
        "grid": rng.normal(size=(count, 2, 3)).astype(np.float32),
        "key": rng.integers(0, 2**64, count, np.uint64),
        "done": rng.random(count) < 0.5,
        "speed": rng.random(count),
        "seat": rng.integers(0, 2, count),
    }


@given(st.integers(1, 12), st.lists(st.one_of(st.none(), st.integers(0, 40)), max_size=12))
def test_the_newest_stay_in_order(capacity, pushes):
    buffer, kept, clock = ExperienceBuffer(capacity, NUMBER), collections.deque(maxlen=capacity), itertools.count()
    for many in pushes:
        numbers = [next(clock) for _ in range(1 if many is None else many)]
        if many is None:
            buffer.push(number=numbers[0])
        else:
            buffer.extend({"number": np.array(numbers, np.int64)})
        kept.extend(numbers)
        assert len(buffer) == len(kept)
        assert buffer.contents()["number"].tolist() == list(kept)


@given(st.integers(1, 30), st.integers(0, 80), st.data())
def test_samples_never_repeat_and_are_held(capacity, pushed, data):
    buffer = filled(capacity, pushed)
    count = data.draw(st.integers(0, len(buffer)))
    drawn = buffer.sample(count, np.random.default_rng(data.draw(st.integers(0, 99))))["number"]
    assert len(drawn) == len(set(drawn.tolist())) == count
    assert set(drawn.tolist()) <= set(range(max(0, pushed - capacity), pushed))


@given(st.integers(1, 60), st.integers(0, 99), st.data())
def test_the_compiled_shuffle_is_fisher_and_yates(size, seed, data):
    count = data.draw(st.integers(0, size))
    uniform, head = np.random.default_rng(seed).random(count), np.empty(count, np.int64)
    items = list(range(size))
    for place, number in enumerate(uniform.tolist()):
        other = place + int(number * (size - place))
        items[place], items[other] = items[other], items[place]
    table = np.empty((2, hash_table_size(count)), np.int64)
    shuffled_head(uniform, size, head, *table)
    assert head.tolist() == items[:count] and table.shape[1] >= 4 * count


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("pushed", [3, 5, 8])
def test_all_batches_of_a_sampler_are_equally_likely(pushed, replace):
    """Ordered pairs of the three or five experiences that are held: with replacement n², without n (n - 1)."""
    sampler, rng, draws = MemoryEfficientSampler(filled(5, pushed), 2, replace), np.random.default_rng(7), 12_000
    seen = collections.Counter(tuple(sampler.sample(rng)["number"].tolist()) for _ in range(draws))
    held = range(max(0, pushed - 5), pushed)
    assert set(seen) == set(itertools.product(held, held) if replace else itertools.permutations(held, 2))
    expected, degrees = draws / len(seen), len(seen) - 1
    # About once in a thousand chi-squared exceeds its mean by 3.5 standard deviations and a little more.
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < degrees + 3.5 * (2 * degrees) ** 0.5 + 4


@pytest.mark.parametrize("replace", [False, True])
def test_a_sampler_allocates_nothing_per_batch(replace):
    """A batch has 600 kB; what Python needs for the call itself is a few hundred bytes."""
    buffer, rng = ExperienceBuffer(20_000, TRANSITION), np.random.default_rng(0)
    buffer.extend(transitions(30_000))
    sampler = MemoryEfficientSampler(buffer, 10_000, replace)
    before = sampler.sample(rng).copy()
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(5):
            batch = sampler.sample(rng)
        used = tracemalloc.get_traced_memory()[1] - start
        tracemalloc.reset_peak()
        buffer.sample(10_000, rng)
        copied = tracemalloc.get_traced_memory()[1] - start
    finally:
        tracemalloc.stop()
    assert used < 4_000 and copied > before.nbytes > 500_000
    assert batch is sampler.batch and (batch["key"] != before["key"]).any()


def test_a_sampler_follows_its_buffer():
    buffer, rng = ExperienceBuffer(4, NUMBER), np.random.default_rng(0)
    sampler, drawing = MemoryEfficientSampler(buffer, 3), MemoryEfficientSampler(buffer, 3, replace=True)
    with pytest.raises(LudusError, match="cannot sample 3 experiences from 0; push more first"):
        drawing.sample(rng)
    buffer.push(number=7)
    assert drawing.sample(rng)["number"].tolist() == [7, 7, 7]
    with pytest.raises(LudusError, match="cannot sample 3 experiences from 1; push more first"):
        sampler.sample(rng)
    buffer.extend({"number": np.arange(3)})
    assert set(sampler.sample(rng)["number"].tolist()) < {7, 0, 1, 2}
    buffer.extend({"number": np.arange(10, 14)})
    assert set(sampler.sample(rng)["number"].tolist()) < {10, 11, 12, 13}
    with pytest.raises(LudusError, match="size of a batch must be 0 or more, not -1"):
        MemoryEfficientSampler(buffer, -1)


def test_a_sampler_gathers_whole_records():
    buffer, columns = ExperienceBuffer(50, TRANSITION), transitions(50)
    buffer.extend(columns)
    batch = MemoryEfficientSampler(buffer, 20).sample(np.random.default_rng(1))
    places = [columns["key"].tolist().index(key) for key in batch["key"].tolist()]
    assert len(set(places)) == 20 and all((batch[name] == columns[name][places]).all() for name in columns)


@pytest.mark.parametrize("pushed", [5, 8, 11])
def test_all_ordered_samples_are_equally_likely(pushed):
    buffer, rng, draws = filled(5, pushed), np.random.default_rng(3), 12_000
    seen = collections.Counter(tuple(buffer.sample(3, rng)["number"].tolist()) for _ in range(draws))
    expected = draws / 60
    assert len(seen) == 60
    # Chi-squared with 59 degrees of freedom exceeds 98.3 once in a thousand.
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 98.3


def test_a_small_sample_of_many_is_even():
    buffer, rng = filled(1 << 20, 1 << 20), np.random.default_rng(4)
    numbers = np.concatenate([buffer.sample(1000, rng)["number"] for _ in range(20)])
    quarters = np.bincount(numbers >> 18, minlength=4)
    assert np.abs(quarters - 5000).max() < 250


def test_capacity_one_holds_the_last():
    buffer, rng = ExperienceBuffer(1, NUMBER), np.random.default_rng(0)
    for number in range(3):
        buffer.push(number=number)
        assert buffer.sample(1, rng)["number"].tolist() == [number]
    buffer.extend({"number": np.arange(100)})
    assert buffer.contents()["number"].tolist() == [99] and buffer.pushed == 103


def test_a_huge_extend_keeps_the_newest():
    buffer = filled(7, 3)
    buffer.extend({"number": np.arange(1_000_003)})
    assert buffer.contents()["number"].tolist() == list(range(999_996, 1_000_003))
    buffer.push(number=-1)
    assert buffer.contents()["number"].tolist() == [*range(999_997, 1_000_003), -1]


def test_all_kinds_of_fields_come_back():
    buffer, columns = ExperienceBuffer(10, TRANSITION), transitions(10)
    buffer.extend({name: column[:4] for name, column in columns.items()})
    for index in range(4, 10):
        buffer.push(**{name: column[index] for name, column in columns.items()})
    contents = buffer.contents()
    for name, column in columns.items():
        np.testing.assert_array_equal(contents[name], column)
    sample = buffer.sample(6, np.random.default_rng(0))
    assert sample.dtype == buffer.dtype and sample["grid"].shape == (6, 2, 3)
    places = [contents["key"].tolist().index(key) for key in sample["key"].tolist()]
    assert all((sample[name] == contents[name][places]).all() for name in columns)


def test_records_of_another_layout_are_matched_by_name():
    buffer = ExperienceBuffer(4, record(action=i8, reward=f32))
    buffer.extend(np.array([(0.5, 3), (1.5, 4)], [("reward", "f8"), ("action", "i8")]))
    assert buffer.contents().tolist() == [(3, 0.5), (4, 1.5)]


def test_one_record_or_a_table_of_them_will_do():
    buffer = filled(9, 2)
    buffer.extend(buffer.contents()[1])
    buffer.extend(np.arange(10, 16).reshape(2, 3).astype(NUMBER)[:, ::2])
    assert buffer.contents()["number"].tolist() == [0, 1, 1, 10, 12, 13, 15]


def test_records_in_records_are_kept():
    buffer = ExperienceBuffer(3, record(before=record(x=i64, y=f32), action=i8))
    buffer.extend(np.array([((index, index / 2), index) for index in range(5)], buffer.dtype))
    resumed = ExperienceBuffer.from_state(buffer.state(), buffer.dtype)
    assert resumed.contents().tolist() == [((2, 1.0), 2), ((3, 1.5), 3), ((4, 2.0), 4)]


def test_what_is_given_out_is_a_copy():
    buffer = filled(4, 4)
    for copy in (buffer.contents(), buffer.sample(4, np.random.default_rng(0)), buffer.state()["rows"]):
        copy[...] = 0
    assert buffer.contents()["number"].tolist() == [0, 1, 2, 3]
    given_in = buffer.contents()
    buffer.extend(given_in)
    given_in["number"] = 7
    assert buffer.contents()["number"].tolist() == [0, 1, 2, 3]


@given(st.integers(1, 9), st.integers(0, 30), st.integers(0, 12))
def test_a_resumed_buffer_goes_on_to_the_bit(capacity, before, after):
    buffer = ExperienceBuffer(capacity, TRANSITION)
    buffer.extend(transitions(before))
    resumed = ExperienceBuffer.from_state(buffer.state(), TRANSITION)
    for one in (buffer, resumed):
        one.extend(transitions(after, seed=1))
    assert resumed.pushed == buffer.pushed and len(resumed) == len(buffer)
    assert resumed.state()["rows"].tobytes() == buffer.state()["rows"].tobytes()
    one, other = (each.sample(5, np.random.default_rng(2), allow_fewer=True) for each in (buffer, resumed))
    assert all((one[name] == other[name]).all() for name in TRANSITION.names)


def test_state_goes_through_safetensors():
    safetensors = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
    for buffer in (filled(4, 6), filled(4, 0)):
        resumed = ExperienceBuffer.from_state(safetensors.load(safetensors.save(buffer.state())), NUMBER)
        assert resumed.contents().tobytes() == buffer.contents().tobytes()
        assert (resumed.capacity, resumed.pushed) == (4, buffer.pushed)


def test_the_same_seed_draws_the_same():
    buffer = filled(100, 250)
    one, other = (buffer.sample(20, np.random.default_rng(5))["number"].tolist() for _ in range(2))
    assert one == other


def test_fewer_where_fewer_are_allowed():
    buffer, rng = filled(8, 3), np.random.default_rng(0)
    assert sorted(buffer.sample(5, rng, allow_fewer=True)["number"].tolist()) == [0, 1, 2]
    assert len(filled(8, 0).sample(5, rng, allow_fewer=True)) == 0
    assert len(filled(8, 0).sample(0, rng)) == 0


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda buffer: buffer.sample(4, np.random.default_rng(0)), "cannot draw 4 different experiences from 3; push"),
        (lambda buffer: buffer.sample(-1, np.random.default_rng(0)), "cannot draw -1"),
        (lambda buffer: buffer.push(numbr=1), "have the fields numbr; expected exactly the fields number"),
        (lambda buffer: buffer.push(), "have no named fields; expected exactly"),
        (lambda buffer: buffer.extend(np.arange(3)), "have no named fields"),
        (lambda buffer: buffer.push(number=[1, 2]), r'field "number" needs an array of shape \(1,\)'),
        (lambda buffer: buffer.extend({"number": 5}), r"one row per record, not \(\)"),
        (lambda buffer: buffer.push(number=0.5), r'"number" \(int64\) cannot hold 0.5'),
        (lambda buffer: buffer.push(number=np.nan), "cannot hold nan"),
        (lambda buffer: ExperienceBuffer(3, record(x=i8)).push(x=300), r"\(int8\) cannot hold 300"),
        (lambda buffer: ExperienceBuffer(3, record(x=i8, y=i8)).extend({"x": [1, 2], "y": [1]}), r"shape \(2,\)"),
        (lambda buffer: ExperienceBuffer(0, NUMBER), "must be 1 or more, not 0"),
        (lambda buffer: ExperienceBuffer(3, np.dtype(np.float64)), "a record of numbers"),
        (lambda buffer: ExperienceBuffer(3, np.dtype([("x", object)])), "a record of numbers"),
        (lambda buffer: ExperienceBuffer(3, record()), "a record of numbers"),
        (lambda buffer: ExperienceBuffer.from_state({}, NUMBER), "not saved experiences"),
        (
            lambda buffer: ExperienceBuffer.from_state(buffer.state(), record(number=f64)),
            "saved experiences are records",
        ),
    ],
)
def test_mistakes_get_sentences_and_change_nothing(mistake, sentence):
    buffer = filled(3, 3)
    with pytest.raises(LudusError, match=sentence):
        mistake(buffer)
    assert buffer.contents()["number"].tolist() == [0, 1, 2] and buffer.pushed == 3
